"""A model as judge, asked through a real HTTP server that answers with the chat-completions protocol."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from compass.cli import main
from compass.curation.judge import ModelJudge
from compass.curation.noise.finding import Finding, Strength
from compass.curation.noise.own_filter import load_filter
from compass.errors import UserError
from compass.evaluation.row_labels import curated_rows, measured_rows
from compass.report.outputs import open_outputs
from compass.sampling.model_source import SamplingError
from compass.settings import Denoise

RECORD = {"id": "a", "problem": r"What is $\frac{3}{1} + {4}$?", "answer": "7"}


@pytest.fixture
def judge(openai_server, tmp_path: Path):
    def make(question: str = "unsolvable", **options) -> ModelJudge:
        return ModelJudge(openai_server.url, question, folder=tmp_path / "judge", **options)

    return make


def answer(openai_server, question: str, record: dict, reply: str) -> str:
    """Have the server answer so when it is asked the question about this row; the text that it is asked."""
    text = ModelJudge(openai_server.url, question)._text(record)
    openai_server.answers[text] = reply
    return text


@pytest.mark.parametrize(
    ("question", "reply", "found"),
    [
        ("unsolvable", "Yes", True),
        ("unsolvable", "No.", False),
        ("unsolvable", "<think>no? yes? yes.</think>\n\nno", False),
        ("proof", "**Yes**, it does.", True),
        ("several_parts", "no", False),
        ("wrong_gold", "no", True),
        ("wrong_gold", "YES", False),
    ],
)
def test_the_reply_to_a_question_is_a_finding_or_none(judge, openai_server, question, reply, found) -> None:
    answer(openai_server, question, RECORD, reply)
    finding = judge(question, strength=Strength.LIKELY)(RECORD, Denoise())
    evidence = {"reply": reply, "model": "m"}
    assert finding == (Finding(f"judge_{question}", Strength.LIKELY, evidence) if found else None)


@pytest.mark.parametrize("reply", ["I cannot tell.", "", "<think>yes, because", "yesterday"])
def test_a_reply_without_a_verdict_is_said(judge, openai_server, reply) -> None:
    answer(openai_server, "proof", RECORD, reply)
    finding = judge("proof")(RECORD, Denoise())
    assert finding == Finding("judge_unread", Strength.POSSIBLE, {"question": "proof", "reply": reply, "model": "m"})


def test_problem_and_gold_are_in_what_is_asked_greedily_and_short(judge, openai_server) -> None:
    text = answer(openai_server, "wrong_gold", RECORD, "yes")
    judge("wrong_gold", max_tokens=9)(RECORD, Denoise())
    (path, body, _) = openai_server.asked[-1]
    assert (path, body["temperature"], body["max_tokens"]) == ("/v1/chat/completions", 0.0, 9)
    assert body["messages"] == [{"role": "user", "content": text}]
    assert RECORD["problem"] in text
    assert "Published answer: 7" in text


def test_a_batch_is_asked_at_once_and_no_row_twice_in_the_same_words(judge, openai_server) -> None:
    rows = [{"id": str(n), "problem": f"What is {n % 5} + 4?", "answer": "7"} for n in range(10)]
    for row in rows[:5]:
        answer(openai_server, "unsolvable", row, "no")
    first = judge()
    first.prepare(rows, Denoise())
    assert [first(row, Denoise()) for row in rows] == [None] * 10
    posted = [body for path, body, _ in openai_server.asked if path.endswith("completions")]
    assert len(posted) == 5
    again = judge()
    again.prepare(rows, Denoise())
    assert again(rows[0], Denoise()) is None
    assert len([one for one in openai_server.asked if one[0].endswith("completions")]) == 5
    judge("proof")(rows[0], Denoise())
    assert len([one for one in openai_server.asked if one[0].endswith("completions")]) == 6


def test_questions_of_ones_own_and_those_that_are_not_there(judge, openai_server) -> None:
    own = {"boring": ("{problem}\n\nIs this boring?", "yes")}
    openai_server.answers[f"{RECORD['problem']}\n\nIs this boring? Answer with yes or no alone."] = "yes"
    assert judge("boring", ask=own)(RECORD, Denoise()).reason == "judge_boring"
    with pytest.raises(UserError, match=r"no question 'prof'; did you mean proof\? there are unsolvable, proof"):
        judge("prof")
    with pytest.raises(SamplingError, match="is it an OpenAI-compatible server that runs"):
        ModelJudge("http://127.0.0.1:9", "proof")(RECORD, Denoise())


def test_a_reply_that_the_server_cannot_give_is_no_reply(judge) -> None:
    with pytest.raises(SamplingError, match="judge: no response to 1 problem"):
        judge("ill", ask={"ill": ("ill: {problem}", "yes")})(RECORD, Denoise())


def test_curate_asks_it_by_a_module_of_the_users_and_labels_measure_it(
    openai_server, tmp_path: Path, monkeypatch, capsys
) -> None:
    (tmp_path / "my_judge.py").write_text(
        f"from compass.curation.judge import ModelJudge\nunsolvable = ModelJudge({openai_server.url!r}, 'unsolvable')\n"
    )
    monkeypatch.chdir(tmp_path)
    rows = [{"problem": f"What is the sum of {n} and {n * n + 1}?", "answer": str(n + n * n + 1)} for n in range(8)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for number, row in enumerate(rows):
        answer(openai_server, "unsolvable", row, "yes" if number < 2 else "no")
    words = ["curate", "rows.jsonl", "--filter", "my_judge:unsolvable"]
    assert main([*words, "--out", "one"]) == 0
    outputs = open_outputs(Path("one"))
    kept = pq.read_table(outputs.last)
    judged = curated_rows(outputs.ledger(), kept)
    assert sum(row.findings == (("judge_unsolvable", "possible"),) for row in judged) == 2
    labels = {row.key: not row.findings for row in judged[1:]}  # the person agrees with the judge
    found = measured_rows(judged, labels)["findings"]["judge_unsolvable"]
    assert (found["possible"]["unfit"] + found["without"]["labelled"], found["without"]["unfit"]) == (7, 0)
    asked = len(openai_server.asked)
    load_filter.cache_clear()
    assert main([*words, "--out", "two"]) == 0
    assert {path for path, *_ in openai_server.asked[asked:]} <= {"/v1/models"}
    assert (tmp_path / "two/verify/kept.parquet").read_bytes() == (tmp_path / "one/verify/kept.parquet").read_bytes()


def test_the_example_names_filters_that_exist() -> None:
    for name in ("unsolvable", "wrong_gold"):
        assert load_filter(f"examples.own_csv.own_judge:{name}")
