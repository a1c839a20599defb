"""Scores of a grader on labelled pairs."""

from __future__ import annotations

from typing import Any


def scores(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Accuracy and time of some judged pairs.

    Args:
        rows: at least one, each with `label` and `equal` (what is right and what the grader said) and `seconds`.

    Returns:
        `balanced` accuracy is the mean of the shares of equal and of different pairs that are judged right, or the one
        share where a label is missing; `precision` (1 where nothing is called equal) and `recall` (1 where nothing is
        equal) are those of the judgement "equal".
    """
    positives = [row for row in rows if row["label"]]
    negatives = [row for row in rows if not row["label"]]
    hits = sum(row["equal"] for row in positives)
    false = sum(row["equal"] for row in negatives)
    shares = [hits / len(positives)] if positives else []
    shares += [1 - false / len(negatives)] if negatives else []
    times = sorted(row["seconds"] for row in rows)
    return {
        "pairs": len(rows),
        "positives": len(positives),
        "balanced": round(sum(shares) / len(shares), 4),
        "accuracy": round((hits + len(negatives) - false) / len(rows), 4),
        "precision": round(hits / (hits + false), 4) if hits + false else 1.0,
        "recall": round(hits / len(positives), 4) if positives else 1.0,
        "false_positives": false,
        "false_negatives": len(positives) - hits,
        "pairs_per_second": round(len(times) / sum(times), 1),
        "p50_ms": round(times[len(times) // 2] * 1e3, 4),
        "p99_ms": round(times[int(len(times) * 0.99)] * 1e3, 4),
        "max_ms": round(times[-1] * 1e3, 3),
        "seconds": round(sum(times), 3),
    }
