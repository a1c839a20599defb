"""Which responses to benchmark problems the viewer holds, by a rule that the page states; its totals count all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compass.page.blocks import response
from compass.page.packed import pack
from compass.report.printable import shorten
from compass.report.run import Run
from compass.report.tallies import Tally
from compass.sampling.response import CUT_OFF, PROMPT_TOO_LONG

LONGEST = (8_000, 4_000, 2_000, 1_000, 500)
"""Characters shown of a response: the first of these with which each problem's first responses fit."""

FIRST_RANKS = 2
"""Ranks that every problem and model has in any case: the greedy response, and the first right and the first wrong sample."""

CHUNK_BYTES = 600_000
"""Text in one part that the page unpacks at a time, before compression."""

LONGEST_PROBLEM = 4_000


@dataclass(frozen=True)
class Embedded:
    """`items` of the viewer's index, `chunks` of packed responses, how many of `total` responses are `shown`, and the `rule` in words."""

    items: list[list[Any]]
    chunks: list[str]
    shown: int
    total: int
    rule: str

    @property
    def size(self) -> int:
        """Characters of all chunks together."""
        return sum(map(len, self.chunks))


def embed_responses(run: Run, limit: int, *, first_chunk: int = 0) -> Embedded:
    """Choose and pack responses within a limit.

    Args:
        run: the run.
        limit: most characters of all packed chunks together.
        first_chunk: the number of the first chunk in the page.

    Returns:
        Each of `items` is [benchmark, id, problem, gold, level, [per model: [samples, right, right leniently, cut off, greedy
        (1, 0, or -1 where there is none), without an answer that could be read] or null], chunk (-1: no response is embedded), [ids of similar rows]].
    """
    similar = _similar(run)
    if run.samples is None:
        return Embedded([], [], 0, 0, "")
    ranks = _ranks(run)

    def embed(count: int, longest: int) -> Embedded:
        chosen = _rows(run, [row for rank in ranks[:count] for row in rank], longest)
        chunks, places = _chunks(chosen, first_chunk)
        items = [_item(run, number, places.get(number, -1), similar) for number in range(len(run.items))]
        shown = sum(map(len, chosen.values()))
        rule = _rule(count, len(ranks), longest, shown, run.samples.num_rows)
        return Embedded(items, chunks, shown, run.samples.num_rows, rule)

    for longest in LONGEST:
        found = embed(FIRST_RANKS, longest)
        if found.size <= limit:
            break
    count = FIRST_RANKS
    while count < len(ranks):
        count = min(2 * count, len(ranks))
        more = embed(count, longest)
        if more.size > limit:
            break
        found = more
    return found


def _ranks(run: Run) -> list[list[int]]:
    """Rows of the samples by rank: 0 the greedy response, 1 the first right and the first wrong sample, then in their order."""
    assert run.samples is not None
    columns = [run.samples[name].to_pylist() for name in ("model", "benchmark", "id", "greedy", "correct", "sample")]
    groups: dict[tuple[str, str, str], list[tuple[int, bool, bool, int]]] = defaultdict(list)
    for row, (model, benchmark, id_, greedy, right, sample) in enumerate(zip(*columns, strict=True)):
        groups[model, benchmark, id_].append((sample, bool(greedy), right, row))
    ranks: dict[int, list[int]] = defaultdict(list)
    for group in groups.values():
        seen: set[bool] = set()
        later = FIRST_RANKS
        for _, greedy, right, row in sorted(group):
            if greedy:
                ranks[0].append(row)
            elif right not in seen:
                seen.add(right)
                ranks[1].append(row)
            else:
                ranks[later].append(row)
                later += 1
    return [ranks[rank] for rank in range(max(ranks, default=-1) + 1)]


def _rows(run: Run, rows: Sequence[int], longest: int) -> dict[int, list[list[Any]]]:
    """Item number to its responses: [model, greedy, sample, what `response` returns], by model and sample."""
    assert run.samples is not None
    numbers = {(item.benchmark, item.id): number for number, item in enumerate(run.items)}
    models = {model: number for number, model in enumerate(run.models)}
    chosen: dict[int, list[list[Any]]] = defaultdict(list)
    for row in run.samples.take(rows).to_pylist():
        if row["model"] in models:
            shown = [models[row["model"]], int(bool(row["greedy"])), row["sample"], _response(row, longest)]
            chosen[numbers[row["benchmark"], row["id"]]].append(shown)
    for responses in chosen.values():
        responses.sort(key=lambda one: (one[0], -one[1], one[2]))
    return dict(sorted(chosen.items()))


def _response(row: Mapping[str, Any], longest: int) -> dict[str, Any]:
    """A row of the samples, as pages draw it."""
    right, lenient, unanswered = row["correct"], row["correct_lenient"], row["answer_lenient"] is None
    loose = f": {row['answer_lenient']}" if row["answer_lenient"] else ""
    facts = [
        f"no answer: {row['evidence_lenient']}" if unanswered and row.get("evidence_lenient") else row["outcome"],
        row["method"],
        f"leaning on {row['leniencies']}" if row["leniencies"] else None,
        None if lenient == right else f"right leniently{loose}" if lenient else "wrong leniently",
        None if row["tokens"] is None else f"{row['tokens']:,} tokens",
        {CUT_OFF: "cut off", PROMPT_TOO_LONG: "prompt too long"}.get(row["finish_reason"]),
        "ends in a loop" if row["looped"] else None,
    ]
    name = (
        "greedy"
        if row["greedy"]
        else f"response {row['sample']}"
        if row["greedy"] is None
        else f"sample {row['sample']}"
    )
    return response(name, shorten(row["response"] or "", longest), right=right, answer=row["answer"], facts=facts)


def _chunks(chosen: Mapping[int, list[list[Any]]], first: int) -> tuple[list[str], dict[int, int]]:
    """Responses packed in parts of about `CHUNK_BYTES`, and the part of each item."""
    chunks: list[str] = []
    places: dict[int, int] = {}
    waiting: dict[int, list[list[Any]]] = {}
    size = 0
    for number, responses in chosen.items():
        waiting[number] = responses
        places[number] = first + len(chunks)
        size += sum(len(one[3]["text"]) + 100 for one in responses)
        if size >= CHUNK_BYTES:
            chunks.append(pack(waiting))
            waiting, size = {}, 0
    if waiting:
        chunks.append(pack(waiting))
    return chunks, places


def _item(run: Run, number: int, chunk: int, similar: Mapping[tuple[str, str], list[str]]) -> list[Any]:
    item = run.items[number]
    tallies = [_counts(item.tallies.get(model)) for model in run.models]
    texts = [item.benchmark, item.id, shorten(item.problem or "", LONGEST_PROBLEM), item.answer or "", item.level or ""]
    return [*texts, tallies, chunk, similar.get((item.benchmark, item.id), [])]


def _counts(tally: Tally | None) -> list[int] | None:
    if tally is None:
        return None
    greedy = -1 if tally.greedy is None else int(tally.greedy)
    return [tally.samples, tally.right, tally.right_lenient, tally.cut_off, greedy, tally.unread]


def _similar(run: Run) -> dict[tuple[str, str], list[str]]:
    if run.problems is None:
        return {}
    rows = run.problems.select(["benchmark", "id", "similar"]).to_pylist()
    return {(row["benchmark"], row["id"]): row["similar"][:20] for row in rows if row["similar"]}


def _rule(count: int, ranks: int, longest: int, shown: int, total: int) -> str:
    if count >= ranks:
        words = f"All {total:,} responses are here."
    else:
        more = f", and up to {count - FIRST_RANKS} more in their order" if count > FIRST_RANKS else ""
        words = (
            f"{shown:,} of {total:,} responses are here: of each problem and model the greedy one, the first right and the first wrong "
            f"sample{more}. The counts are of all."
        )
    return f"{words} A response of more than {longest:,} characters shows its beginning and its end."
