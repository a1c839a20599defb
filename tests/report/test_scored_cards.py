"""The model card holds the run's scores where hubs read them, and the stage's own card stays whole."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import yaml
from huggingface_hub import ModelCard

from compass.model_cards import rl_card
from compass.report.page import write_report
from compass.report.run import read_run
from compass.report.scored_cards import scored_card, write_model_cards
from compass.settings import load_settings

TINY = Path(__file__).parents[2] / "profiles/tiny.yaml"


def stages_card() -> str:
    """The card that an RL stage writes."""
    settings = load_settings(TINY)
    metrics = [{"sampled/reward": 0.1, "sampled/response_tokens": 10.0}]
    return rl_card("rl-2", settings.rl.stages["rl-2"], profile="tiny", seed=0, step=2, problems=30, metrics=metrics)


def test_a_card_gains_the_scores_of_the_metrics_in_its_front_matter(finished_run: Path) -> None:
    card = ModelCard(scored_card(read_run(finished_run), "rl-2", stages_card()))
    scores = json.loads((finished_run / "metrics" / "evaluate.json").read_text())["models"]["rl-2"]
    results = card.data.eval_results
    assert results
    found = {(result.dataset_name, result.metric_config): result.metric_value for result in results}
    expected = {}
    for benchmark in ("easy", "hard"):
        expected[benchmark, "avg@4"] = round(100 * scores[benchmark]["accuracy"], 1)
        expected[benchmark, "greedy"] = round(100 * scores[benchmark]["greedy"], 1)
    assert found == expected
    assert {result.task_type for result in results} == {"text-generation"}
    index = card.data.to_dict()["model-index"]
    assert [entry["name"] for entry in index] == ["rl-2"]
    assert card.data.library_name == "transformers"
    assert card.data.tags == ["reinforcement-learning", "math"]


def test_the_stages_own_text_stays(finished_run: Path) -> None:
    text = scored_card(read_run(finished_run), "rl-2", stages_card())
    assert text.index("## Recipe") < text.index("## Evaluation")
    assert text.count("\n# ") == 1
    assert "against base, paired by problem" in text


def test_a_known_benchmark_is_named_by_its_hub_id(finished_run: Path) -> None:
    path = finished_run / "metrics" / "evaluate.json"
    values = json.loads(path.read_text())
    values["models"]["rl-2"]["math-500"] = values["models"]["rl-2"].pop("easy")
    path.write_text(json.dumps(values))
    card = ModelCard(scored_card(read_run(finished_run), "rl-2", stages_card()))
    kinds = {result.dataset_name: result.dataset_type for result in card.data.eval_results or []}
    assert kinds == {"math-500": "HuggingFaceH4/MATH-500", "hard": "hard"}


def test_models_without_a_card_of_their_own_get_none(finished_run: Path, tmp_path: Path) -> None:
    (finished_run / "data" / "rl-2").mkdir(parents=True, exist_ok=True)
    (finished_run / "data" / "rl-2" / "card.md").write_text(stages_card(), encoding="utf-8")
    [path] = write_model_cards(read_run(finished_run), tmp_path / "out")
    assert path == tmp_path / "out" / "model_cards" / "rl-2.md"
    assert ModelCard.load(path).data.eval_results


def test_the_report_is_the_same_without_the_weights(finished_run: Path, tmp_path: Path) -> None:
    (finished_run / "data" / "rl-2").mkdir(parents=True, exist_ok=True)
    (finished_run / "data" / "rl-2" / "card.md").write_text(stages_card(), encoding="utf-8")
    for model in ("base", "rl-2"):
        (finished_run / "models" / model).mkdir(parents=True, exist_ok=True)
        (finished_run / "models" / model / "README.md").write_text(stages_card(), encoding="utf-8")
        (finished_run / "models" / model / "model.safetensors").write_bytes(b"weights")
    write_report(read_run(finished_run), tmp_path / "with", title="Report", megabytes=5)
    shutil.rmtree(finished_run / "models")
    write_report(read_run(finished_run), tmp_path / "without", title="Report", megabytes=5)
    written = {
        folder: {path.relative_to(tmp_path / folder): path.read_bytes() for path in (tmp_path / folder).rglob("*.*")}
        for folder in ("with", "without")
    }
    assert Path("model_cards/rl-2.md") in written["without"]
    assert written["with"] == written["without"]


def test_no_weights_are_fetched_for_the_report() -> None:
    graph = yaml.safe_load((Path(__file__).parents[2] / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    assert [dep for dep in graph["report"]["deps"] if dep.startswith("models/")] == []
