"""How far an iteration's rewards lean on the verifier's leniencies: a policy that drifts towards a loophole shows here first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any


def leaned_metrics(responses: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Shares (0..1) of an iteration's right responses.

    Args:
        responses: what the reward function gave each response (`acc`, `leaned`).

    Returns:
        `reward/leaned`, the share whose verdict leans on any rule, and `reward/leaned/NAME` for each rule that occurs.
    """
    right = [response["leaned"] for response in responses if response["acc"] > 0]
    if not right:
        return {"reward/leaned": 0.0}
    counts = Counter(name for names in right for name in names.split(",") if name)
    shares = {f"reward/leaned/{name}": counts[name] / len(right) for name in sorted(counts)}
    return {"reward/leaned": sum(bool(names) for names in right) / len(right), **shares}
