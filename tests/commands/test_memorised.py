"""`compass memorised`, against a server on this machine that knows one benchmark by heart."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from compass.cli import main
from compass.evaluation.memorised import split_problem
from compass.page.markdown import to_markdown
from compass.report.run import read_run
from compass.report.sensitivity import memorised_section, other_ways

KNOWN = [
    {
        "id": "a",
        "problem": "A train leaves at noon and is two hours late at each of its three stops, so when does it come?",
        "answer": "6",
    },
    {
        "id": "b",
        "problem": "Three farmers share a field of ninety acres so that each one has as much as any other one has.",
        "answer": "30",
    },
]
YOUNG = [
    {
        "id": "c",
        "problem": "A cook weighs five sacks of flour, each of them three times as heavy as the one before it.",
        "answer": "81",
    }
]


@pytest.fixture
def server(tmp_path, monkeypatch, openai_server):
    monkeypatch.chdir(tmp_path)
    for name, rows in (("old", KNOWN), ("young", YOUNG)):
        Path(f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for row in KNOWN:
        beginning, end = split_problem(row["problem"], 60)
        openai_server.answers[beginning] = f" {end}\nThe answer is \\boxed{{{row['answer']}}}."
    return openai_server


def test_a_benchmark_that_is_known_by_heart_is_told_from_one_that_is_not(server, capsys) -> None:
    words = ("memorised", f"m={server.url}", "--benchmarks", "old.jsonl", "young.jsonl", "--shown", "60")
    assert main([*words]) == 0
    lines = {line.split()[1]: line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("m ")}
    assert lines["old"][2:5] == ["60%", "2", "100.0%"]
    assert lines["young"][2:5] == ["60%", "1", "0.0%"]
    assert (lines["old"][-1], lines["young"][-1]) == ("100.0%", "0.0%"), "answered"
    assert {(path, body["temperature"]) for path, body, _ in server.asked} == {("/v1/completions", 0.0)}
    rows = pq.read_table("evaluation/memorised.parquet")
    assert rows.filter(rows["completed"])["id"].to_pylist() == ["old:a", "old:b"] or rows["completed"].to_pylist() == [
        True,
        True,
        False,
    ]
    assert main([*words]) == 0
    assert len(server.asked) == 3, "nothing is asked for twice"
    assert pq.read_table("evaluation/memorised.parquet").num_rows == 3


def test_the_page_says_it_and_scores_the_models_without_such_problems(server) -> None:
    main(["memorised", f"m={server.url}", "--benchmarks", "old.jsonl", "young.jsonl", "--shown", "60"])
    main(
        ["evaluate", f"m={server.url}", f"n={server.url}", "--benchmarks", "old.jsonl", "young.jsonl", "--samples", "1"]
    )
    run = read_run("evaluation")
    assert "| m | old | 60 | 2 | 100.0 | 100.0 | 100.0 |" in to_markdown("t", [memorised_section(run)])
    assert dict(other_ways(run))["without problems that a model completes from their beginning"] == {
        "m": {"young": 0.0}, "n": {"young": 0.0},
    }  # fmt: skip


def test_long_names_are_shown_whole(server, capsys) -> None:
    name, benchmark = "a-model-whose-name-is-longer-than-most", "problems-of-the-year-2026"
    Path(f"{benchmark}.jsonl").write_text(Path("old.jsonl").read_text())
    main(["memorised", f"{name}={server.url}", "--benchmarks", f"{benchmark}.jsonl", "--shown", "60"])
    main(["evaluate", f"{name}={server.url}", "--benchmarks", f"{benchmark}.jsonl", "--samples", "1"])
    assert capsys.readouterr().out.count(f"\n{name} {benchmark} ") == 2


def test_that_nothing_can_be_asked_is_told(server, capsys) -> None:
    Path("short.jsonl").write_text(json.dumps({"id": "s", "problem": "What is the sum of 2 and 2?", "answer": "4"}))
    assert main(["memorised", f"m={server.url}", "--benchmarks", "short.jsonl", "--shown", "80"]) == 0
    assert "no problem has an end of 5 words to ask m for" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--benchmarks", "old.jsonl"), "give a MODEL or --server URL"),
        (
            ("m=URL", "--benchmarks", "old.jsonl", "--shown", "100"),
            "--shown 100: give percent of a problem, from 1 to 99",
        ),
        (("m=URL", "--benchmarks", "gone.jsonl"), "gone.jsonl"),
    ],
)
def test_what_cannot_be_probed_is_named(words, message, server, capsys) -> None:
    assert main(["memorised", *(word.replace("URL", server.url) for word in words)]) == 1
    assert message in capsys.readouterr().err
