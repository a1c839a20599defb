"""Responses held against the golds of other copies of a benchmark, where those are known to differ.

Published scores on Minerva Math were made with golds that are wrong in dozens of rows. The score that counts uses the right golds; the one
with the widespread golds stands beside it, so that both can be compared with published ones.
"""

from __future__ import annotations

import pyarrow as pa

from compass.golds import gold_of
from compass.verifier import judge_many

COLUMN = "correct_other"


def score_other_golds(scored: pa.Table, items: pa.Table) -> pa.Table:
    """Scored responses with the column `correct_other`: whether the strict mode calls them equal to the other gold, null where there is none.

    Args:
        scored: columns `id` and `response`.
        items: `RECORD` rows of the problems.
    """
    columns = (items.column(name).to_pylist() for name in ("id", "other_answer", "tolerance", "problem"))
    golds = {
        name: (gold_of(other, None, tolerance), problem)
        for name, other, tolerance, problem in zip(*columns, strict=True)
        if other
    }
    rows = list(zip(scored.column("id").to_pylist(), scored.column("response").to_pylist(), strict=True))
    asked = [(*golds[name], text or "") for name, text in rows if name in golds]
    judged = iter(judge_many([(gold, text) for gold, _, text in asked], questions=[problem for _, problem, _ in asked]))
    marks = [next(judged).equal if name in golds else None for name, _ in rows]
    return scored.append_column(COLUMN, pa.array(marks, type=pa.bool_()))
