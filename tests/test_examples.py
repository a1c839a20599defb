"""Each folder of examples/ does what its README says, with the figures that it gives."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml

from compass.cli import main
from compass.settings import Settings
from compass.settings.load import read_values
from compass.studies.study import read_study
from tests.conftest import ROOT, changed_profile

EXAMPLES = ROOT / "examples"
README = {path.parent.name: path.read_text(encoding="utf-8") for path in EXAMPLES.glob("*/README.md")}


def run(*words: str) -> str:
    """What a Python module of examples/ prints."""
    done = subprocess.run([sys.executable, "-m", *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def expected(name: str) -> str:
    """The block below `Expected:` of a README, without its indent."""
    found = re.search(r"^Expected:\n\n((?: {4}.*\n)+)", README[name], re.MULTILINE)
    assert found
    return re.sub(r"^ {4}", "", found[1], flags=re.MULTILINE)


def test_the_index_names_every_folder_and_nothing_else() -> None:
    index = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    folders = {path.name for path in EXAMPLES.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert set(re.findall(r"^\| \[(\w+)\]", index, re.MULTILINE)) == folders == {*README, "notebook"}
    for text, base in [(index, EXAMPLES), *((text, EXAMPLES / name) for name, text in README.items())]:
        for link in re.findall(r"\]\((?!https:)([^)#]+)", text):
            assert (base / link).exists(), link


def test_own_csv_keeps_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    data = [str(EXAMPLES / "own_csv/problems.csv"), "--benchmark", str(EXAMPLES / "own_csv/benchmark.jsonl")]
    assert main(["curate", *data, "--out", str(tmp_path / "curated")]) == 0
    kept = pq.read_table(tmp_path / "curated/verify/kept.parquet").num_rows
    assert f"**{kept} of 50 rows kept**" in README["own_csv"]
    assert f"{kept} of 50 rows" in (ROOT / "docs/guides/own_data.md").read_text(encoding="utf-8")


def test_own_reward_pays_what_it_says_and_its_parameters_can_be_used() -> None:
    assert run("examples.own_reward.reward") == expected("own_reward")
    function = yaml.safe_load((EXAMPLES / "own_reward/params.yaml").read_text())["rl"]["reward"]["function"]
    settings = Settings.model_validate(changed_profile("tiny", {"rl.reward.function": function}))
    assert settings.rl.stages["rl-1"].reward.function == function
    assert function in README["own_reward"]


def test_two_models_are_scored_and_compared_as_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    folder = EXAMPLES / "score_two_models"
    fields = [
        "--response-field",
        "response",
        "--gold-field",
        "answer",
        "--problem-field",
        "problem",
        "--id-field",
        "id",
    ]
    for name in ("small", "large"):
        assert main(["score", str(folder / f"{name}.jsonl"), *fields]) == 0
        assert f"{json.loads(capsys.readouterr().out)['accuracy']:.2%} for `{name}`" in README["score_two_models"]
    assert main(["score", *(str(folder / f"{name}.jsonl") for name in ("small", "large")), *fields]) == 0
    assert expected("score_two_models").strip() in capsys.readouterr().out


def test_the_figures_on_word_problems_are_those_of_the_measurement() -> None:
    results = (ROOT / "docs/measurements/results.md").read_text(encoding="utf-8")
    _, _, row = README["word_problems"].partition("| base | rl-1 |\n|---|---|\n")
    for model, figure in zip(("base", "rl-1"), row.splitlines()[0].strip("| ").split(" | "), strict=True):
        assert re.search(rf"\| `{model}` \|.*\| {re.escape(figure)} \|\n", results), (model, figure)
    Settings.model_validate(read_values(ROOT / "profiles/words.yaml"))


def test_the_verifier_pays_in_trl_and_verl_what_it_says() -> None:
    assert run("examples.trl_and_verl.rewards") == expected("trl_and_verl")


def test_a_row_for_trl_is_paid_by_the_function() -> None:
    from examples.trl_and_verl.train_with_trl import as_example

    row = as_example({"problem": "What is 2+3?", "answer": "5"})
    assert row["solution"] == "5"
    from compass.integrations.trl import accuracy_reward

    completions = [[{"role": "assistant", "content": r"\boxed{5}"}]]
    assert accuracy_reward(completions, [row["solution"]], prompts=[row["prompt"]]) == [1.0]  # type: ignore[list-item]


def test_an_export_becomes_rows_that_verl_pays(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    from compass.cli import main
    from compass.integrations.verl import compute_score
    from examples.trl_and_verl.export_for_verl import write

    export = tmp_path / "clean.jsonl"
    source = str(EXAMPLES / "own_csv/problems.csv")
    assert main(["curate", source, "--out", str(tmp_path / "out"), "--export", str(export)]) == 0
    with export.open(encoding="utf-8") as lines:
        write(lines, tmp_path / "train.parquet")
    rows = pq.read_table(tmp_path / "train.parquet").to_pylist()
    assert len(rows) == len(export.read_text(encoding="utf-8").splitlines())
    row = rows[0]
    gold = row["reward_model"]["ground_truth"]
    paid = compute_score(row["data_source"], f"\\boxed{{{gold}}}", gold, row["extra_info"])
    assert (paid["score"], row["extra_info"]["question"] in row["prompt"][0]["content"]) == (1.0, True)


@pytest.mark.slow
def test_verl_finds_the_function_that_the_script_names() -> None:
    pytest.importorskip("verl")
    from omegaconf import OmegaConf
    from verl.trainer.ppo.reward import get_custom_reward_fn

    script = (EXAMPLES / "trl_and_verl/train_with_verl.sh").read_text(encoding="utf-8")
    settings = re.findall(r"(reward\.custom_reward_function\.\w+=\S+)", script)
    function = get_custom_reward_fn(OmegaConf.from_dotlist(settings))
    assert function("set", r"\boxed{5}", "5")["score"] == 1.0


def test_the_study_can_be_read_as_it_is_copied(tmp_path: Path) -> None:
    (tmp_path / "studies").mkdir()
    shutil.copy(EXAMPLES / "recipe_study/study.yaml", tmp_path / "studies/learning-rate.yaml")
    study = read_study("learning-rate", tmp_path)
    runs = len(study.arms) * len(study.seeds)
    assert f"Expect {runs} runs" in README["recipe_study"]
    usual = read_values(ROOT / f"profiles/{study.profile}.yaml")["rl"]["optimizer"]["learning_rate"]
    assert study.arms["half"]["rl.optimizer.learning_rate"] == usual / 2


@pytest.mark.parametrize("name", README)
def test_a_readme_is_short(name: str) -> None:
    assert len(README[name].split()) < 500
