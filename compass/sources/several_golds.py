"""What several values of a gold mean, and what stands beside it: alternatives, a tolerance, a unit. Guessed from names and contents.

`["1/2", "0.5"]` may be answers of which any is right, or parts of one answer. Values that equal each other are the former, numbers the
latter; where neither names nor contents tell, the guess is an error that asks.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from compass.sources.field_names import ALTERNATIVES, MULTIPLE, SEVERAL_ANSWERS, TOLERANCE, UNIT
from compass.sources.gold import gold_answer
from compass.sources.read import SourceError
from compass.sources.sampled_fields import Field
from compass.verifier import ToleranceError, read_tolerance, same_answer

MOST_LISTS = 50
"""Lists whose values are held against each other."""


def guess_golds(path: Path, answer: str, fields: Sequence[Field], evidence: dict[str, str]) -> dict[str, Any]:
    """Settings of a source for its golds besides `answer_field`; each that is not the default gets its evidence.

    Args:
        path: the file, for the error.
        answer: the path of the gold's field, empty where only a solution has it.
        fields: all sampled fields.
        evidence: filled by setting.

    Raises:
        SourceError: the golds are lists, and whether all of a list are needed or any is right cannot be told.
    """
    found: dict[str, Any] = {}
    own = next((field for field in fields if field.path == answer), None)
    if own is not None and (means := _means(path, own, fields, evidence)):
        found["answers_mean"] = means
    beside = [field for field in fields if field.path.rpartition(".")[0] == answer.rpartition(".")[0] and field != own]
    for setting, names, holds in (
        ("alternatives_field", ALTERNATIVES, lambda field: True),
        ("tolerance_field", TOLERANCE, _are_tolerances),
        ("unit_field", UNIT, _are_units),
    ):
        field = next((field for field in beside if field.name in names and holds(field)), None)
        if answer and field is not None:
            found[setting] = field.path
            evidence[setting] = field.describe("a usual name")
    return found


def _means(path: Path, field: Field, fields: Sequence[Field], evidence: dict[str, str]) -> str:
    """The setting `answers_mean`; empty where no gold has several values."""
    lists = [golds for value in field.values if len(golds := values_of(value)) > 1]
    if not lists:
        return ""
    of = f"of the {len(lists)} golds with several values"
    if field.name in ALTERNATIVES:
        evidence["answers_mean"] = f"{field.path} names answers that are accepted"
        return "any"
    if flag := next((flag for flag in fields if flag.name in MULTIPLE and _says_yes(flag)), None):
        evidence["answers_mean"] = f"{flag.path} says which problems have several answers"
        return "all"
    looked = lists[:MOST_LISTS]
    same = sum(all(same_answer(golds[0], gold) for gold in golds[1:]) for golds in looked)
    if 2 * same > len(looked):
        evidence["answers_mean"] = f"{of}, {same} of {len(looked)} repeat one value in other words"
        return "any"
    if all(_are_numbers(value) for value in field.values) or field.name not in SEVERAL_ANSWERS:
        evidence["answers_mean"] = f"{of}, {len(looked) - same} of {len(looked)} hold different values of one answer"
        return "all"
    shown = json.dumps(lists[0], ensure_ascii=False)[:80]
    raise SourceError(
        f"{path}: `{field.path}` holds several values in {len(lists)} of {len(field.values)} rows, for example {shown}; say in "
        "`collect.sources` of a parameter file (--params) whether all of them are needed (`answers_mean: all`) or any of them "
        "is right (`answers_mean: any`)"
    )


def values_of(value: Any) -> list[str]:
    """The different golds in a published list, or in the JSON text of a list of texts; none in anything else."""
    if isinstance(value, str) and value.lstrip().startswith('["'):
        try:
            value = json.loads(value)
        except ValueError:
            return []
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        value = value[0]
    return list(dict.fromkeys(gold for part in value if (gold := gold_answer(part)))) if isinstance(value, list) else []


def _are_numbers(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_are_numbers, value))
    return isinstance(value, int | float) and not isinstance(value, bool)


def _says_yes(field: Field) -> bool:
    return any(value is True or str(value).lower() in ("true", "yes", "1") for value in field.values)


def _are_tolerances(field: Field) -> bool:
    try:
        return all(read_tolerance(str(value)) for value in field.values)
    except ToleranceError:
        return False


def _are_units(field: Field) -> bool:
    return all(isinstance(value, str) and len(value) <= 30 for value in field.values)
