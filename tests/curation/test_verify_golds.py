"""Golds that cannot be trusted are dropped, each for its reason."""

from __future__ import annotations

import json

import pytest

from compass.curation.verify_golds import perturbed, rewritten, suspicious, verify_golds
from compass.records import record_id, table
from compass.settings import Verify


def records(*golds):
    return table([{"id": record_id("s", str(n)), "source": "s", "answer": gold} for n, gold in enumerate(golds)])


def reasons(*golds, rollouts=None, **settings):
    found = records(*golds)
    kept, dropped = verify_golds(found, Verify(**settings), rollouts, processes=1)
    assert kept.num_rows + dropped.num_rows == len(golds)
    return dict(zip(dropped.column("answer").to_pylist(), dropped.column("reason").to_pylist(), strict=True)), kept


GOOD = ["60", "0", "-3", "\\frac{1}{10}", "\\frac{1}{2}", "1:1", "0.25", "(1,2)", "[0, \\infty)", "x=3", "\\pi", "2\\sqrt{3}",
        "\\{1,2\\}", "50\\%", "x-y+1=0", "\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}", "Tuesday"]  # fmt: skip


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


@pytest.mark.parametrize("gold", GOOD)
def test_copies_are_other_texts(gold):
    kind = "text" if gold == "Tuesday" else "constant"
    assert gold not in (*perturbed(gold, kind), *rewritten(gold, kind))


def test_labels_alone_are_never_perturbed():
    assert perturbed("x_1 = 3", "equation") == ["x_2 = 4", "x_2 = 5"]
    assert perturbed("9", "integer") == ["1"]


def answers(*pairs):
    return [(answer, correct) for answer, correct in pairs]


def test_rollouts_that_agree_against_the_gold_make_it_suspicious():
    settings = Verify(suspicious_agreement=0.75, suspicious_min_rollouts=8)
    wrong = answers(*[("\\frac{1}{2}", False)] * 3, *[("0.5", False)] * 3, ("7", True), (None, False))
    drop = suspicious("7", wrong, settings)
    assert drop.reason == "suspicious_gold"
    assert drop.evidence == {"answer": "7", "rollouts_say": "\\frac{1}{2}", "agree": 6, "rollouts": 8}
    assert suspicious("7", wrong[:7], settings) is None
    scattered = answers(*[(str(n), False) for n in range(8)])
    assert suspicious("70", scattered, settings) is None
    assert suspicious("7", answers(*[("7", True)] * 8), settings) is None


def test_suspicious_golds_are_dropped_by_id():
    found = records("7", "8")
    id_ = found.column("id")[0].as_py()
    kept, dropped = verify_golds(found, Verify(), {id_: [("5", False)] * 8}, processes=1)
    assert kept.column("answer").to_pylist() == ["8"]
    assert dropped.column("reason").to_pylist() == ["suspicious_gold"]
    assert json.loads(dropped.column("evidence")[0].as_py())["rollouts_say"] == "5"
