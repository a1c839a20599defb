"""Filters that `denoise.filters` names: in the ledger like any other, and clear errors for what cannot be used."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml
from pydantic import ValidationError

from compass.checks.before_run import find_filter_problems
from compass.cli import main
from compass.curation import noise
from compass.curation.noise.finding import Finding, Strength
from compass.curation.noise.own_filter import FilterError, _load, filter_digests, load_filter
from compass.ledger import Drop
from compass.settings import Denoise, Settings, SettingsError
from stages._deps import write_deps
from stages._rl_entries import check_names, filter_deps
from tests.conftest import changed_profile

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = "examples.own_csv.own_filter:program"
RECORD = {
    "source": "web",
    "source_id": "7",
    "problem": "Write a program that adds 3 and 4 and prints it.",
    "answer": "7",
}
HEAD = "from compass.curation.noise.finding import Finding, Strength\n"


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """Write a module `mine`, whose function `judge` has this body, into the current folder."""

    def write(body: str, head: str = "def judge(record, settings):") -> str:
        (tmp_path / "mine.py").write_text(f"{HEAD}{head}\n    {body}\n")
        sys.modules.pop("mine", None)
        load_filter.cache_clear(), _load.cache_clear()
        return "mine:judge"

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield write
    sys.modules.pop("mine", None)
    load_filter.cache_clear(), _load.cache_clear()


def pipeline(*names: str) -> Settings:
    return Settings.model_validate(changed_profile("tiny", {"denoise.filters": list(names)}))


def test_the_documented_example_drops_like_a_built_in_filter() -> None:
    drop = Drop("program", {"strength": "likely", "text": RECORD["problem"], "span": [0, 15]})
    assert noise.check(RECORD, Denoise(filters=[EXAMPLE])) == drop
    assert noise.review(RECORD, Denoise()) == (None, [])
    (doubt,) = noise.review(RECORD, Denoise(filters=[EXAMPLE], strictness="sure"))[1]
    assert (doubt.reason, doubt.strength) == ("program", Strength.LIKELY)


def test_built_in_filters_judge_first_and_settings_reach_the_function(module) -> None:
    name = module("return Finding('own', Strength.SURE, {'least': settings.min_problem_chars})")
    settings = Denoise(filters=[name], min_problem_chars=20)
    assert noise.check(RECORD, settings) == Drop("own", {"strength": "sure", "least": 20})
    assert noise.check(RECORD | {"problem": "Prove that 2 is prime."}, settings).reason == "proof"


def test_curate_writes_its_reason_evidence_and_digest(module, tmp_path: Path, capsys) -> None:
    name = module("return Finding('even', Strength.LIKELY) if int(record['answer']) % 2 == 0 else None")
    rows = [{"problem": f"What is the sum of {n} and {n * n + 1}?", "answer": str(n + n * n + 1)} for n in range(9)]
    rows += [{"problem": "How many hats has Ann if she has 5 of them and buys 3 more?", "answer": "8"}]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["curate", "rows.jsonl", "--filter", name, "--out", "out"]) == 0
    (dropped,) = pq.read_table("out/denoise/dropped.parquet").to_pylist()
    assert (dropped["stage"], dropped["reason"], dropped["answer"]) == ("denoise", "even", "8")
    assert json.loads(dropped["evidence"]) == {"strength": "likely"}
    summary = json.loads(Path("out/summary.json").read_text())
    assert summary["stages"]["denoise"]["metrics"]["filters"] == filter_digests([name])
    capsys.readouterr()
    assert main(["ledger", "--data", "out", "--reason", "even", "--sample", "1"]) == 0
    assert "5 of them and buys 3 more" in capsys.readouterr().out
    assert main(["ledger", "--data", "out", "--html", "out.html"]) == 0


def test_curate_takes_filters_of_a_parameter_file_and_stops_before_it_reads(module, tmp_path: Path, capsys) -> None:
    (tmp_path / "rows.csv").write_text("question,answer\nWhat is the sum of 2 and 2?,4\n")
    (tmp_path / "own.yaml").write_text(f"denoise:\n  filters: ['{module('return 1')}']\n")
    words = ["curate", "rows.csv", "--params", "own.yaml", "--out", "out"]
    assert main(words) == 1
    error = capsys.readouterr().err
    assert "`denoise.filters` mine:judge: at row rows:0 it returned 1, no Finding; return None, or `Finding(" in error
    module("return None", "def judge(record):")
    assert main(words) == 1
    assert "its arguments are not those it is called with" in capsys.readouterr().err
    assert main([*words, "--filter", "nowhere"]) == 1
    assert "`denoise.filters` nowhere: there is no module nowhere" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("return True", "it returned True, no Finding"),
        ("return Finding('Own reason', Strength.SURE)", "the reason 'Own reason', no name of lower-case letters"),
        ("return Finding('figure', Strength.SURE)", "the reason 'figure', which the pipeline has itself"),
        ("return Finding('own', 'sure')", "the strength 'sure', no Strength"),
        ("return Finding('own', Strength.SURE, {'x': {1}})", "evidence that is no JSON"),
        ("return Finding('own', Strength.SURE, {'x': float('nan')})", "evidence that is no JSON"),
        ("return Finding('own', Strength.SURE, ['x'])", "the evidence ['x'], no dict"),
        ("return Finding('own', Strength.SURE, {'span': 'x'})", "the span 'x'"),
        ("return 1 / 0", "it raised ZeroDivisionError: division by zero ("),
    ],
)
def test_what_it_returns_is_checked_and_the_row_named(module, body: str, found: str) -> None:
    with pytest.raises(FilterError) as error:
        noise.review(RECORD, Denoise(filters=[module(body)]))
    assert error.value.message.startswith("`denoise.filters` mine:judge: at row web:7 ")
    assert found in error.value.message
    assert error.value.remedy


@pytest.mark.parametrize(
    ("head", "found"),
    [
        ("def other():", "mine.py has no function judge"),
        ("async def judge(record, settings):", "judge is async"),
        ("def judge(record):", "its arguments are not those it is called with"),
        ("import nothing_of_this_name\ndef judge(record, settings):", "importing it raised ModuleNotFoundError"),
    ],
)
def test_the_check_before_a_run_names_what_cannot_be_used(module, tmp_path: Path, head: str, found: str) -> None:
    (problem,) = find_filter_problems(pipeline(module("return None", head)), tmp_path)
    assert problem.where == "denoise.filters"
    assert found in problem.found


def test_the_check_before_a_run_finds_a_missing_module_and_passes_a_good_one(module, tmp_path: Path) -> None:
    (problem,) = find_filter_problems(pipeline("nowhere:judge"), tmp_path)
    assert "there is no module nowhere" in problem.found
    assert "filters/mine.py" in problem.remedy
    assert find_filter_problems(pipeline(module("return None")), tmp_path) == []
    assert find_filter_problems(Settings.model_validate(changed_profile("tiny", {})), tmp_path) == []


@pytest.mark.parametrize("name", ["mine", "mine.judge", "mine:", "a-b:c"])
def test_only_a_name_of_a_function_is_taken(name: str) -> None:
    with pytest.raises(ValidationError, match=r"must be `package\.module:function`"):
        Denoise(filters=[name])


def test_its_file_is_a_dependency_of_denoise_where_it_is_in_the_repository(tmp_path: Path) -> None:
    ours = pipeline("own_filters.mine:judge")
    assert filter_deps(ours, tmp_path) == []
    shutil.copytree(ROOT / "compass", tmp_path / "compass", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "stages", tmp_path / "stages", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "own_filters").mkdir()
    (tmp_path / "own_filters/mine.py").write_text("from compass.curation.minhash import x")
    before = (ROOT / "dvc.yaml").read_text()
    (tmp_path / "dvc.yaml").write_text(before)
    with pytest.raises(SettingsError, match=r"denoise depends on own_filters/mine\.py, .*; run `make deps`"):
        check_names(ours, tmp_path / "dvc.yaml")
    written = write_deps(before, tmp_path, ours)
    deps = yaml.safe_load(written)["stages"]["denoise"]["deps"]
    assert {"own_filters/mine.py", "compass/curation/minhash.py"} <= set(deps)
    (tmp_path / "dvc.yaml").write_text(written)
    check_names(ours, tmp_path / "dvc.yaml")
    assert write_deps(written, tmp_path, pipeline()) == before  # no longer named


def test_two_findings_with_other_reasons_are_doubts_of_one_row(module) -> None:
    name = module("return Finding('own', Strength.POSSIBLE)")
    _, doubts = noise.review(RECORD, Denoise(filters=[name, EXAMPLE], strictness="sure"))
    assert doubts == [Finding("own", Strength.POSSIBLE), doubts[1]]
    assert doubts[1].reason == "program"
