"""The page of responses made elsewhere: `compass score --out`, from files to what a reader sees."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import compass
from compass.cli import main
from compass.report.run import read_run
from compass.report.sections import report_sections
from tests.report.conftest import HOSTILE

FIELDS = ("--response-field", "text", "--gold-field", "gold", "--problem-field", "question")

TEXTS = {
    "small": ["So \\boxed{0}.", "Run it.\n```output\n1\n```", "The area is $x^2 +", "I cannot say.", "So \\boxed{9}."],
    "large": ["So \\boxed{0}.", "So \\boxed{1}.", "So \\boxed{2}.", "So \\boxed{3}.", "So \\boxed{9}."],
}
"""Of two models, to five problems: right, right leniently alone, cut off, none and wrong; and right, right, right, right and wrong."""


def write(folder: Path, model: str) -> Path:
    rows = [
        {"question": f"{HOSTILE} What is {n} + 0?", "gold": str(n), "text": f"{HOSTILE} {text}"}
        for n, text in enumerate(TEXTS[model])
    ]
    path = folder / f"{model}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict]:
    """The folder of two models' scored responses, and what the command printed."""
    folder = tmp_path_factory.mktemp("scored")
    files = [str(write(folder, "small")), f"big={write(folder, 'large')}"]
    words = [sys.executable, "-m", "compass.cli", "score", *files, *FIELDS, "--out", str(folder / "page")]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    *_, headline, page = done.stderr.splitlines()
    assert headline.startswith("big has an accuracy of 80.0%")
    assert page == f"page: {folder / 'page' / 'index.html'}"
    return folder / "page", json.loads(done.stdout)


def test_the_page_and_the_command_give_the_same_figures(scored: tuple[Path, dict]) -> None:
    folder, printed = scored
    run = read_run(folder)
    assert run.models == ["small", "big"]
    for file, model in zip(printed["files"], run.models, strict=True):
        found = run.results.scores[model]["responses"]
        assert {name: found[name] for name in ("accuracy", "ci95", "lenient", "lenient_ci95", "problems")} == {
            name: file[name] for name in ("accuracy", "ci95", "lenient", "lenient_ci95", "problems")
        }
        evidence = file["evidence"]["lenient"]
        assert found["truncated"] == pytest.approx(evidence.get("cut off", 0) / file["responses"])
        assert found["unanswered"] == pytest.approx(file["outcomes"]["lenient"]["none"] / file["responses"])
    assert [file["accuracy"] for file in printed["files"]] == [0.2, 0.8]
    assert [file["lenient"] for file in printed["files"]] == [0.4, 0.8]
    [pair], [compared] = run.comparisons["pairs"], printed["comparisons"]
    assert pair["benchmarks"]["responses"]["words"] == compared["strict"]["words"]
    text = (folder / "report.md").read_text()
    assert "big has an accuracy of 80.0%" in text
    assert "in the strict reading on 5 problems; small has 20.0%" in text
    assert "Read leniently, with an answer in any usual form counted: small 40.0%" in text


def test_the_page_has_one_heading_whichever_command_writes_it(scored: tuple[Path, dict], tmp_path: Path) -> None:
    folder, _ = scored
    assert main(["report", str(folder), "--out", str(tmp_path / "page")]) == 0
    for page in (folder, tmp_path / "page"):
        assert (page / "report.md").read_text().startswith("# Responses of small and big\n")


def test_what_the_responses_do_not_tell_is_null_and_said_to_be_not_known(scored: tuple[Path, dict]) -> None:
    folder, _ = scored
    samples = pq.read_table(folder / "samples.parquet")
    for name in ("greedy", "tokens", "seconds", "finish_reason", "setup", "correct_other"):
        assert samples[name].null_count == samples.num_rows == 10, name
    scores = read_run(folder).results.scores["small"]["responses"]
    assert not {"tokens", "length", "by_tokens", "seconds", "greedy", "prompt_too_long", "fixed_ci95"} & scores.keys()
    sections = {section.anchor: section for section in report_sections(read_run(folder))}
    assert not sections.get("tokens")
    assert not sections.get("cost")
    text = (folder / "report.md").read_text()
    unknown = "Not known, because the responses were made elsewhere"
    assert unknown in text
    for word in ("tokens per", "by chance |", "greedy %", "temperature 1"):
        assert word not in text, word
    assert "| small | lenient | 2 | 1 | 0 | 2 | 1 cut off, 1 not found |" in text
    assert "small on responses 20.0%" in text  # cut off


def test_a_reader_sees_problems_golds_and_responses_and_no_text_becomes_markup(
    scored: tuple[Path, dict], look: Callable
) -> None:
    page = look(scored[0] / "index.html", width=390)
    page.wait_for_selector("#viewer .item")
    assert page.title() == "Responses of small and big"
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.select_option("#viewer select[name=fate]", "unread")
    page.wait_for_function("document.querySelectorAll('#viewer .item').length === 2")
    page.click("#viewer .item summary")
    page.wait_for_selector("#viewer .columns")
    seen = page.inner_text("#viewer .item")
    assert "gold 2" in " ".join(seen.split())
    assert "no answer: cut off" in seen
    assert "<img src=x" in seen
    assert "tokens" not in seen
    assert page.locator("#viewer img").count() == 0


def test_the_report_command_makes_the_page_again_with_a_bundle_that_recomputes(
    scored: tuple[Path, dict], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["report", str(scored[0]), "--out", str(tmp_path / "again"), "--bundle", str(tmp_path / "bundle")]
    assert main(words) == 0
    assert "big has an accuracy of 80.0%" in capsys.readouterr().out
    script = tmp_path / "bundle" / "recompute.py"
    done = subprocess.run([sys.executable, "-I", script], capture_output=True, text=True, check=False)
    assert (done.returncode, "DIFFERENT" in done.stdout) == (0, False), done.stdout[-2000:]


def test_rows_in_memory_are_scored_into_a_folder_and_several_responses_are_samples(tmp_path: Path) -> None:
    rows = [{"gold": str(n), "text": [f"\\boxed{{{n}}}", f"\\boxed{{{n % 2}}}"]} for n in range(4)]
    found = compass.score(rows, response_field="text", gold_field="gold", out=tmp_path / "page")
    scores = compass.load_run(tmp_path / "page").results.scores["responses"]["responses"]
    assert {name: scores[name] for name in ("accuracy", "pass@2", "maj@2", "fixed_ci95", "sd")} == {
        name: found.scores[name] for name in ("accuracy", "pass@2", "maj@2", "fixed_ci95", "sd")
    }
    assert "by_tokens" not in scores
    assert (tmp_path / "page" / "index.html").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("small.jsonl", "large.jsonl", *FIELDS[:4], "--out", "new"), "name the field that says which rows are one problem"),
        (("a=small.jsonl", "a=large.jsonl", *FIELDS, "--out", "new"), "two files have one name"),
        (("small.jsonl", *FIELDS, "--out", "small.jsonl"), "is a file; name a folder"),
        (("small.jsonl", *FIELDS, "--out", "other"), "holds something else than `compass score --out` writes"),
        (("small.jsonl", *FIELDS, "--out", "."), "holds something else than `compass score --out` writes"),
    ],
)  # fmt: skip
def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_judged(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    for model in TEXTS:
        write(tmp_path, model)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "index.html").write_text("mine")
    assert main(["score", *words]) == 1
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.out == ""
    assert (tmp_path / "other" / "index.html").read_text() == "mine"


def test_models_are_not_sampled_into_a_folder_of_given_responses(
    scored: tuple[Path, dict], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--server", "http://127.0.0.1:9", "--benchmarks", "math-500", "--out", str(scored[0])]
    assert main(["evaluate", *words]) == 1
    assert "is there as `compass score` wrote it, with responses made elsewhere" in capsys.readouterr().err
