"""Which row of a cluster of duplicates survives, and what becomes of the others.

Rows of a cluster have the same tokens, or similar n-grams and the same numbers. They are settled so:

1. **One problem?** Near-duplicates are one problem if they differ in nothing but words of `PHRASING` ("Determine" for "Find",
   "Show your work.") and have the same signs in the same places. So are those with equal answers; but many problems share a
   digit, a letter or a yes, and with such an answer no word may stand in another's place ("left over" for "in each package").
   Otherwise ("TOOTH" for "RADII", "x" for "y", `5^{-x} = 2` for `5^x = -2`) they are different problems and both stay.
2. **Answer.** Rows agree if a gold of one, alternatives included, equals a gold of the other (by the verifier). Where answers
   disagree, at least one is wrong, and the rows vote. Rows are independent if they come from different sources, or from one
   source with different worked solutions: others are copies and count once. An answer with more than half of the votes
   wins. Without one, the answer wins that is the only one that a worked solution marks and works out. Rows with another answer are dropped as
   `answer_conflict`. If neither decides, all rows are dropped; with `conflicts: preferred` the answer of the row that rule 3
   prefers wins instead. With `conflicts: drop` nothing of any such problem survives.
3. **Row**, among those with the winning answer: a gold the verifier can read; the source that stands earlier in
   `collect.sources`; a row that was graded; the longer problem and solution; the lower id. Rows of the same tokens are as
   long as the longest of them; of these the one wins that is not all in capitals or small letters, nor has stray blanks.

Dropped rows with the winning answer are `exact_duplicate` (the survivor's tokens) or `near_duplicate`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any

from compass.curation.problem_words import OPERATORS, deciding, tokens
from compass.ledger import Drop, Reason
from compass.sources.gold import from_solution
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

_DECORATION = re.compile(r"\\(?:text|mathrm|textbf|mathbf|boxed)\b|[\s${}().]")
_BY_CHANCE = re.compile(r"[+-]?\d(?:[^\W\d_]{3,})?|[^\W\d_]|yes|no|true|false", re.I)  # "5", "5 apples", "(B)", "Yes"


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
    longest: dict[int, int] = {}
    for row, number in zip(rows, exact, strict=True):
        longest[number] = max(longest.get(number, 0), len(row["problem"] or ""))
    order = sorted(range(len(rows)), key=lambda index: preference(rows[index], rank, longest[exact[index]]))
    answers = dict(zip(order, group_equal([_golds(rows[index]) for index in order], _share), strict=True))
    heads, verdicts = [0] * len(rows), [None] * len(rows)
    left = order
    while left:
        first = left[0]
        one = [
            index
            for index in left
            if exact[index] == exact[first]
            or only_phrasing(rows[index]["problem"], rows[first]["problem"])
            or (answers[index] == answers[first] and _is_same_problem(rows[index], rows[first]))
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
    """Fill the verdicts of one problem's rows, given in order of preference; returns the survivor, or the preferred row."""
    winner, rule = _right_answer(rows, order, answers, conflicts)
    head = order[0] if winner is None else next(index for index in order if answers[index] == winner)
    for index in order:
        if index == head and winner is not None:
            continue
        twin = head
        if winner is None and answers[index] == answers[head]:
            twin = next(other for other in order if answers[other] != answers[head])
        same_tokens = exact[index] == exact[twin]
        evidence: dict[str, Any] = {
            "twin": rows[twin]["id"],
            "twin_source": rows[twin]["source"],
            "similarity": 1.0 if same_tokens else round(similarity(rows[index]["problem"], rows[twin]["problem"]), 4),
            "answer": rows[index]["answer"],
            "twin_answer": rows[twin]["answer"],
        }
        reason = Reason.EXACT_DUPLICATE if same_tokens else Reason.NEAR_DUPLICATE
        if answers[index] != winner:
            evidence["duplicate"] = str(reason)
            for name, side in (("sources", index), ("twin_sources", twin)):
                evidence[name] = sorted({rows[row]["source"] for row in order if answers[row] == answers[side]})
            evidence["rule"] = rule
            reason = Reason.ANSWER_CONFLICT
        verdicts[index] = Drop(reason, evidence)
    return head


def _right_answer(
    rows: Sequence[dict[str, Any]], order: Sequence[int], answers: dict[int, int], conflicts: str
) -> tuple[int | None, str]:
    """The group of the answer that one problem's rows are settled on, None where nothing decides; and by what rule."""
    given = list(dict.fromkeys([answers[index] for index in order if rows[index]["answer"]] or [answers[order[0]]]))
    if len(given) == 1:
        return given[0], "the only answer"
    if conflicts == "drop":
        return None, "answers disagree: all dropped"
    votes = {answer: _independent([rows[index] for index in order if answers[index] == answer]) for answer in given}
    most = max(given, key=votes.__getitem__)
    if votes[most] > 1 and 2 * votes[most] > sum(votes.values()):
        return most, "most independent rows"
    marked = [_worked_out(rows[index]["solution"] or "") for index in order]
    led_to = {answers[index] for index in order for found in marked if found and _share(_golds(rows[index]), (found,))}
    if len(led_to) == 1:
        return led_to.pop(), "the answer of a worked solution"
    if conflicts == "preferred":
        return given[0], "the preferred row"
    return None, "answers disagree and nothing decides: all dropped"


def _worked_out(solution: str) -> str:
    """The answer that a worked solution marks; empty where its last line is the mark alone, such as `#### 7`, and the last
    calculation before it has another result: then the gold was only copied there."""
    marked = from_solution(solution)
    *working, last = solution.strip().splitlines() or [""]
    if re.search(r"\w", re.sub(r"\\f?boxed", "", last).replace(marked, "")):
        return marked
    results = re.findall(r"=\s*\$?\s*(-?[\d.,/]*\d)", "\n".join(working))
    return marked if results and _equal(results[-1], marked) else ""


def _independent(rows: Sequence[dict[str, Any]]) -> int:
    """How many of the rows with one answer are no copies of each other: per source its distinct worked solutions, at least 1."""
    solutions: dict[str, set[tuple[str, ...]]] = {}
    for row in rows:
        solutions.setdefault(row["source"], set()).add(tuple(tokens(row["solution"])))
    return sum(max(1, len(distinct - {()})) for distinct in solutions.values())


def only_phrasing(one: str, other: str) -> bool:
    """Whether two problems have the same words, `PHRASING` aside, and between them the same operators in the same order."""
    return _asked(one) == _asked(other)


def _asked(problem: str) -> list[str]:
    """What no rewording of a problem changes: its words, and between them the signs that make another problem."""
    read = tokens(problem)
    signs = deciding(read)
    return [
        signs.get(place, token)
        for place, token in enumerate(read)
        if token not in PHRASING and (place in signs or token not in OPERATORS)
    ]


def _is_same_problem(row: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether near-duplicates with equal answers are one problem: the answer is rare, or one text only has words more."""
    if not _BY_CHANCE.fullmatch(_DECORATION.sub("", row["answer"] or "")):
        return True
    one, two = _asked(row["problem"]), _asked(other["problem"])
    changes = SequenceMatcher(None, one, two, autojunk=False).get_opcodes()
    changed = {word for kind, a, b, c, d in changes if kind != "equal" for word in (*one[a:b], *two[c:d])}
    return all(kind != "replace" for kind, *_ in changes) and changed.isdisjoint(OPERATORS)


def _golds(row: dict[str, Any]) -> tuple[str, ...]:
    """All that a row calls right."""
    return (row["answer"] or "", *(row.get("alternatives") or ()))


def _share(golds: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """Whether two rows agree: a gold of one equals a gold of the other."""
    return any(_equal(one, other) for one in golds for other in others)


def agree(row: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether a gold of one row equals a gold of the other."""
    return _share(_golds(row), _golds(other))


def preference(row: dict[str, Any], rank: dict[str, int], longest: int = 0) -> tuple[Any, ...]:
    """The key by which the row that stays sorts first (rule 3).

    Args:
        row: a record.
        rank: each source's place in the order of preference.
        longest: characters of the longest problem with the row's tokens: its copies differ in typesetting alone.
    """
    problem, solution = len(row["problem"] or ""), len(row["solution"] or "")
    return (
        not _readable(row["answer"] or ""),
        rank.get(row["source"], len(rank)),
        row["solve_rate"] is None,
        -(max(problem, longest) + solution),
        _untidiness(row["problem"] or ""),
        -(problem + solution),
        row["id"],
    )


_WORDS = re.compile(r"(?<!\\)(?<![^\W\d_])[^\W\d_]+")
_STRAY_BLANK = re.compile(r"(?<=\S)[^\S\n]{2,}(?=\S)|(?<=\w)[^\S\n]+(?=[?!.,;](?:\s|$))")


def _untidiness(problem: str) -> tuple[bool, int]:
    """Whether all words are in capitals, or all in small letters, and how often blanks stand where a text has one or none."""
    words = _WORDS.findall(problem)
    is_loud = "".join(word for word in words if len(word) > 1).isupper()  # one letter may be a variable
    return is_loud or "".join(words).islower(), len(_STRAY_BLANK.findall(problem))


@lru_cache(maxsize=100_000)
def _readable(answer: str) -> bool:
    return answer_type(answer) not in ("unrecognised", "unknown") and _equal(answer, answer)


_equal = lru_cache(maxsize=100_000)(same_answer)
