"""Words for a missing answer are no golds; words that can be an answer are."""

from __future__ import annotations

import json

import pytest

from compass.settings import Collect, Source
from compass.sources.collect import collect
from compass.sources.gold import is_placeholder

VALUE = "Compute the area of a rectangle with sides 3 and 4."


@pytest.mark.parametrize(
    "gold",
    [
        "notfound", "Not found.", "NOT_FOUND", "N/A", "n/a", "NA", "NaN", "nan", "null", "NULL", "unknown", "Unknown.", "TBD", "to be determined",
        "see solution", "See the solution.", "see explanation", "See figure", "proof", "Proof.", "Q.E.D.", r"$\blacksquare$", "□", "answer", "[answer]",
        r"\boxed{answer}", "Your answer", "Answer:", "no answer found", "No answer", "not provided", r"\text{N/A}", "?", "??", "...", "--", "—", "-", "…",
        r"\boxed{}", "$$", "{}", r"\text{}", "None", "none", r"\text{None}", "略", "见解析", "略。", "无", "答案略", "未知", "missing answer", "ver solución",
        "___", "omitted", "[REDACTED]",
    ],
)  # fmt: skip
def test_words_for_a_missing_answer(gold):
    assert is_placeholder(gold, VALUE)


@pytest.mark.parametrize(
    ("gold", "problem"),
    [
        ("None", "Find all primes p for which p + 1 and p + 2 are both prime squares."),
        ("none", "How many of these numbers are odd?"),
        ("None", "Which of the following lines are parallel?"),
        ("none", "Solve x + 1 = x."),
        ("无", "方程 x+1=x 的解是什么?"),
        ("no solution", VALUE),
        ("No real solutions", VALUE),
        ("undefined", "What is the slope of the line through (1, 2) and (1, 5)?"),
        ("does not exist", VALUE),
        ("not enough information", VALUE),
        ("-", "What sign does the product have?"),
        ("-", "Which operator makes 6 ? 3 = 3 true?"),
        ("+", VALUE),
        ("=", "Fill in <, > or =: 1/2 and 2/4."),
        (r"\{\}", "Find all x with x^2 = -1."),
        (r"\emptyset", VALUE),
        ("[]", VALUE),
        ("Na", "Which element is it?"),
        ("XXX", "Write 30 in Roman numerals."),
        ("x", VALUE),
        ("12", VALUE),
        ("-1", VALUE),
        ("", VALUE),
        ("the proof of Euclid", VALUE),
        ("unknown quantity x = 5", VALUE),
        (r"\frac{1}{2}", VALUE),
        ("A", VALUE),
    ],
)
def test_words_that_can_be_an_answer(gold, problem):
    assert not is_placeholder(gold, problem)


def test_collect_drops_them_with_the_word_as_evidence(tmp_path):
    path = tmp_path / "s.jsonl"
    golds = ["12", "see solution", "None"]
    path.write_text("".join(json.dumps({"problem": VALUE, "answer": gold}) + "\n" for gold in golds))
    source = Source(name="s", path=str(path))
    found = collect([source], Collect(sources=[source], benchmarks=[]))
    assert found.kept["answer"].to_pylist() == ["12"]
    assert found.dropped["reason"].to_pylist() == ["placeholder_gold"] * 2
    assert json.loads(found.dropped["evidence"][0].as_py()) == {"answer": "see solution", "field": "answer"}
    assert found.sources["s"]["dropped"] == {"placeholder_gold": 2}
