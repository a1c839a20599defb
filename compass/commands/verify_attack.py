"""`compass verify --attack PROBLEMS`: the share of problems that each policy is paid for in both modes."""

from __future__ import annotations

import json
from pathlib import Path

from compass.errors import UserError
from compass.verifier.attack import Attack, Paid, attack

_ABOUT = {
    "copy": "hand back something of the question: the strict mode must not pay",
    "trick": "hedge, enumerate or speak to the extractor: the strict mode must not pay",
    "guess": "say one plain value: right by chance now and then, a base rate",
}


class AttackError(UserError):
    """A file of problems that cannot be attacked; the message names it."""

    exit_status = 3


def run_attack(path: Path, count: int, *, as_json: bool = False) -> int:
    """Print each policy's shares.

    Args:
        path: records (`.parquet` of a stage), or a file or folder that `compass curate` reads.
        count: at most so many problems, drawn by a fixed seed; 0 takes all.
        as_json: print JSON instead of a table.

    Raises:
        AttackError: no problem with an answer is in the file, or every question gives its answer away.
        SourceError: the file cannot be read.
    """
    problems = _problems(path, count)
    try:
        found = attack(problems)
    except ValueError as error:
        raise AttackError(f"{path}: {error}") from None
    print(json.dumps(_as_json(found)) if as_json else "\n".join(_table(found)))
    return 0


def _problems(path: Path, count: int) -> list[tuple[str, str]]:
    from compass.seeded_draw import draw
    from compass.settings import Collect
    from compass.sources.collect import collect
    from compass.sources.registry import for_file

    if not path.exists():
        raise AttackError(f"{path}: no such file")
    source = for_file(path)
    kept = collect([source], Collect(sources=[source], benchmarks=[])).kept
    ids, questions, golds = (kept.column(name).to_pylist() for name in ("id", "problem", "answer"))
    rows = dict(zip(ids, zip(questions, golds, strict=True), strict=True))
    if not rows:
        raise AttackError(f"{path}: holds no problem with an answer")
    return [rows[name] for name in draw(rows, count, "0\0attack")]


def _as_json(found: Attack) -> dict:
    return {
        "problems": found.problems,
        "given_away": found.given_away,
        "policies": [
            {"name": paid.policy.name, "kind": paid.policy.kind, "strict": paid.strict, "lenient": paid.lenient}
            for paid in found.results
        ],
    }


def _table(found: Attack) -> list[str]:
    lines = [f"{found.problems} problems; {found.given_away} more left out, because their question writes the answer"]
    for kind, about in _ABOUT.items():
        own = [paid for paid in found.results if paid.policy.kind == kind]
        lines += ["", f"{kind}: {about}", f"  {'policy':38s} {'strict':>8s} {'lenient':>8s}"]
        lines += [
            f"  {paid.policy.name:38s} {paid.strict:8.2%} {paid.lenient:8.2%}" for paid in sorted(own, key=_most_paid)
        ]
    return lines


def _most_paid(paid: Paid) -> tuple[float, float, str]:
    return -paid.strict, -paid.lenient, paid.policy.name
