"""Judgements of a person on a run's own answers, and the verifier's error that they measure.

Right answers that look ordinary are many and hardly ever wrong; the others are few and hold most errors. Hence responses are drawn by stratum,
and what is found in a stratum counts by the stratum's share of all responses. `row_labels.py` does the same with the rows of a curation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from compass.evaluation.accuracy import wilson
from compass.evaluation.label_files import Labels, read_labels, text_digest
from compass.seeded_draw import draw_key

STRATA = {
    "second": "a second verifier disagrees",
    "disputed": "strict and lenient mode disagree",
    "leaned": "right, leaning on a leniency",
    "unread": "an answer that cannot be read, or that the strict mode does not find",
    "wrong": "wrong in both modes",
    "right": "right in both modes",
}
"""Kinds of responses, by what may be doubted; a response belongs to the first that holds."""

WEIGHTS = {"second": 3, "disputed": 3, "leaned": 2, "unread": 2, "wrong": 2, "right": 1}
"""How many of each stratum are drawn in one round."""

LEAST_STRATUM = 0.01
"""Share of all up to which a stratum need not have labels."""


@dataclass(frozen=True)
class Judged:
    """What a person judges: the id of its problem, a digest of its text, and the stratum in which it is drawn."""

    id: str
    digest: str
    stratum: str

    @property
    def key(self) -> tuple[str, str]:
        """What labels are kept by."""
        return self.id, self.digest


One = TypeVar("One", bound=Judged)


@dataclass(frozen=True)
class Response(Judged):
    """A distinct response to a problem. `count` is how many rows it stands for: models repeat themselves."""

    text: str
    correct: bool
    count: int


def distinct_responses(samples: pa.Table, second: Mapping[tuple[str, str], bool] | None = None) -> list[Response]:
    """The distinct responses of a run, by problem and text.

    Args:
        samples: columns `id`, `response`, `correct`, `correct_lenient`, `outcome`, `answer_lenient`, `leniencies`.
        second: what another verifier says, by id and digest.
    """
    names = ("id", "response", "correct", "correct_lenient", "outcome", "answer_lenient", "leniencies")
    first: dict[tuple[str, str], tuple[Any, ...]] = {}
    counts: dict[tuple[str, str], int] = {}
    for row in zip(*(samples.column(name).to_pylist() for name in names), strict=True):
        key = row[0], text_digest(row[1] or "")
        first.setdefault(key, row)
        counts[key] = counts.get(key, 0) + 1
    return [
        Response(*key, _stratum(row, (second or {}).get(key)), row[1] or "", row[2], counts[key])
        for key, row in first.items()
    ]


def _stratum(row: tuple[Any, ...], second: bool | None) -> str:
    _, _, strict, lenient, outcome, answer_lenient, leniencies = row
    if second is not None and second != strict:
        return "second"
    if strict != lenient:
        return "disputed"
    if strict:
        return "leaned" if leniencies else "right"
    return "unread" if outcome == "unrecognised" or (outcome == "none" and answer_lenient) else "wrong"


def in_turn(items: list[One], labels: Labels, seed: int, weights: Mapping[str, int]) -> Iterator[One]:
    """What has no label, in the order in which it is judged: rounds over the strata, at random within each.

    Wherever one stops, what was judged of a stratum is a random draw of it.

    Args:
        items: what may be judged.
        labels: those that there are.
        seed: another one draws others.
        weights: the strata in their order, and how many of each are drawn in one round.
    """
    queues = {
        name: iter(
            sorted(
                (one for one in items if one.stratum == name and one.key not in labels),
                key=lambda one: draw_key("\0".join(one.key), f"{seed}\0label"),
            )
        )
        for name in weights
    }
    while queues:
        for name in list(queues):
            for _ in range(weights[name]):
                if (one := next(queues[name], None)) is None:
                    del queues[name]
                    break
                yield one


def measured_error(responses: list[Response], labels: Labels) -> dict[str, Any]:
    """How often the strict verdict is wrong on these responses, by the labels that were given.

    Returns:
        `responses` (rows), `labelled` and `unsure` (distinct responses); `error` (share of responses whose verdict is wrong, 0..1) with
        `ci95`; of it `accepted_wrong` (called right, is wrong) and `refused_right`; `strata`: name to `responses`, `labelled`, `wrong`.
        `error` and its parts are null while a stratum of more than 1% of the responses has no label, `ci95` counts such a stratum
        as unknown (0 to 1). The interval joins the strata's Wilson intervals by MOVER. A rate weighs responses by their rows, so that its interval is that
        of Kish's effective number of labels, (Σ rows)² / Σ rows² (Kish 1965, Survey Sampling, section 11.7).
    """
    total = sum(one.count for one in responses)
    strata: dict[str, dict[str, int]] = {}
    parts: list[tuple[float, float | None, float, float]] = []
    wrong_ways: list[tuple[float, float]] = []
    for name in STRATA:
        own = [one for one in responses if one.stratum == name]
        if not own:
            continue
        judged = [(one, labels[one.key]) for one in own if labels.get(one.key) is not None]
        share = sum(one.count for one in own) / total
        wrong = [one for one, right in judged if right != one.correct]
        strata[name] = {"responses": sum(one.count for one in own), "labelled": len(judged), "wrong": len(wrong)}
        if not judged:
            parts.append((share, None, 0.0, 1.0))
            continue
        weight = sum(one.count for one, _ in judged)
        accepted = sum(one.count for one in wrong if one.correct) / weight
        refused = sum(one.count for one in wrong if not one.correct) / weight
        effective = weight**2 / sum(one.count**2 for one, _ in judged)
        parts.append((share, accepted + refused, *wilson(accepted + refused, effective)))
        wrong_ways.append((share * accepted, share * refused))
    error, interval = join_strata(parts)
    keys = {one.key for one in responses}
    return {
        "responses": total,
        "labelled": sum(one["labelled"] for one in strata.values()),
        "unsure": sum(right is None for key, right in labels.items() if key in keys),
        "error": error,
        "ci95": interval,
        "accepted_wrong": None if error is None else sum(accepted for accepted, _ in wrong_ways),
        "refused_right": None if error is None else sum(refused for _, refused in wrong_ways),
        "strata": strata,
    }


def join_strata(parts: Sequence[tuple[float, float | None, float, float]]) -> tuple[float | None, list[float]]:
    """A rate over strata, and its 95% interval by MOVER, of each stratum's share, rate and interval.

    A stratum without labels has no rate, and the interval 0 to 1; with one of more than 1% of all, the rate over strata is None.
    """
    rate = sum(share * (own or 0.0) for share, own, _, _ in parts)
    below = sqrt(sum((share * ((own or 0.0) - low)) ** 2 for share, own, low, _ in parts))
    above = sqrt(sum((share * (high - (own or 0.0))) ** 2 for share, own, _, high in parts))
    known = all(own is not None or share <= LEAST_STRATUM for share, own, _, _ in parts)
    return rate if known else None, [max(0.0, rate - below), min(1.0, rate + above)]


def samples_folder(data: Path) -> Path:
    """Where the samples are: in a folder of `compass evaluate` itself, else in the evaluate stage's folder of a pipeline's data."""
    return data if (data / "samples.parquet").exists() else data / "evaluate"


def error_of_run(data: Path, folder: Path) -> dict[str, Any] | None:
    """`measured_error` of a run's samples by the labels in a folder; None where there is no label of them.

    Args:
        data: a pipeline's data folder, or one of `compass evaluate`.
        folder: where `compass label` keeps its files.

    Raises:
        LabelsError: the labels cannot be read.
    """
    import pyarrow.parquet as pq

    path = samples_folder(data) / "samples.parquet"
    labels = read_labels(folder / "labels.jsonl")
    if not labels or not path.exists():
        return None
    second = {key: right for key, right in read_labels(folder / "second.jsonl").items() if right is not None}
    found = measured_error(distinct_responses(pq.read_table(path), second), labels)
    return found if found["labelled"] or found["unsure"] else None
