"""Golds that cannot be trusted are dropped, each for its reason."""

from __future__ import annotations

import json

import pytest

from compass.curation import verify_golds as module
from compass.curation.verify_golds import check_golds, perturbed, rewritten, suspicious, verify_golds
from compass.records import record_id, table
from compass.settings import Verify
from compass.verifier import Outcome, Verdict


def records(*golds):
    return table([{"id": record_id("s", str(n)), "source": "s", "answer": gold} for n, gold in enumerate(golds)])


def reasons(*golds, rollouts=None, **settings):
    found = records(*golds)
    kept, dropped = verify_golds(found, Verify(**settings), rollouts)
    assert kept.num_rows + dropped.num_rows == len(golds)
    return dict(zip(dropped.column("answer").to_pylist(), dropped.column("reason").to_pylist(), strict=True)), kept


GOOD = ["60", "0", "-3", "\\frac{1}{10}", "\\frac{1}{2}", "1:1", "0.25", "(1,2)", "[0, \\infty)", "x=3", "\\pi", "2\\sqrt{3}",
        "\\{1,2\\}", "50\\%", "x-y+1=0", "\\infty", "14th", "5^{th}", "\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}", "Tuesday",
        "8 (garden chairs)", "even $k$"]  # fmt: skip


def test_good_golds_stay_and_get_their_type():
    dropped, kept = reasons(*GOOD)
    assert dropped == {}
    types = dict(zip(kept.column("answer").to_pylist(), kept.column("answer_type").to_pylist(), strict=True))
    assert types["60"] == "integer"
    assert types["(1,2)"] == "tuple"
    assert None not in types.values()


@pytest.mark.parametrize("gold", ["\\frac{3}{}", "5 +", "\\sqrt{} 4", "= 4 / / =", "4 \\times \\times", "((4"])
def test_golds_that_cannot_be_read_are_dropped(gold):
    assert reasons(gold)[0] == {gold: "unreadable_gold"}


def test_opinions_are_no_golds():
    gold = "\\text{The first player always wins because 60 is even.}"
    assert reasons(gold)[0] == {gold: "unreadable_gold"}
    assert reasons("\\text{no real solutions}")[0] == {}


def answers(*pairs):
    return [(answer, correct) for answer, correct in pairs]


@pytest.mark.parametrize(
    ("gold", "kind", "copies"),
    [
        ("7", "integer", [" 7 ", "$7$", "1 \\cdot (7)"]),
        ("7.", "integer", [" 7. ", "$7.$", "1 \\cdot (7)"]),
        ("$7$", "integer", [" $7$ "]),
        ("\\(7\\)", "integer", [" \\(7\\) ", "1 \\cdot (\\(7\\))"]),
        ("\\[7\\]", "integer", [" \\[7\\] "]),
        ("\\frac12", "fraction", [" \\frac12 ", "$\\frac12$", "\\dfrac12", "1 \\cdot (\\frac12)"]),
        ("(1,2)", "tuple", [" (1,2) ", "$(1,2)$", "\\left(1,2\\right)"]),
        ("\\left(1,2\\right)", "tuple", [" \\left(1,2\\right) ", "$\\left(1,2\\right)$"]),
        ("\\Big(1,2\\Big)", "tuple", [" \\Big(1,2\\Big) ", "$\\Big(1,2\\Big)$"]),
        ("(1", "expression", [" (1 ", "$(1$", "1 \\cdot ((1)"]),
        ("n=2", "integer", [" n=2 ", "$n=2$"]),
        ("1,000", "integer", [" 1,000 ", "$1,000$"]),
        ("7 \\text{ cm}", "integer", [" 7 \\text{ cm} ", "$7 \\text{ cm}$"]),
        ("Tuesday", "text", [" Tuesday ", "$Tuesday$"]),
        (
            "8 (garden chairs)",
            "integer",
            [" 8 (garden chairs) ", "$8 (garden chairs)$", "8 \\left(garden chairs\\right)"],
        ),
    ],
)
def test_copies_that_mean_the_same(gold, kind, copies):
    assert rewritten(gold, kind) == copies


@pytest.mark.parametrize(
    ("gold", "kind", "copies"),
    [
        ("1", "integer", ["2"]),
        ("9", "integer", ["1"]),
        ("0", "integer", ["1"]),
        ("12.5", "decimal", ["22.5"]),
        ("1/2", "fraction", ["2/3", "2/4"]),
        ("1,2,3", "set", ["2,2,3"]),
        ("8+8", "expression", ["9+9", "9+1"]),
        ("+".join("1" * 10), "expression", ["+".join("2" * 10), "2+3+4+5+6+7+8+9+2+3"]),
        ("Tuesday", "text", ["Tuesdaq"]),
        ("Iraq.", "text", ["Iraz."]),
        ("even $k$", "text", ["eveq $k$"]),
        ("\\pi", "constant", ["\\pi+1"]),
        ("  ", "constant", []),
    ],
)
def test_copies_of_which_one_means_something_else(gold, kind, copies):
    assert perturbed(gold, kind) == copies


def gold_drop(gold, **settings):
    _, dropped = verify_golds(records(gold), Verify(**settings))
    return json.loads(dropped.column("evidence")[0].as_py()) if dropped.num_rows else None


def test_a_gold_of_more_words_than_the_limit_is_an_explanation():
    assert gold_drop("\\text{one two three four}", max_text_words=4, wordy_golds="keep") is None
    assert gold_drop("\\text{one two three four five}", max_text_words=4) == {
        "answer": "\\text{one two three four five}",
        "words": 5,
        "limit": 4,
    }


def test_a_gold_that_only_its_own_words_match_is_dropped_or_marked():
    assert reasons("Ann goes first")[0] == {"Ann goes first": "wordy_gold"}
    assert gold_drop("Ann goes first") == {"answer": "Ann goes first"}
    dropped, kept = reasons("Ann goes first", "Ann", "7", wordy_golds="keep")
    assert (dropped, kept["answer_type"].to_pylist()) == ({}, ["wording", "text", "integer"])


@pytest.mark.parametrize(
    ("gold", "dropped"),
    [
        ("all $(c,v)$ for which $c,v>1$ and $\\log c \\in \\mathbb{Q}$", True),
        ("All prime numbers, 1, 4, and 6.", True),
        ("If $ab=0$, then $a=0$", True),
        ("1, 3, \\text{ and all even } n > 3", True),
        ("\\begin{cases} n & \\text{if } n > 1 \\\\ 2 & \\text{if } n = 1 \\end{cases}", False),
        ("$f(x) = x$ for all real $x$", False),
        ("all real numbers", False),
    ],
)
def test_formulas_that_words_tie_to_a_condition_are_a_statement(gold, dropped):
    assert reasons(gold)[0].get(gold) == ("wordy_gold" if dropped else None)


def several(*alternatives, answer, **settings):
    row = {"id": "a", "source": "s", "answer": answer, "alternatives": list(alternatives) or None}
    kept, dropped = verify_golds(table([row]), Verify(**settings))
    assert kept.num_rows + dropped.num_rows == 1
    return [(one["answer"], one["alternatives"]) for one in kept.to_pylist()], dropped["reason"].to_pylist()


def test_of_several_golds_those_that_can_be_trusted_stay():
    assert several("0.5", answer="1/2") == ([("1/2", ["0.5"])], [])
    assert several("((4", "0.5", answer="\\frac{3}{}") == ([("0.5", None)], [])
    assert several("((4", answer="7") == ([("7", None)], [])
    assert several(answer="7") == ([("7", None)], [])
    assert several("((4", answer="\\frac{3}{}") == ([], ["unreadable_gold"])


def test_based_numbers_are_golds_whatever_their_sign_and_digits():
    assert reasons("-221_3", "-37_8", "\\text{A5}_{11}", "1A_{16}")[0] == {}


def verdict(outcome):
    return Verdict(outcome=Outcome(outcome), method="test", detail="why")


@pytest.mark.parametrize(
    ("outcomes", "reason", "evidence"),
    [
        ({}, None, None),
        ({"7": "unrecognised"}, "unreadable_gold", {"detail": "why"}),
        ({"7": "different"}, "unstable_gold", {"differs_from": "itself", "detail": "why"}),
        ({"$7$": "different"}, "unstable_gold", {"differs_from": "$7$", "detail": "why"}),
        ({"$7$": "unrecognised"}, "unreadable_gold", {"differs_from": "$7$", "detail": "why"}),
        ({"8": "equal"}, "unstable_gold", {"equals": "8"}),
    ],
)
def test_the_verifiers_outcomes_decide(monkeypatch, outcomes, reason, evidence):
    """`outcomes` of the copies of 7; of the others, those that mean the same are equal and 8 is different."""
    usual = {"8": "different"}
    monkeypatch.setattr(
        module,
        "verify_many",
        lambda pairs, processes: [verdict((usual | outcomes).get(copy, "equal")) for _, copy in pairs],
    )
    drop = check_golds(["7"], Verify(), {"7": "integer"})["7"]
    assert (drop and str(drop.reason)) == reason
    if drop:
        assert drop.evidence == {"answer": "7"} | evidence


def test_without_the_check_of_copies_a_gold_is_compared_with_itself_alone(monkeypatch):
    asked = []
    monkeypatch.setattr(
        module, "verify_many", lambda pairs, processes: [asked.append(pair) or verdict("equal") for pair in pairs]
    )
    assert check_golds(["7"], Verify(require_self_equal=False), {"7": "integer"}) == {"7": None}
    assert asked == [("7", "7")]


def test_one_perturbed_copy_may_mean_the_same(monkeypatch):
    monkeypatch.setattr(
        module,
        "verify_many",
        lambda pairs, processes: [verdict("different" if copy == "2/4" else "equal") for _, copy in pairs],
    )
    assert check_golds(["1/2"], Verify(), {"1/2": "fraction"}) == {"1/2": None}


def test_the_share_and_number_of_rollouts_that_make_a_gold_suspicious():
    settings = Verify(suspicious_agreement=0.5, suspicious_min_rollouts=4)
    assert suspicious("7", answers(("5", False), ("5", False), ("7", True), (None, False)), settings).evidence == {
        "answer": "7",
        "rollouts_say": "5",
        "agree": 2,
        "rollouts": 4,
    }
    assert suspicious("7", answers(("5", False), ("6", False), ("7", True), (None, False)), settings) is None
    assert suspicious("7", answers(("5", False), ("5", True), ("7", True), (None, False)), settings) is None
    assert suspicious("7", answers(("5", False), ("5", False), ("7", True)), settings) is None
    assert (
        suspicious("7", answers(*[("7", True)] * 4), Verify(suspicious_agreement=0, suspicious_min_rollouts=4)) is None
    )


def test_the_largest_group_speaks_with_its_first_answer():
    settings = Verify(suspicious_agreement=0.5, suspicious_min_rollouts=4)
    said = answers(("3", False), (" \\frac{1}{2} ", False), ("0.5", False), ("1/2", False), ("3", False))
    drop = suspicious("7", said, settings)
    assert (drop.evidence["rollouts_say"], drop.evidence["agree"]) == ("\\frac{1}{2}", 3)
    tied = answers(("4", False), ("3", False), ("3", False), ("4", False))
    assert suspicious("7", tied, settings).evidence["rollouts_say"] == "4"
    long = "1" * 300
    drop = suspicious(long, answers(*[("2" * 300, False)] * 4), settings)
    assert (drop.evidence["answer"], drop.evidence["rollouts_say"]) == (long[:200], "2" * 200)


@pytest.mark.parametrize(("gold", "reason"), [("7", "suspicious_gold"), ("5 +", "unreadable_gold")])
def test_rollouts_make_a_gold_suspicious_and_do_not_replace_a_verdict_on_it(gold, reason):
    found = records(gold, "8")
    id_ = found.column("id")[0].as_py()
    kept, dropped = verify_golds(found, Verify(), {id_: [("5", False)] * 8})
    assert kept.column("answer").to_pylist() == ["8"]
    assert dropped.column("reason").to_pylist() == [reason]
    said = json.loads(dropped.column("evidence")[0].as_py()).get("rollouts_say")
    assert said == ("5" if reason == "suspicious_gold" else None)
