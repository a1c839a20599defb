"""What a continuation has in common with the end that was hidden."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from compass.evaluation.memorised import overlap, probe_model, split_problem
from compass.records import RECORD
from compass.sampling import engines, resume
from compass.sampling.model_source import SamplingError
from compass.sampling.response import FAILED, Response, Wanted
from compass.settings import Sampling

PROBLEM = "Find the number of ways to place 4 rooks on a board so that no two of them attack each other and one of them stands in a corner."


@pytest.mark.parametrize("shown", [80, 60, 40])
def test_a_problem_is_split_between_words_and_nothing_is_lost(shown: int) -> None:
    beginning, end = split_problem(PROBLEM, shown)
    assert f"{beginning} {end}" == PROBLEM
    assert shown / 100 - 0.01 < len(beginning) / len(PROBLEM) < shown / 100 + 0.1


@pytest.mark.parametrize("problem", ["What is 3 plus 4?", "", "abcdefghij" * 9, "Find x. " + "y" * 90])
def test_an_end_that_could_be_guessed_is_not_asked_for(problem: str) -> None:
    assert split_problem(problem, 60)[1] == ""


@pytest.mark.parametrize(
    ("continuation", "completed", "rouge"),
    [
        ("a b c d", True, 1.0),
        (" a b\n c  d and more", True, 1.0),
        ("a b c", False, 0.75),
        ("a x c d", False, 0.75),
        ("x a b c d", False, 0.75),
        ("d c b a", False, 0.25),
        ("", False, 0.0),
    ],
)
def test_the_first_words_are_compared_in_their_order(continuation: str, completed: bool, rouge: float) -> None:
    assert overlap("a b c d", continuation) == (completed, rouge)


class HalfAnEngine:
    """Goes on with every second problem by heart, and fails on the others."""

    def __init__(self, *_: object) -> None: ...

    def __enter__(self) -> "HalfAnEngine":
        return self

    def __exit__(self, *_: object) -> None: ...

    def sample(self, wanted: Sequence[Wanted], *, seed: int) -> Iterator[Response]:
        for number, one in enumerate(wanted):
            yield Response(one, 0, FAILED, "") if number % 2 else Response(one, 9, "stop", PROBLEM[len(one.problem) :])


def test_requests_that_failed_are_not_taken_for_problems_that_are_not_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (engines, resume):
        monkeypatch.setattr(module, "setup_facts", lambda *_, **__: {"model": "m"})
    rows = [dict.fromkeys(RECORD.names) | {"id": f"p{n}", "source": "mine", "problem": PROBLEM} for n in range(4)]
    items = {"mine": pa.Table.from_pylist([row | {"answer": "5"} for row in rows], schema=RECORD)}
    with pytest.raises(SamplingError, match=r"m, 60% of each problem shown: no response to 2 problems \(p1, p3\)"):
        probe_model("m", None, items, Sampling(), shares=(60,), seed=0, folder=tmp_path, open_engine=HalfAnEngine)
