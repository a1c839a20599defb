"""dvc.yaml says what each stage uses: no import of the library is missing from its deps, and none is listed in vain."""

from pathlib import Path

import pytest

from compass.runs.dvc_files import Graph
from compass.settings import load_settings
from stages._deps import code_deps, graph
from stages._rl_entries import is_code

ROOT = Path(__file__).resolve().parents[1]
GRAPH = graph(ROOT)
SETTINGS = load_settings(ROOT / "params.yaml")
STAGES = SETTINGS.stages


def test_the_graph_has_every_stage_and_no_other() -> None:
    assert tuple(GRAPH) == STAGES


@pytest.mark.parametrize("stage", STAGES)
def test_deps_name_what_a_stage_imports(stage: str) -> None:
    listed = [dep for dep in GRAPH[stage]["deps"] if is_code(dep)]
    assert listed == code_deps(stage, ROOT), "`make deps` writes them into dvc.yaml"


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_has_its_settings_and_writes_its_metrics(stage: str) -> None:
    entry = GRAPH[stage]
    assert f"metrics/{stage}.json" in entry["outs"]
    assert (f"rl.stages.{stage}" if stage in SETTINGS.rl.stages else stage) in entry["params"]
    for name in entry["params"]:
        section = SETTINGS.model_dump()
        for key in name.split("."):
            section = section[key]


def test_what_dvc_compares_is_one_small_file() -> None:
    """Every number of every stage would be a column of `dvc exp show`."""
    assert {stage: entry["metrics"] for stage, entry in GRAPH.items() if "metrics" in entry} == {
        "report": ["metrics/headline.json"]
    }


def test_every_input_is_some_stages_output() -> None:
    outs = {out for entry in GRAPH.values() for kind in ("outs", "metrics") for out in entry.get(kind, [])}
    data = {dep for stage in STAGES for dep in Graph(ROOT).deps(stage) if not is_code(dep)}
    assert data <= outs


def test_a_setting_of_evaluate_reruns_evaluate_and_report_alone() -> None:
    assert [stage for stage in STAGES if "evaluate" in GRAPH[stage]["params"]] == ["evaluate"]
    downstream = [stage for stage in STAGES if {"data/evaluate", "metrics/evaluate.json"} & set(GRAPH[stage]["deps"])]
    assert downstream == ["report"]


def test_an_rl_stage_depends_on_what_verl_loads_by_name_and_not_on_what_only_tells() -> None:
    code = code_deps("rl-1", ROOT)
    for loaded in ("agent_loop", "dynamic_sampling", "reward_function", "train"):
        assert f"compass/rl/{loaded}.py" in code
    assert "compass/rl/cpu" in code
    assert "compass/rl" not in code
    for telling in ("failure", "trainer_watch"):
        assert f"compass/rl/{telling}.py" not in code


EDITS = {
    "1. a noise filter": "compass/curation/noise",
    "2. a source": "compass/sources/adapters.py",
    "3. a benchmark": "compass/evaluation/known_benchmarks.py",
    "4. an advantage estimator": "compass/rl/estimators.py",
    "5. a level rule": "compass/grading/levels.py",
    "6. a reward": "compass/rl/reward_function.py",
    "7. an answer form": "compass/verifier/verify.py",
    "8. a ledger column": "compass/ledger.py",
    "10. an inference engine": "compass/sampling/engine.py",
}
"""Change of docs/guides/changing.md to the file it edits that most stages depend on."""


@pytest.mark.parametrize("change", EDITS)
def test_the_ten_changes_say_which_stages_they_re_run(change: str) -> None:
    path = Path(EDITS[change])
    places = {str(place) for place in (path, *path.parents)}
    reruns = [stage for stage, entry in GRAPH.items() if places & set(entry["deps"])]
    [row] = [
        line
        for line in (ROOT / "docs/guides/changing.md").read_text(encoding="utf-8").splitlines()
        if line.startswith(f"| [{change}]")
    ]
    named = row.split("|")[2].partition(";")[0]
    if "all but" in named:
        assert named.strip() == "all but " + ", ".join(f"`{stage}`" for stage in STAGES if stage not in reruns)
    elif "the RL stages" in named:
        assert reruns == list(SETTINGS.rl.stages)
    else:
        assert [stage for stage in STAGES if f"`{stage}`" in named] == reruns
