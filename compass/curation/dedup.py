"""Deduplication of records: one row of each cluster survives, the others go to the ledger with their twin.

The survivor rule, in this order:

1. **Answer.** Where answers disagree, each distinct answer (by the verifier) counts the sources that give it. The answer
   of most sources wins; a tie goes to the answer of the row that rule 2 prefers. Rows with another answer are dropped as
   `answer_conflict`. With `conflicts: drop` nothing of such a cluster survives.
2. **Row**, among those with the winning answer: a gold the verifier can read; the source that stands earlier in
   `collect.sources`; a row that was graded; the longer problem and solution; the lower id.

Dropped rows with the winning answer are `exact_duplicate` (same tokens as the survivor) or `near_duplicate`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pyarrow as pa

from compass.curation.clusters import jaccard, sorted_sets
from compass.curation.duplicates import find
from compass.curation.minhash import hash_ngrams
from compass.curation.words import split_words
from compass.records import Drop, Reason, Verdict, split
from compass.settings import Dedup

_NEEDED = ("id", "source", "problem", "answer", "solution", "solve_rate")


def dedup(records: pa.Table, settings: Dedup, sources: Sequence[str]) -> tuple[pa.Table, pa.Table]:
    """Keep one row of each cluster of duplicates.

    Args:
        records: `RECORD` rows.
        settings: the section `dedup`.
        sources: names of the sources, the preferred one first.

    Returns:
        Kept and dropped rows; both carry `cluster` (the survivor's id; of a dropped cluster its first row's) and
        `cluster_size`.
    """
    groups = find(records.column("problem"), settings)
    order = np.argsort(groups.cluster, kind="stable")
    begins = np.flatnonzero(np.concatenate([[True], np.diff(groups.cluster[order]) != 0])) if order.size else order
    sizes = np.diff(np.append(begins, order.size))
    verdicts: list[Verdict] = [None] * records.num_rows
    heads = np.arange(records.num_rows)
    size_of = np.ones(records.num_rows, dtype=np.int32)
    several = [order[begin : begin + size] for begin, size in zip(begins, sizes, strict=True) if size > 1]
    rank = {name: number for number, name in enumerate(sources)}
    for members, rows, similarity in _read_clusters(records, several, settings.ngram):
        head, drops = settle(rows, groups.exact[members].tolist(), similarity, settings, rank)
        heads[members] = members[head]
        size_of[members] = len(members)
        for member, drop in zip(members, drops, strict=True):
            verdicts[member] = drop
    ids = records.column("id").take(pa.array(heads))
    records = _replace(records, "cluster", ids)
    records = _replace(records, "cluster_size", pa.array(size_of))
    return split(records, verdicts, "dedup")


def settle(
    rows: Sequence[dict[str, Any]],
    exact: Sequence[int],
    similarity: Callable[[int, int], float],
    settings: Dedup,
    rank: dict[str, int],
) -> tuple[int, list[Verdict]]:
    """Apply the survivor rule to one cluster.

    Args:
        rows: the cluster's records.
        exact: for each row a number that it shares with the rows of the same tokens.
        similarity: exact Jaccard similarity of two rows, by their indices.
        settings: the section `dedup`.
        rank: each source's place in the order of preference.

    Returns:
        The index of the survivor (of a dropped cluster: of its first row), and a verdict for each row.
    """
    preference = sorted(range(len(rows)), key=lambda index: _preference(rows[index], rank))
    labels = _distinct_answers([rows[index]["answer"] or "" for index in preference])
    answer = dict(zip(preference, labels, strict=True))
    support: dict[int, set[str]] = {}
    for index in preference:
        support.setdefault(answer[index], set()).add(rows[index]["source"])
    winner = max(support, key=lambda label: len(support[label]))  # the first of equals: the preferred row's
    head = next(index for index in preference if answer[index] == winner)
    all_go = len(support) > 1 and settings.conflicts == "drop"
    verdicts: list[Verdict] = []
    for index, row in enumerate(rows):
        if index == head and not all_go:
            verdicts.append(None)
            continue
        twin = head if index != head else next(other for other in preference if answer[other] != winner)
        same_tokens = exact[index] == exact[twin]
        evidence: dict[str, Any] = {
            "twin": rows[twin]["id"],
            "twin_source": rows[twin]["source"],
            "similarity": 1.0 if same_tokens else round(similarity(index, twin), 4),
            "answer": row["answer"],
            "twin_answer": rows[twin]["answer"],
        }
        reason = Reason.EXACT_DUPLICATE if same_tokens else Reason.NEAR_DUPLICATE
        if answer[index] != winner or all_go:
            evidence["duplicate"] = str(reason)
            evidence["sources"] = sorted(support[answer[index]])
            evidence["twin_sources"] = sorted(support[answer[twin]])
            evidence["rule"] = "answers disagree: all dropped" if all_go else "most sources, then the preferred row"
            reason = Reason.ANSWER_CONFLICT
        verdicts.append(Drop(reason, evidence))
    return head, verdicts


def _preference(row: dict[str, Any], rank: dict[str, int]) -> tuple[Any, ...]:
    length = len(row["problem"] or "") + len(row["solution"] or "")
    return (
        not _readable(row["answer"] or ""),
        rank.get(row["source"], len(rank)),
        row["solve_rate"] is None,
        -length,
        row["id"],
    )


def _distinct_answers(answers: Sequence[str]) -> list[int]:
    """A label for each answer; equal answers share one, the label of the first of them."""
    found: list[str] = []
    labels = []
    for answer in answers:
        for label, other in enumerate(found):
            if answer == other or _equal(other, answer):
                labels.append(label)
                break
        else:
            labels.append(len(found))
            found.append(answer)
    return labels


@lru_cache(maxsize=100_000)
def _readable(answer: str) -> bool:
    return bool(answer.strip()) and _equal(answer, answer)


@lru_cache(maxsize=100_000)
def _equal(one: str, other: str) -> bool:
    from compass.verifier import verify

    return verify(gold=one, answer=other).outcome == "equal"


def _read_clusters(
    records: pa.Table, clusters: Sequence[np.ndarray], n: int, batch: int = 2_000
) -> Iterator[tuple[np.ndarray, list[dict[str, Any]], Callable[[int, int], float]]]:
    """Each cluster's row numbers, records and similarity, read in batches of clusters to bound memory."""
    columns = records.select(_NEEDED)
    for low in range(0, len(clusters), batch):
        chosen = clusters[low : low + batch]
        part = columns.take(pa.array(np.concatenate(chosen)))
        rows = part.to_pylist()
        sets, start = sorted_sets(*hash_ngrams(split_words(part.column("problem")), n))
        at = 0
        for members in chosen:
            own = start[at : at + len(members) + 1]
            yield members, rows[at : at + len(members)], partial(jaccard, sets, own)
            at += len(members)


def _replace(records: pa.Table, name: str, values: pa.Array | pa.ChunkedArray) -> pa.Table:
    place = records.schema.get_field_index(name)
    return records.set_column(place, records.schema.field(name), values.cast(records.schema.field(name).type))
