"""The list of stages and the views of those that train nothing."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from compass.errors import UserError
from compass.live.sampled import Sampled, Scorer
from compass.live.view import Reader
from compass.page.blocks import as_json
from compass.processes import process_key
from compass.progress import report
from compass.prompts.registry import find_prompt
from compass.runs import progress
from compass.runs.progress import stage_progress
from compass.sampling.model_source import Model, model_digest
from compass.sampling.response import Response, Wanted
from compass.sampling.store import Store
from compass.services.state import Service, write_services
from tests.live.conftest import SETTINGS

CUT = "So it is $2 +"


def listed(root: Path) -> dict[str, str]:
    return {stage["name"]: stage["state"] for stage in Reader(root).state()["stages"]}


def kinds(state: dict[str, Any]) -> dict[str, Any]:
    return {block.kind: as_json(block) for block in state["blocks"]}


def test_before_the_first_run_it_says_what_to_do(repository: Path) -> None:
    state = Reader(repository).state()
    assert (state["profile"], state["selected"], state["newest"]) == ("tiny", None, None)
    assert set(listed(repository).values()) == {"waiting"}
    assert kinds(state)["note"]["command"] == "compass run"


def test_parameters_that_cannot_be_read_are_told_and_the_page_stays(repository: Path) -> None:
    (repository / "params.yaml").write_text("profile: [")
    state = Reader(repository).state()
    assert "params.yaml: not readable as YAML" in kinds(state)["warning"]["text"]
    assert "collect" in listed(repository)


def test_the_stage_that_runs_is_shown_and_an_earlier_one_on_demand(
    repository: Path, summary: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "EVERY_S", 0.01)
    monkeypatch.setenv("COMPASS_PIPELINE_RUN", "run-2")
    with stage_progress("collect", repository):
        pass
    summary(repository, "collect", kept=3, dropped={"missing_answer": 1, "too_large": 2}, warnings=["x"], repaired=2)
    with stage_progress("dedup", repository):
        report(2, 3, "rows", "comparing words")
        reader = Reader(repository)
        while not (found := reader.state())["stages"][1]["done"]:
            pass
        assert (found["selected"], found["stages"][1]["state"]) == ("dedup", "running")
        assert found["stages"][1]["phase"] == "comparing words"
        earlier = reader.state("collect")
    assert [item["value"] for item in kinds(earlier)["figures"]["items"]] == ["6", "3", "3"]
    assert kinds(earlier)["bars"]["items"] == [["missing answer", 1, "1"], ["too large", 2, "2"]]
    assert kinds(earlier)["table"]["rows"] == [["repaired", "2"]]
    assert all(stage["this_run"] for stage in found["stages"][:2])
    assert Reader(repository).state("nonsense")["selected"] == "dedup"


def test_stages_of_an_earlier_run_are_told_apart(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for run, stage in (("run-1", "collect"), ("run-2", "dedup")):
        monkeypatch.setenv("COMPASS_PIPELINE_RUN", run)
        with stage_progress(stage, repository):
            pass
    assert [stage["this_run"] for stage in Reader(repository).state()["stages"][:2]] == [False, True]


@pytest.mark.parametrize("place", ["tmpx1", "standalone/tmpx1"])
def test_an_experiment_in_a_copy_of_the_repository_is_shown_while_it_runs(repository: Path, place: str) -> None:
    copy = repository / ".dvc/tmp/exps" / place
    copy.mkdir(parents=True)
    (copy / "params.yaml").write_text((repository / "params.yaml").read_text())
    reader = Reader(repository)
    with stage_progress("dedup", copy):
        state = reader.newest().state()
        assert (state["selected"], state["stages"][1]["state"]) == ("dedup", "running")
        assert f"experiment in .dvc/tmp/exps/{place}" in state["folder"]
        with stage_progress("collect", repository):
            assert reader.newest().state()["selected"] == "collect"
    assert reader.newest().state()["selected"] == "collect"


def test_a_stage_that_failed_says_why_and_what_to_do(repository: Path) -> None:
    with pytest.raises(UserError), stage_progress("denoise", repository):
        raise UserError("data/dedup/kept.parquet: no such file")
    state = Reader(repository).state()
    assert listed(repository)["denoise"] == "failed"
    assert kinds(state)["warning"]["text"] == "denoise failed: data/dedup/kept.parquet: no such file"
    assert any(getattr(block, "command", "") == "compass run denoise" for block in state["blocks"])


def test_a_failure_of_an_earlier_run_is_not_shown_where_the_cache_has_the_result(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPASS_PIPELINE_RUN", "run-1")
    with pytest.raises(UserError), stage_progress("denoise", repository):
        raise UserError("data/dedup/kept.parquet: no such file")
    result = repository / "metrics/denoise.json"
    result.parent.mkdir()
    result.write_text("{}")
    assert listed(repository)["denoise"] == "failed"  # in this run
    monkeypatch.setenv("COMPASS_PIPELINE_RUN", "run-2")
    with stage_progress("grade", repository):
        assert listed(repository)["denoise"] == "finished"
    result.unlink()
    assert listed(repository)["denoise"] == "failed"


def test_a_trainer_that_failed_shows_the_cause_in_its_log(repository: Path, trainer: Any) -> None:
    def train() -> None:
        log = "(Worker pid=7) Traceback (most recent call last):\n(Worker pid=7)   File x\n(Worker pid=7) ValueError: no\n"
        (trainer.paths.work / "train.log").write_text(f"hello\n{log}goodbye\n")
        raise UserError("rl-1: stopped at iteration 0 of 20")

    with pytest.raises(UserError), stage_progress("rl-1", repository):
        train()
    details = kinds(Reader(repository).state())["warning"]["details"]
    assert "train.log" in details.splitlines()[0]
    assert "ValueError: no" in details


def test_links_lead_to_the_run_the_services_and_the_report(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pid, created = process_key().split(":")
    services = [
        Service(name, int(pid), float(created), url, "log")
        for name, url in (("mlflow", "http://127.0.0.1:5000"), ("prefect", "javascript:alert(1)"), ("live", "http://x"))
    ]
    write_services(services, repository)
    monkeypatch.setenv("COMPASS_PREFECT_URL", "http://127.0.0.1:4200/runs/flow-run/1")
    with stage_progress("collect", repository):
        pass
    (repository / "reports").mkdir()
    (repository / "reports/index.html").write_text("<p>report</p>")
    links = {link["text"]: link["url"] for link in Reader(repository).state()["links"]}
    assert links == {
        "Prefect run": "http://127.0.0.1:4200/runs/flow-run/1",
        "MLflow": "http://127.0.0.1:5000",
        "Report": "/reports/index.html",
    }


def sample(folder: Path, problems: pa.Table, texts: list[str], facts: dict[str, Any] | None = None) -> None:
    rows = problems.to_pylist()
    responses = [
        Response(Wanted(row["id"], row["problem"], 0, False), 10, "length" if text == CUT else "stop", text)
        for row, text in zip(rows, texts, strict=False)
    ]
    begun = Response(Wanted(rows[0]["id"], rows[0]["problem"], 1, False), 4, "unfinished", "", (1, 2, 3, 4))
    with Store(folder, facts or {"seed": 0}) as store:
        store.add([(one, 0.5) for one in (*responses, begun)])


def test_grade_tells_what_is_right_so_far(repository: Path, problems: pa.Table) -> None:
    with stage_progress("grade", repository):
        assert "engine is starting" in kinds(Reader(repository).state())["note"]["text"]
        sample(repository / "work/grade", problems, ["So \\boxed{1}", "\\boxed{9}", CUT, "\\boxed{4}"])
        state = kinds(Reader(repository).state())
    figures = {item["name"]: (item["value"], item["note"]) for item in state["figures"]["items"]}
    assert figures["right so far"] == ("50.0%", "of 4 responses scored here")
    assert figures["cut off"][0] == "25.0%"
    assert figures["throughput"][0] == "20"
    newest = {problem["problem"]: problem for problem in state["responses"]["problems"]}
    first = newest["What is 0+1?"]
    assert (first["gold"], first["responses"][0]["right"], first["responses"][0]["answer"]) == ("1", True, "1")
    cut = newest["What is 2+1?"]["responses"][0]
    assert (cut["right"], cut["answer"]) == (False, None)
    assert "cut off" in cut["facts"]


def test_samples_of_an_earlier_run_with_other_settings_are_not_shown(repository: Path, problems: pa.Table) -> None:
    sample(repository / "work/grade", problems, ["\\boxed{1}"])
    for path in (repository / "work/grade").rglob("*"):
        os.utime(path, (1, 1))
    with stage_progress("grade", repository):
        assert "note" in kinds(Reader(repository).state())


def test_evaluate_names_each_store_by_the_model_that_it_is_of(repository: Path, problems: pa.Table) -> None:
    (repository / "data/collect").mkdir(parents=True)
    (repository / "data/denoise/kept.parquet").rename(repository / "data/collect/benchmarks.parquet")
    work, sampling = repository / "work/evaluate", SETTINGS.evaluate.sampling.model_dump()
    prompt = find_prompt(sampling).facts()
    work.mkdir(parents=True)
    for model in ("base", "rl-1", "rl-2"):
        (repository / "models" / model).mkdir(parents=True)
        (repository / "models" / model / "model.safetensors").write_text(model)

    def name(model: str) -> dict[str, str]:
        return {"digest": model_digest(Model(str(repository / "models" / model)), work / "digests.json")}

    setups = [
        {"model": name("rl-1"), "prompt": prompt},
        {"model": name("base"), "prompt": prompt},  # opened again, for more samples
        {"model": name("rl-1"), "prompt": find_prompt({**sampling, "prompt": "qwen-math"}).facts()},
        {"model": {"digest": "of a model that is gone"}, "prompt": prompt},
    ]
    with stage_progress("evaluate", repository):
        begun = time.time()
        for number, facts in enumerate(setups):
            known = set(work.glob("*/lock"))
            sample(work, problems, ["\\boxed{1}", "\\boxed{2}"][: number + 1], facts)
            [lock] = set(work.glob("*/lock")) - known
            os.utime(lock, (begun + number, begun + number))  # else both may be of one tick of the clock of files
        table = kinds(Reader(repository).state())["table"]
    assert table["rows"][:2] == [["rl-1", 1, 1, 1, 10, 0], ["base", 2, 2, 2, 20, 0]]
    assert [row[0] for row in table["rows"][2:]] == ["rl-1, prompt qwen-math", f"setup {lock.parent.name[:8]}"]
    assert str(repository / "models/rl-2") not in (work / "digests.json").read_text(), "the page reads no weights"


def test_the_newest_responses_are_scored_first(repository: Path, problems: pa.Table) -> None:
    id_ = problems["id"][0].as_py()
    rows = [{"key": str(n), "id": id_, "sample": n, "greedy": False, "response": "\\boxed{1}"} for n in range(40)]
    scorer, store = Scorer(repository), Sampled(repository / "work/grade/x", 0.0, newest=rows)
    assert scorer.count_right(store, "grade")[0] == 20
    assert {key for key, *_ in scorer._judged[store.folder]} == {str(n) for n in range(20, 40)}


def test_a_store_that_is_not_whole_is_passed_over(repository: Path, problems: pa.Table) -> None:
    with stage_progress("grade", repository):
        sample(repository / "work/grade", problems, ["\\boxed{1}"])
        (folder,) = [path.parent for path in (repository / "work/grade").glob("*/lock")]
        (folder / "part-00001.parquet").write_text("PAR1 cut off")
        state = kinds(Reader(repository).state())
    assert state["figures"]["items"][0]["value"] == "100.0%"


@pytest.mark.parametrize("text", ["", "[]", '{"read": "x", "kept": {}}', '{"metrics": 3}', '{"models": []}'])
@pytest.mark.parametrize("stage", ["denoise", "grade", "evaluate", "base"])
def test_a_summary_that_is_not_what_a_stage_writes_breaks_nothing(repository: Path, stage: str, text: str) -> None:
    with stage_progress(stage, repository):
        pass
    (repository / "metrics").mkdir()
    (repository / f"metrics/{stage}.json").write_text(text)
    Reader(repository).state(stage)


def test_scores_of_a_finished_evaluation(repository: Path, summary: Callable[..., None]) -> None:
    from compass.files import write_json

    score = {"accuracy": 0.5, "ci95": [0.4, 0.6], "samples": 2, "greedy": 0.75}
    scores = {"math": score, "average": score | {"ci95": [0.41, 0.6]}}
    write_json(repository / "metrics/evaluate.json", {"models": {"base": scores}})
    table = kinds(Reader(repository).state("evaluate"))["table"]
    assert table["head"] == ["benchmark", "measure", "base"]
    assert table["rows"][:2] == [["math", "avg@2", "50.0\n(40.0 to 60.0)"], ["", "greedy", "75.0"]]
    assert table["rows"][2] == ["average", "avg@2", "50.0\n(41.0 to 60.0)"]
