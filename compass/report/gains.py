"""Problems that one model solves and another does not, with their answers side by side and how the verifier judged them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from compass.page.blocks import Fold, Note, Part, Table
from compass.report.headline import best_model
from compass.report.printable import printable
from compass.report.run import Run
from compass.report.tallies import SOLVED, Item, Tally

SHOWN = 8
"""Problems shown of those gained and of those lost; the viewer has all."""

FATES = ("gained", "lost", "both", "neither")


def gained_and_lost(run: Run) -> Iterator[Part]:
    """How many problems the best model gained and lost against the first (or, where the first is best, the last), and the clearest of them."""
    before, after = run.models[0], best_model(run)
    if before == after:
        before, after = after, run.models[-1]
    yield Note(
        f"A problem counts as solved where at least {100 * SOLVED:.0f}% of a model's samples are right. Gained: {after} solves it and {before} does not; lost: "
        "the other way round."
    )
    rows = []
    for benchmark in dict.fromkeys(item.benchmark for item in run.items):
        counts = Counter(item.fate(before, after) for item in run.items if item.benchmark == benchmark)
        rows.append([benchmark, *(counts[fate] for fate in FATES)])
    if len(rows) > 1:
        rows.append(["all", *(sum(row[place] for row in rows) for place in range(1, len(FATES) + 1))])
    yield Table(["benchmark", "gained", "lost", "solved by both", "by neither"], rows)
    for fate, sign in (("gained", 1), ("lost", -1)):
        items = [item for item in run.items if item.fate(before, after) == fate]
        items.sort(key=lambda item: (-sign * (item.tallies[after].share - item.tallies[before].share), item.id))
        if items:
            title = f"{fate.capitalize()}: the clearest {min(SHOWN, len(items))} of {len(items)}"
            yield Fold(title, [_side_by_side(run, items[:SHOWN], before, after)])


def _side_by_side(run: Run, items: list[Item], before: str, after: str) -> Table:
    head = ["benchmark", "problem", "gold", f"{before} answered", f"{after} answered"]
    rows = []
    for item in items:
        texts = [item.benchmark, printable(item.problem or item.id, 220), printable(item.answer or "", 60)]
        rows.append([*texts, *(f"{_commonest(run, item, model)}" for model in (before, after))])
    return Table(head, rows)


def _commonest(run: Run, item: Item, model: str) -> str:
    """A model's most frequent answer to a problem, how often, how it was judged, and how many samples are right."""
    rows = answers_of(run.samples, item, model)
    tally = item.tallies.get(model, Tally())
    right = f"{tally.right} of {tally.samples} right"
    if not rows:
        return right
    counted = Counter((row["answer"], row["correct"], row.get("outcome"), row.get("method")) for row in rows)
    (answer, correct, outcome, method), count = counted.most_common(1)[0]
    judged = ", ".join(word for word in ("right" if correct else "wrong", outcome, method) if word)
    return f"{printable(answer, 60) if answer is not None else 'no answer'} ({count} times; {judged}); {right}"


def answers_of(samples: pa.Table | None, item: Item, model: str) -> list[dict[str, Any]]:
    """The sampled responses of a model to a problem, greedy ones left out."""
    if samples is None:
        return []
    wanted = pc.and_(pc.equal(samples["id"], item.id), pc.equal(samples["model"], model))
    wanted = pc.and_(wanted, pc.and_(pc.equal(samples["benchmark"], item.benchmark), pc.invert(samples["greedy"])))
    columns = [name for name in ("answer", "correct", "outcome", "method") if name in samples.column_names]
    return samples.filter(wanted).select(columns).to_pylist()
