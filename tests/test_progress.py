from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from compass.progress import Step, report, report_phase, reported, send_reports
from compass.settings import Dedup, Denoise, Verify


def test_reports_are_sent_inside_the_block_alone() -> None:
    steps: list[Step] = []
    report(1, 2, "rows", "reading")
    with send_reports(steps.append):
        report(3, 4, "rows", "reading", detail="fast")
        report_phase("writing")
    report(5, 6)
    assert steps == [Step(3, 4, "rows", "reading", "fast"), Step(phase="writing")]


def test_items_are_counted_when_the_next_one_is_asked_for() -> None:
    steps: list[Step] = []
    with send_reports(steps.append):
        assert list(reported("ab", total=2, unit="letters", phase="spelling")) == ["a", "b"]
    assert [step.done for step in steps] == [0, 1, 2]
    assert list(reported("ab", total=2, unit="letters", phase="spelling")) == ["a", "b"]
    assert len(steps) == 3


@pytest.fixture
def rows(records: Callable[..., pa.Table]) -> pa.Table:
    """Two copies of one problem, and two other problems."""
    texts = (
        "What is the sum of 2 and 3?",
        "What is the sum of 2 and 3?",
        "How many legs have 4 dogs?",
        "What is half of 8?",
    )
    return records(*((text, answer, "web") for text, answer in zip(texts, ("5", "5", "16", "4"), strict=True)))


def collect_steps(work: Callable[[], object]) -> list[Step]:
    steps: list[Step] = []
    with send_reports(steps.append):
        work()
    return steps


def test_the_data_stages_tell_their_rows(rows: pa.Table, tmp_path: Path) -> None:
    from compass.curation.dedup import dedup
    from compass.curation.denoise import denoise
    from compass.curation.verify_golds import verify_golds

    steps = collect_steps(lambda: dedup(rows, Dedup(), ["web"]))
    assert Step(4, 4, "rows", "comparing words") in steps
    assert steps[-1] == Step(1, 1, "clusters", "choosing survivors")
    assert collect_steps(lambda: denoise(rows, rows.slice(3), Denoise()))[-1] == Step(
        4, 4, "rows", "filtering", "1 dropped"
    )
    answers = {id_: [("5", True)] for id_ in rows["id"].to_pylist()}
    steps = collect_steps(lambda: verify_golds(rows, Verify(), answers))
    assert steps == [Step(4, 4, "rows", "reading golds", "0 dropped")]


def test_collect_tells_the_rows_of_each_source(tmp_path: Path) -> None:
    from compass.settings import Collect, Source
    from compass.sources.collect import collect

    (tmp_path / "mine.csv").write_text("problem,answer\nWhat is 1+1?,2\nWhat is 2+2?,4\n")
    source = Source(
        name="mine", path=str(tmp_path / "mine.csv"), licence="MIT", problem_field="problem", answer_field="answer"
    )
    steps = collect_steps(lambda: collect([source], Collect(sources=[source], benchmarks=[])))
    assert steps[-1] == Step(2, None, "rows", "reading mine")


def test_scoring_tells_its_distinct_answers(rows: pa.Table) -> None:
    from compass.sampling.score import score_responses

    responses = pa.table({"id": rows["id"], "response": ["\\boxed{5}", "\\boxed{5}", "\\boxed{6}", "\\boxed{4}"]})
    golds = dict(zip(rows["id"].to_pylist(), rows["answer"].to_pylist(), strict=True))
    steps = collect_steps(lambda: score_responses(responses, golds))
    assert steps == [Step(3, 3, "answers", "scoring"), Step(3, 3, "answers", "scoring leniently")]
