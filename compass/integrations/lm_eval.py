"""Scoring for a task of lm-evaluation-harness, named in the task's YAML file:

process_results: !function utils.process_results    # utils.py: from compass.integrations.lm_eval import process_results
metric_list:
  - metric: compass_accuracy
    aggregation: mean
    higher_is_better: true
"""

from __future__ import annotations

from typing import Any

from compass.integrations.golds import read_gold
from compass.verifier import Mode, judge

GOLD_FIELDS = ("answer", "solution", "target")


def process_results(doc: dict[str, Any], results: list[str]) -> dict[str, float]:
    """`compass_accuracy` of the first response to a problem: 1.0 or 0.0.

    Args:
        doc: the problem; the gold is its `answer`, else its `solution` or `target`; of a whole solution it is the final answer.
        results: the responses.

    Raises:
        KeyError: the problem has none of these fields.
    """
    return {"compass_accuracy": float(judge(gold=_gold(doc), response=results[0], mode=Mode.LENIENT).equal)}


def _gold(doc: dict[str, Any]) -> str:
    for field in GOLD_FIELDS:
        if doc.get(field) is not None:
            return read_gold(doc[field])
    raise KeyError(f"the problem has no gold: expected one of {', '.join(GOLD_FIELDS)}, found {', '.join(doc)}")
