"""`compass table1`: quoted figures, measured ones beside them, and the commands that measure."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from compass.cli import build_app, main
from compass.evaluation.benchmarks import BENCHMARKS as KNOWN
from compass.evaluation.published_models import BENCHMARKS, TABLE1, commands
from compass.prompts.registry import PROMPTS


def test_quoted_figures_are_the_reports(shared: Path) -> None:
    (report,) = shared.parent.glob("report/002*")
    text = report.read_text().replace("<b>", "").replace("</b>", "")
    for model in TABLE1:
        assert "\t".join([model.title, *map(str, model.report)]) in text


def test_a_quoted_figure_has_the_interval_of_its_problems(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["table1"]) == 0
    shown = capsys.readouterr().out
    assert "| compass-thinker | report, quoted | 40.0 (24-58) | 65.0 (54-75) |" in shown
    assert "| oat-zero | one protocol, quoted | 28.0 ±3.1 (15-47) |" in shown
    assert "no public weights were found" in shown


def test_measured_figures_stand_beside(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    score = {"accuracy": 0.31, "ci95": [0.2, 0.44]}
    path = tmp_path / "evaluate.json"
    path.write_text(
        json.dumps({"models": {"limr": {"aime-2024": score, "average": score}, "rl-3": {"math-500": score}}})
    )
    assert main(["table1", "--results", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    models = [line.split(" | ")[0].removeprefix("| ") for line in lines if line.startswith("| ")]
    assert models.count("limr") == 3
    assert models[-1] == "rl-3"
    assert "| limr | measured | 31.0 (20-44) |  |  |  |  |" in lines
    assert main(["table1", "--json", "--results", str(path)]) == 0
    found = [row for row in json.loads(capsys.readouterr().out) if row["source"] == "measured"]
    assert [row["model"] for row in found] == ["limr", "rl-3"]
    assert main(["table1", "--results", str(path), "--results", str(path)]) == 1
    assert "limr, rl-3 is in an earlier file" in capsys.readouterr().err


def test_a_part_of_a_benchmark_is_marked_and_other_names_are_said(tmp_path: Path, capsys) -> None:
    score = {"accuracy": 0.5, "ci95": [0.2, 0.8]}
    models = {
        "part": {"aime-2024": score | {"problems": 6}, "math-500": score | {"problems": 500}},
        "elsewhere": {"math500": score | {"problems": 500}},
    }
    (path := tmp_path / "scores.json").write_text(json.dumps({"models": models}))
    assert main(["table1", "--results", str(path)]) == 0
    found = capsys.readouterr()
    assert "| part | measured | 50.0 (20-80, 6 problems) |  | 50.0 (20-80) |  |  |" in found.out
    assert "elsewhere" not in found.out
    assert "elsewhere was scored on no benchmark of Table 1 by its name: aime-2024" in found.err
    assert main(["table1", "--commands", "--samples", "0"]) == 1


@pytest.mark.parametrize(
    ("content", "message"), [(None, "No such file"), ("{}", "holds no scores"), ("[]", "holds no scores")]
)
def test_results_that_cannot_be_read_are_named(tmp_path: Path, capsys, content: str | None, message: str) -> None:
    path = tmp_path / "evaluate.json"
    if content is not None:
        path.write_text(content)
    assert main(["table1", "--results", str(path)]) == 1
    assert message in capsys.readouterr().err


def test_one_command_evaluates_all_public_models_alike(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["table1", "--commands", "--samples", "16"]) == 0
    hint, command = capsys.readouterr().out.splitlines()
    assert "ls-remote" in hint
    words = shlex.split(command)
    assert [word.split("=")[0] for word in words if "=" in word] == [model.name for model in TABLE1 if model.hub]
    assert words[words.index("--samples") + 1] == "16"
    assert words[words.index("--benchmarks") + 1 :][: len(BENCHMARKS)] == list(BENCHMARKS)


@pytest.mark.parametrize("own_prompts", [False, True])
def test_the_commands_are_ones_that_compass_evaluate_takes(own_prompts: bool) -> None:
    found = commands(8, own_prompts=own_prompts)
    for command in found:
        _, bound, _ = build_app("evaluate").parse_args(shlex.split(command)[1:], exit_on_error=False)
        asked = bound.arguments["asked"]
        assert asked.benchmarks == list(BENCHMARKS)
        assert set(asked.benchmarks) <= set(KNOWN)
    prompts = [command.split("--prompt ")[1].split()[0] for command in found if "--prompt " in command]
    assert len(set(prompts)) == len(prompts) == (3 if own_prompts else len(prompts))
    assert set(prompts) <= set(PROMPTS)
    assert sum(command.count("@COMMIT") for command in found) == sum(bool(model.hub) for model in TABLE1)
