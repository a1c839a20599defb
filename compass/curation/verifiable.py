"""Golds that the verifier can be trusted with (report, section 4.2, last paragraph).

A gold is dropped when the verifier cannot read it (`unreadable_gold`), when it does not equal itself rewritten or does
equal a perturbed copy (`unstable_gold`), and when many graded rollouts agree with each other and contradict it
(`suspicious_gold`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pyarrow as pa

from compass.records import Drop, Reason, Verdict, split
from compass.settings import Verify

Pairs = Sequence[tuple[str, str]]
"""Pairs of a gold and an answer."""

_NUMBER = re.compile(r"\d[\d.,]*")
_WORD = re.compile(r"[^\W\d_]{2,}")
_LATEX = re.compile(r"\\(?:text|textbf|mathrm|mbox|textit)\s*\{|\\[A-Za-z]+|[{}$]")


def verifiable(
    records: pa.Table,
    settings: Verify,
    rollouts: dict[str, list[tuple[str | None, bool]]] | None = None,
    *,
    processes: int | None = None,
) -> tuple[pa.Table, pa.Table]:
    """Drop records whose gold cannot be trusted, and fill `answer_type` of the others.

    Args:
        records: `RECORD` rows.
        settings: the section `verify`.
        rollouts: for each graded record's id its rollouts as (extracted answer or None, correct).
        processes: worker processes of the verifier; None takes one a core.

    Returns:
        Kept rows with `answer_type`, and dropped rows.
    """
    from compass.verifier import answer_type

    golds = [gold or "" for gold in records.column("answer").to_pylist()]
    unique = list(dict.fromkeys(golds))
    kinds = {gold: answer_type(gold) for gold in unique}
    found = check_golds(unique, settings, kinds, processes=processes)
    verdicts: list[Verdict] = [found[gold] for gold in golds]
    if rollouts:
        ids = records.column("id").to_pylist()
        for row, (id_, gold) in enumerate(zip(ids, golds, strict=True)):
            if verdicts[row] is None and id_ in rollouts:
                verdicts[row] = suspicious(gold, rollouts[id_], settings)
    position = records.schema.get_field_index("answer_type")
    types = pa.array([kinds[gold] for gold in golds], type=pa.string())
    return split(records.set_column(position, records.schema.field(position), types), verdicts, "verify")


def check_golds(
    golds: Sequence[str], settings: Verify, kinds: dict[str, str], *, processes: int | None = None
) -> dict[str, Verdict]:
    """For each gold the verdict of the verifier on the gold alone; `kinds` holds the golds' answer types."""
    from compass.verifier import verify_many

    pairs: list[tuple[str, str]] = []
    for gold in golds:
        pairs.append((gold, gold))
        if settings.require_self_equal:
            pairs += [(gold, copy) for copy in (*rewritten(gold), *perturbed(gold, kinds[gold]))]
    outcomes = dict(zip(pairs, verify_many(pairs, processes=processes), strict=True))
    return {gold: _gold_verdict(gold, kinds[gold], settings, outcomes) for gold in golds}


def _gold_verdict(gold: str, kind: str, settings: Verify, outcomes: dict[tuple[str, str], Any]) -> Verdict:
    if len(words := prose_words(gold)) > settings.max_text_words and kind in ("text", "unknown"):
        return Drop(
            Reason.UNREADABLE_GOLD, {"answer": gold[:200], "words": len(words), "limit": settings.max_text_words}
        )
    itself = outcomes[gold, gold]
    if itself.outcome == "unrecognised":
        return Drop(Reason.UNREADABLE_GOLD, {"answer": gold[:200], "detail": itself.detail})
    if itself.outcome != "equal":
        return Drop(Reason.UNSTABLE_GOLD, {"answer": gold[:200], "differs_from": "itself", "detail": itself.detail})
    if not settings.require_self_equal:
        return None
    for copy in rewritten(gold):
        if outcomes[gold, copy].outcome != "equal":
            return Drop(Reason.UNSTABLE_GOLD, {"answer": gold[:200], "differs_from": copy[:200]})
    for copy in perturbed(gold, kind):
        if outcomes[gold, copy].outcome == "equal":
            return Drop(Reason.UNSTABLE_GOLD, {"answer": gold[:200], "equals": copy[:200]})
    return None


def rewritten(gold: str) -> list[str]:
    """Copies of a gold that mean the same, whatever it is: other delimiters, other sizes of brackets and fractions."""
    copies = [f" {gold} "]
    if "$" not in gold and "\\(" not in gold and "\\[" not in gold:
        copies.append(f"${gold}$")
    if "\\frac" in gold:
        copies.append(gold.replace("\\frac", "\\dfrac"))
    if "(" in gold and ")" in gold and "\\left" not in gold and "\\(" not in gold and "\\big" not in gold.lower():
        copies.append(gold.replace("(", "\\left(").replace(")", "\\right)"))
    return copies


def perturbed(gold: str, kind: str) -> list[str]:
    """Copies of a gold that mean something else.

    Every number gets another leading digit, all at once: one alone could be a label, as in `x_1 = 3`. Without numbers,
    a word gets another letter and a formula one more summand.
    """
    if _NUMBER.search(gold):
        return [_NUMBER.sub(_other_number, gold)]
    if kind == "text":
        return [re.sub(r"([^\W\d_])([^A-Za-z]*)$", lambda end: ("q" if end[1] not in "qQ" else "z") + end[2], gold)]
    return [f"{gold}+1"] if gold.strip() else []


def _other_number(match: re.Match[str]) -> str:
    lead = match[0][0]
    return ("8" if lead == "9" else str(int(lead) + 1)) + match[0][1:]


def prose_words(gold: str) -> list[str]:
    """The words of a gold, LaTeX commands aside."""
    return _WORD.findall(_LATEX.sub(" ", gold))


def suspicious(
    gold: str,
    rollouts: Sequence[tuple[str | None, bool]],
    settings: Verify,
    equal: Callable[[str, str], bool] | None = None,
) -> Verdict:
    """Whether a problem's rollouts agree on one answer that is not the gold.

    Args:
        gold: the gold answer.
        rollouts: (extracted answer or None, correct) of each.
        settings: the share that must agree, and the fewest rollouts that count.
        equal: compares two answers; the verifier's when None.
    """
    if len(rollouts) < settings.suspicious_min_rollouts:
        return None
    need = settings.suspicious_agreement * len(rollouts)
    wrong = [answer for answer, correct in rollouts if answer and not correct]
    if len(wrong) < need:
        return None
    for answer, count in _agreeing(wrong, equal or _verified_equal):
        if count >= need:
            return Drop(
                Reason.SUSPICIOUS_GOLD,
                {"answer": gold[:200], "rollouts_say": answer[:200], "agree": count, "rollouts": len(rollouts)},
            )
    return None


def _agreeing(answers: Iterable[str], equal: Callable[[str, str], bool]) -> list[tuple[str, int]]:
    """Groups of equal answers with their sizes, largest first."""
    counts: dict[str, int] = {}
    for answer in answers:
        text = answer.strip()
        same = text if text in counts else next((known for known in counts if equal(known, text)), text)
        counts[same] = counts.get(same, 0) + 1
    return sorted(counts.items(), key=lambda item: -item[1])


def _verified_equal(one: str, other: str) -> bool:
    from compass.verifier import verify

    return verify(gold=one, answer=other).outcome == "equal"
