"""Golds that the verifier can be trusted with (report, section 4.2, last paragraph).

A gold is dropped when the verifier cannot read it (`unreadable_gold`), when it does not equal itself rewritten or does
equal a perturbed copy (`unstable_gold`), when it is a statement in words that no other wording equals (`wordy_gold`), and when many graded rollouts agree with each other and contradict it
(`suspicious_gold`). A record with several golds keeps those that can be trusted, the first of them as its answer.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count as counting

import pyarrow as pa

from compass.ledger import Drop, Reason, split
from compass.parallel import in_processes
from compass.progress import report
from compass.records import with_column
from compass.settings import Verify
from compass.verifier import Verdict, answer_type, group_equal, is_wordy, verify_many

BATCH = 500
"""Rows whose golds a process judges at a time."""

SMALL = 1_000
"""Fewer rows are judged in this process: starting others takes longer."""

REMEMBERED = 100_000
"""Golds whose verdicts a process remembers."""

WORDING = "wording"
"""The answer type of a gold that hardly any other wording equals."""

_NUMBER = re.compile(r"\d[\d.,]*")
_NO_FACTOR = re.compile(r"\\infty|∞|\d(?:\s|\^|\\?[{}]|\\[a-z]+)*(?:st|nd|rd|th)\b|\d\s*\([^\W\d_]{2,}[^()]*\)")
_CONDITION = re.compile(
    r"\A(?:if|all|every|let|there (?:is|are|exists?))\b|\b(?:and all|such that|for which|whenever|if and only if|provided)\b",
    re.I,
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_LATEX = re.compile(r"\\(?:text|textbf|mathrm|mbox|textit)\s*\{|\\[A-Za-z]+|[{}$]")


Rollouts = Mapping[str, Sequence[tuple[str | None, bool]]]
"""For each graded record's id its rollouts as (extracted answer or None, correct)."""


def verify_golds(records: pa.Table, settings: Verify, rollouts: Rollouts | None = None) -> tuple[pa.Table, pa.Table]:
    """`verify_pieces` of a table: kept and dropped rows."""
    pieces = (records.slice(low, BATCH) for low in range(0, records.num_rows, BATCH))
    split_up = list(verify_pieces(pieces, records.num_rows, settings, rollouts)) or [split(records, [], "verify")]
    kept, dropped = zip(*split_up, strict=True)
    return pa.concat_tables(kept), pa.concat_tables(dropped)


def verify_pieces(
    pieces: Iterable[pa.Table], count: int, settings: Verify, rollouts: Rollouts | None = None
) -> Iterator[tuple[pa.Table, pa.Table]]:
    """Drop records whose gold cannot be trusted, and fill `answer_type` of the others.

    Args:
        pieces: `RECORD` rows, in order; few pieces are held at a time.
        count: how many rows there are.
        settings: the section `verify`.
        rollouts: what models answered; None compares no gold with it.

    Returns:
        Kept rows with `answer_type`, and dropped rows, piece by piece.
    """
    waiting: deque[pa.Table] = deque()
    done = lost = 0

    def golds() -> Iterator[list[Asked]]:
        for piece in pieces:
            waiting.append(piece)
            ids, answers, others = (piece.column(name).to_pylist() for name in ("id", "answer", "alternatives"))
            yield [
                ((answer or "", *(more or ())), rollouts.get(id_, ()) if rollouts else ())
                for id_, answer, more in zip(ids, answers, others, strict=True)
            ]

    for judged in in_processes(partial(judge_golds, settings), golds(), workers=1 if count < SMALL else 0):
        kept, dropped = _split(waiting.popleft(), judged)
        done += len(judged)
        lost += dropped.num_rows
        report(done, count, "rows", "reading golds", detail=f"{lost:,} dropped")
        yield kept, dropped


Asked = tuple[tuple[str, ...], Sequence[tuple[str | None, bool]]]
"""A row's golds, and its rollouts."""

Judged = tuple[Drop | None, str, list[str] | None, str]
"""The verdict on a row, its gold, its other golds, and its answer type."""


def judge_golds(settings: Verify) -> Callable[[Sequence[Asked]], list[Judged]]:
    """What judges the golds of rows; a gold that comes again is not read again."""
    known: dict[str, tuple[Drop | None, str]] = {}

    def judge(rows: Sequence[Asked]) -> list[Judged]:
        if len(known) > REMEMBERED:
            known.clear()
        new = [gold for gold in dict.fromkeys(gold for golds, _ in rows for gold in golds) if gold not in known]
        kinds = {gold: answer_type(gold) for gold in new}
        for gold, drop in check_golds(new, settings, kinds).items():
            known[gold] = drop, WORDING if is_statement(gold, kinds[gold]) else kinds[gold]
        return [_judge_row(golds, answers) for golds, answers in rows]

    def _judge_row(golds: tuple[str, ...], answers: Sequence[tuple[str | None, bool]]) -> Judged:
        trusted = [gold for gold in golds if known[gold][0] is None]
        gold = (trusted or golds)[0]
        verdict, kind = known[gold]
        others = list(golds[1:] if verdict else trusted[1:]) or None
        return verdict or (suspicious(gold, answers, settings) if answers else None), gold, others, kind

    return judge


def _split(records: pa.Table, judged: Sequence[Judged]) -> tuple[pa.Table, pa.Table]:
    """Kept and dropped rows of a piece, with the golds that can be trusted."""
    verdicts, golds, others, types = zip(*judged, strict=True)
    several = records.column("alternatives").to_pylist()
    if any(several):
        answers = records.column("answer").to_pylist()
        answers = [gold if more else answer for gold, answer, more in zip(golds, answers, several, strict=True)]
        rest = [other if more else more for other, more in zip(others, several, strict=True)]
        records = with_column(with_column(records, "answer", answers), "alternatives", rest)
    return split(with_column(records, "answer_type", types), verdicts, "verify")


def check_golds(golds: Sequence[str], settings: Verify, kinds: dict[str, str]) -> dict[str, Drop | None]:
    """For each gold the verdict of the verifier on the gold alone; `kinds` holds the golds' answer types."""
    pairs: list[tuple[str, str]] = []
    for gold in golds:
        pairs.append((gold, gold))
        if settings.require_self_equal:
            pairs += [(gold, copy) for copy in (*rewritten(gold, kinds[gold]), *perturbed(gold, kinds[gold]))]
    outcomes = dict(zip(pairs, verify_many(pairs, processes=1), strict=True))
    return {gold: _gold_verdict(gold, kinds[gold], settings, outcomes) for gold in golds}


def _gold_verdict(gold: str, kind: str, settings: Verify, outcomes: dict[tuple[str, str], Verdict]) -> Drop | None:
    if len(words := prose_words(gold)) > settings.max_text_words and kind == "text":
        return Drop(
            Reason.UNREADABLE_GOLD, {"answer": gold[:200], "words": len(words), "limit": settings.max_text_words}
        )
    if settings.wordy_golds == "drop" and is_statement(gold, kind):
        return Drop(Reason.WORDY_GOLD, {"answer": gold[:200]})
    if kind == "unrecognised":  # equal to itself letter by letter at best: no other way of writing it earns a reward
        return Drop(Reason.UNREADABLE_GOLD, {"answer": gold[:200], "answer_type": kind})
    itself = outcomes[gold, gold]
    if itself.outcome == "unrecognised":
        return Drop(Reason.UNREADABLE_GOLD, {"answer": gold[:200], "detail": itself.detail})
    if not itself.equal:
        return Drop(Reason.UNSTABLE_GOLD, {"answer": gold[:200], "differs_from": "itself", "detail": itself.detail})
    if not settings.require_self_equal:
        return None
    for copy in rewritten(gold, kind):
        verdict = outcomes[gold, copy]
        if not verdict.equal:
            reason = Reason.UNREADABLE_GOLD if verdict.outcome == "unrecognised" else Reason.UNSTABLE_GOLD
            return Drop(reason, {"answer": gold[:200], "differs_from": copy[:200], "detail": verdict.detail})
    copies = perturbed(gold, kind)
    if copies and all(outcomes[gold, copy].equal for copy in copies):
        return Drop(Reason.UNSTABLE_GOLD, {"answer": gold[:200], "equals": copies[-1][:200]})
    return None


VALUES = frozenset(("integer", "fraction", "decimal", "constant", "expression", "complex"))
"""Answer types that a factor of 1 leaves as they are."""


def rewritten(gold: str, kind: str) -> list[str]:
    """Copies of a gold that mean the same: other delimiters, other sizes of brackets and fractions, a factor of 1.

    The factor takes values past the comparison of texts, which finds even an empty fraction equal to itself.
    """
    copies = [f" {gold} "]
    if "$" not in gold and "\\(" not in gold and "\\[" not in gold:
        copies.append(f"${gold}$")
    if "\\frac" in gold:
        copies.append(gold.replace("\\frac", "\\dfrac"))
    if "(" in gold and ")" in gold and "\\left" not in gold and "\\(" not in gold and "\\big" not in gold.lower():
        copies.append(gold.replace("(", "\\left(").replace(")", "\\right)"))
    # `n = 2` counts as an integer, and 1,000 in brackets as a pair: no factor there. An ordinal is no factor, infinity no number,
    # and a unit in brackets belongs to the number before it.
    if (
        kind in VALUES
        and not _NO_FACTOR.search(gold)
        and not any(sign in gold for sign in "$=<>,:")
        and "\\[" not in gold
        and "\\text" not in gold
    ):
        copies.append(f"1 \\cdot ({gold.strip().rstrip('.')})")
    return copies


def perturbed(gold: str, kind: str) -> list[str]:
    """Copies of a gold of which at least one means something else.

    Every number gets another leading digit, all at once, since one alone could be a label as in `x_1 = 3`: by one step
    each, and by a step more from number to number. One copy may happen to mean the same (1/10 and 2/20, 1/2 and 2/4), not
    both. Without numbers, the longest word gets another letter and a formula one more summand.
    """
    if _NUMBER.search(gold):
        steps = counting(1)
        alike = _NUMBER.sub(lambda number: _other_number(number[0], 1), gold)
        rising = _NUMBER.sub(lambda number: _other_number(number[0], next(steps)), gold)
        return list(dict.fromkeys((alike, rising)))
    if kind == "text":
        word = max(prose_words(gold), key=len, default=gold)
        return [gold.replace(word, word[:-1] + ("q" if word[-1] not in "qQ" else "z"))]
    return [f"{gold}+1"] if gold.strip() else []


def _other_number(number: str, step: int) -> str:
    return str((int(number[0]) + (step - 1) % 8) % 9 + 1) + number[1:]


def is_statement(gold: str, kind: str) -> bool:
    """Whether a gold is a statement in words: one without a value, or formulas that words tie to a condition ("all primes and 4",
    "n such that 3 divides n", "If a = 0, then b = 1"), which an answer equals only where it chooses the same words.
    """
    if is_wordy(gold):
        return True
    return (
        kind not in ("text", "cases") and "\\begin" not in gold and bool(_CONDITION.search(" ".join(prose_words(gold))))
    )


def prose_words(gold: str) -> list[str]:
    """The words of a gold, LaTeX commands aside."""
    return _WORD.findall(_LATEX.sub(" ", gold))


def suspicious(gold: str, rollouts: Sequence[tuple[str | None, bool]], settings: Verify) -> Drop | None:
    """Whether a problem's rollouts agree on one answer that is not the gold.

    Args:
        gold: the gold answer.
        rollouts: (extracted answer or None, correct) of each.
        settings: the share that must agree, and the fewest rollouts that count.
    """
    if len(rollouts) < settings.suspicious_min_rollouts:
        return None
    need = settings.suspicious_agreement * len(rollouts)
    wrong = [answer.strip() for answer, correct in rollouts if answer and not correct]
    if not wrong or len(wrong) < need:  # before the answers are compared, which takes time
        return None
    groups = group_equal(wrong)
    largest = max(set(groups), key=lambda group: (groups.count(group), -group))
    agree, answer = groups.count(largest), wrong[groups.index(largest)]
    if agree < need:
        return None
    return Drop(
        Reason.SUSPICIOUS_GOLD,
        {"answer": gold[:200], "rollouts_say": answer[:200], "agree": agree, "rollouts": len(rollouts)},
    )
