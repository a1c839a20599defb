"""`compass chat`: a question is asked, its answer is read and judged; against a server on this machine, and once with vLLM."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from compass.cli import main
from compass.commands.chat import Asked, read_sampling
from compass.errors import UserError
from compass.sampling.model_source import Model
from compass.settings import Settings
from tests.conftest import ROOT, changed_profile, make_random_model


@pytest.fixture
def url(openai_server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    openai_server.answers = {
        "What is 2+3?": r"Two and three make \boxed{5}.",
        "How many?": r"In all \boxed{3^2}.",
        "Why?": "Well, who knows, or so",
    }
    return openai_server.url


def test_a_question_is_answered_read_and_judged(url, capsys) -> None:
    assert main(["chat", url, "What is 2+3?", "--gold", "5"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[:3] == [
        r"Two and three make \boxed{5}.",
        "  answer: 5  [5 tokens]",
        "  gold:   5  right (the same text)",
    ]
    assert "loading m: prompt default, temperature 1, at most 2048 tokens" in err
    assert main(["chat", url, "What is 2+3?", "--gold", "-5"]) == 0
    assert "gold:   -5  wrong (" in capsys.readouterr().out


def test_what_only_the_lenient_reader_takes_is_shown_as_that(url, capsys) -> None:
    main(["chat", url, "How many?", "--gold", "9"])
    assert "gold:   9  wrong; right in the lenient reading (equal, but not worked out)" in capsys.readouterr().out
    main(["chat", url, "Why?"])
    out = capsys.readouterr().out
    assert "  no answer" in out
    assert "gold" not in out


def test_several_responses_are_counted_and_printed_for_programs(url, openai_server, capsys) -> None:
    main(["chat", url, "What is 2+3?", "--gold", "5", "--samples", "3"])
    assert "right: 3 of 3" in capsys.readouterr().out
    main(["chat", url, "What is 2+3?", "--gold", "1/2", "--samples", "2", "--json"])
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["answer"], row["right"], row["gold"]) for row in rows] == [("5", False, "1/2")] * 2


def test_lines_are_questions_and_gold_judges_the_one_before(url, openai_server, capsys, monkeypatch) -> None:
    typed = "What is 2+3?\n\n/gold 5\n/gold\n/never\nWhy?\n/quit\nHow many?\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    assert main(["chat", url]) == 0
    out, err = capsys.readouterr()
    assert out.count("Two and three") == 2
    assert out.count("right (") == 1
    assert "who knows" in out
    assert "In all" not in out
    assert err.count("no command, or something is missing") == 2
    asked = [body for _, body, _ in openai_server.asked]
    assert len({body["seed"] for body in asked[:2]}) == 2, "a question asked again is sampled anew"


def test_a_collected_problem_brings_its_gold(url, pipeline, openai_server, capsys) -> None:
    data, _ = pipeline
    text = "Tom has 2 books and buys 3 more of them. How many books does Tom have now?"
    openai_server.answers = {text: r"\boxed{5}", "What is 1?": r"\boxed{2}"}
    assert main(["chat", url, "--problem", "web:2", "--data", str(data)]) == 0
    out, err = capsys.readouterr()
    assert text in err
    assert "gold:   5  right" in out
    assert main(["chat", url, "--problem", "bench:0", "--data", str(data)]) == 0
    assert "gold:   1  wrong" in capsys.readouterr().out
    assert main(["chat", url, "--problem", "Tom has", "--data", str(data)]) == 1
    assert "names 5 problems (web:0, web:1" in capsys.readouterr().err
    assert main(["chat", url, "--problem", "web:77", "--data", str(data)]) == 1
    assert "source 'web' has no row '77'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["rl3"], "rl3: no model; give a stage (none has run here)"),
        (["URL", "long"], "the question is not answered (prompt too long); shorten it"),
        (["URL", "Why?", "--problem", "web:1"], "give a question or --problem, not both"),
        (["URL", "--gold", "5"], "--gold needs the question that it answers"),
        (["URL", "Why?", "--greedy", "--samples", "2"], "--greedy gives one response"),
        (["URL", "Why?", "--temperature", "-1"], "--temperature: Input should be greater than or equal to 0"),
        (["URL", "Why?", "--max-tokens", "5000"], "`max_model_len` (4096) must exceed `max_tokens` (5000)"),
    ],
)
def test_what_cannot_be_used_is_told(words, said, url, capsys) -> None:
    assert main(["chat", *(url if word == "URL" else word for word in words)]) == 1
    assert said in capsys.readouterr().err


def test_a_stage_is_asked_as_it_is_evaluated(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    tree = changed_profile("tiny", {"evaluate.sampling.prompt_suffix": " Think."})
    Path("params.yaml").write_text(yaml.safe_dump(tree))
    Path("models/rl-1").mkdir(parents=True)
    Path("models/rl-1/config.json").write_text("{}")
    own = Settings.model_validate(tree).evaluate.sampling
    model = Model("models/rl-1")
    assert read_sampling("rl-1", model, Asked()) == own
    assert read_sampling("rl-1", model, Asked(temperature=0.5)) == own.model_copy(update={"temperature": 0.5})
    with pytest.raises(UserError, match="has a wording of its own"):
        read_sampling("rl-1", model, Asked(prompt="boxed"))


@pytest.mark.parametrize(("length", "limits"), [(512, (384, 512)), (40_960, (2_048, 4_096))])
def test_another_model_has_its_own_limits(length, limits, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine").mkdir()
    Path("mine/config.json").write_text(json.dumps({"max_position_embeddings": length}))
    found = read_sampling("mine", Model("mine"), Asked())
    assert (found.max_tokens, found.max_model_len) == limits
    assert found.prompt_suffix == ""


@pytest.mark.slow
def test_a_stage_of_this_folder_answers_by_vllm(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    make_random_model(tmp_path / "models/rl-1", seed=0)
    sampling = {"max_tokens": 12, "max_model_len": 96, "dtype": "float32"}
    Path("params.yaml").write_text(
        yaml.safe_dump(
            changed_profile("tiny", {f"evaluate.sampling.{name}": value for name, value in sampling.items()})
        )
    )

    def chat(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "compass.cli", "chat", *words]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)

    words = ("rl-1", "What is 2+3?", "--gold", "5", "--json", "--samples", "2")
    first = chat(*words)
    assert first.returncode == 0, first.stderr
    assert chat(*words).stdout == first.stdout, "the same seed samples the same"
    rows = [json.loads(line) for line in first.stdout.splitlines()]
    assert len(rows) == 2
    assert all(1 <= row["tokens"] <= 12 and row["right"] is False for row in rows)
    unknown = chat("rl-2", "What is 2+3?")
    assert unknown.returncode == 1
    assert "did you mean rl-1? give the stages that have run here (rl-1)" in unknown.stderr
