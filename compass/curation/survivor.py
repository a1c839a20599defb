"""Which row of a cluster of duplicates survives, and what becomes of the others.

Rows of a cluster have the same tokens, or similar n-grams and the same numbers. They are settled so:

1. **One problem?** Near-duplicates with equal answers are one problem. With different answers they are one problem only if
   they differ in nothing but words of `PHRASING` ("Determine" for "Find", "Show your work."): then one answer is wrong.
   If other words differ ("TOOTH" for "RADII", "x" for "y"), they are different problems and both stay.
2. **Answer.** Rows agree if a gold of one, alternatives included, equals a gold of the other. Where answers disagree, each distinct answer (by the verifier) counts the sources that give it. The answer
   of most sources wins; a tie goes to the answer of the row that rule 3 prefers. Rows with another answer are dropped as
   `answer_conflict`. With `conflicts: drop` nothing of such a problem survives.
3. **Row**, among those with the winning answer: a gold the verifier can read; the source that stands earlier in
   `collect.sources`; a row that was graded; the longer problem and solution; the lower id.

Dropped rows with the winning answer are `exact_duplicate` (the survivor's tokens) or `near_duplicate`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any

from compass.curation.problem_words import tokens, words
from compass.ledger import Drop, Reason
from compass.verifier import answer_type, group_equal, same_answer

PHRASING = frozenset(
    re.findall(
        r"\w+",
        """
        an the this that these those it its is are was were be been being of in on at to for from by with as and or if
        then so now thus hence also there here we you your our please let us suppose given assume consider such where
        when which what who whose how many much do does did has have had can could will would shall should may might
        must find determine compute calculate evaluate solve show give gives express write state work out explain tell
        read answer answers question problem exercise task solution result final value number numbers denote denotes
        denoted represent represents define defined called satisfy satisfies satisfying following below above carefully
        step steps think common fraction simplest form terms term exact exactly decimal simplified reduced lowest
        nearest radical integer enter begin end align aligned equation array text img br strong em amp nbsp quot equal
        """,
    )
)
"""Words that a rewording may change without making another problem; no single letters, which may be variables."""


def settle(
    rows: Sequence[dict[str, Any]],
    exact: Sequence[int],
    similarity: Callable[[str, str], float],
    rank: dict[str, int],
    conflicts: str = "majority",
) -> tuple[list[int], list[Drop | None]]:
    """Apply the rules above to one cluster.

    Args:
        rows: records, at least `id`, `source`, `problem`, `answer`, `solution` and `solve_rate`; `alternatives` where they have any.
        exact: for each row a number that it shares with the rows of the same tokens.
        similarity: of two problems' texts, for the evidence.
        rank: each source's place in the order of preference.
        conflicts: the setting `dedup.conflicts`.

    Returns:
        For each row the index of its problem's survivor (of a dropped problem: of its preferred row), and its verdict.
    """
    order = sorted(range(len(rows)), key=lambda index: _preference(rows[index], rank))
    answers = dict(zip(order, group_equal([_golds(rows[index]) for index in order], _share), strict=True))
    heads, verdicts = [0] * len(rows), [None] * len(rows)
    left = order
    while left:
        first = left[0]
        one = [
            index
            for index in left
            if answers[index] == answers[first]
            or exact[index] == exact[first]
            or only_phrasing(rows[index]["problem"], rows[first]["problem"])
        ]
        head = _settle_one(rows, one, answers, exact, similarity, conflicts, verdicts)
        for index in one:
            heads[index] = head
        chosen = set(one)
        left = [index for index in left if index not in chosen]
    return heads, verdicts


def _settle_one(
    rows: Sequence[dict[str, Any]],
    order: Sequence[int],
    answers: dict[int, int],
    exact: Sequence[int],
    similarity: Callable[[str, str], float],
    conflicts: str,
    verdicts: list[Drop | None],
) -> int:
    """Fill the verdicts of one problem's rows, given in order of preference; returns the survivor."""
    support: dict[int, set[str]] = {}
    for index in order:
        support.setdefault(answers[index], set()).add(rows[index]["source"])
    winner = max(support, key=lambda answer: len(support[answer]))  # the first of equals: the preferred row's
    head = next(index for index in order if answers[index] == winner)
    none_stays = len(support) > 1 and conflicts == "drop"
    for index in order:
        if index == head and not none_stays:
            continue
        twin = head if index != head else next(other for other in order if answers[other] != winner)
        same_tokens = exact[index] == exact[twin]
        evidence: dict[str, Any] = {
            "twin": rows[twin]["id"],
            "twin_source": rows[twin]["source"],
            "similarity": 1.0 if same_tokens else round(similarity(rows[index]["problem"], rows[twin]["problem"]), 4),
            "answer": rows[index]["answer"],
            "twin_answer": rows[twin]["answer"],
        }
        reason = Reason.EXACT_DUPLICATE if same_tokens else Reason.NEAR_DUPLICATE
        if answers[index] != winner or none_stays:
            evidence["duplicate"] = str(reason)
            evidence["sources"] = sorted(support[answers[index]])
            evidence["twin_sources"] = sorted(support[answers[twin]])
            evidence["rule"] = "answers disagree: all dropped" if none_stays else "most sources, then the preferred row"
            reason = Reason.ANSWER_CONFLICT
        verdicts[index] = Drop(reason, evidence)
    return head


def only_phrasing(one: str, other: str) -> bool:
    """Whether two problems differ in nothing but words of `PHRASING`."""
    left, right = words(tokens(one)), words(tokens(other))
    changes = SequenceMatcher(None, left, right, autojunk=False).get_opcodes()
    changed = [word for kind, a, b, c, d in changes if kind != "equal" for word in (*left[a:b], *right[c:d])]
    return all(word in PHRASING for word in changed)


def _golds(row: dict[str, Any]) -> tuple[str, ...]:
    """All that a row calls right."""
    return (row["answer"] or "", *(row.get("alternatives") or ()))


def _share(golds: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """Whether two rows agree: a gold of one equals a gold of the other."""
    return any(_equal(one, other) for one in golds for other in others)


def _preference(row: dict[str, Any], rank: dict[str, int]) -> tuple[Any, ...]:
    length = len(row["problem"] or "") + len(row["solution"] or "")
    return (
        not _readable(row["answer"] or ""),
        rank.get(row["source"], len(rank)),
        row["solve_rate"] is None,
        -length,
        row["id"],
    )


@lru_cache(maxsize=100_000)
def _readable(answer: str) -> bool:
    return answer_type(answer) not in ("unrecognised", "unknown") and _equal(answer, answer)


_equal = lru_cache(maxsize=100_000)(same_answer)
