"""A noise filter of the user's, `package.module:function` in `denoise.filters`: imported once, its findings checked.

    def program(record: dict, settings: Denoise) -> Finding | None

The contract is that of the built-in filters. Its reason is a name of its own, so that each reason in the ledger has one cause. One that is
better asked about many rows at once also has a method `prepare(records, settings)`, which is called with every batch before its rows.
"""

from __future__ import annotations

import json
import re
import traceback
from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any

from compass.curation.noise.finding import Finding, Strength
from compass.errors import UserError
from compass.files import file_digest
from compass.ledger import REASONS
from compass.named_function import load_function, source_file
from compass.settings import Denoise

_SIGNATURE = "define it as `def name(record, settings) -> Finding | None`"
_RESULT = "return None, or `Finding(reason, Strength.LIKELY, {...})` of compass.curation.noise.finding"
_REASON = re.compile(r"[a-z][a-z0-9_]*")


class FilterError(UserError):
    """A filter of the user's that cannot be used; the message names it, the row where there is one, what was found and what to do."""


def filter_error(name: str, found: str, remedy: str) -> FilterError:
    """The error to raise because of the filter `package.module:function`."""
    return FilterError(f"`denoise.filters` {name}: {found}", remedy)


@cache
def load_filter(name: str) -> Callable[[dict, Denoise], Finding | None]:
    """Import the filter. The function that is returned calls it and checks what it returns.

    Args:
        name: `package.module:function`.

    Raises:
        FilterError: it cannot be imported, or does not take a record and settings. The returned function raises it where the
            filter raises, or returns anything but a finding or None.
    """
    error = partial(filter_error, name)
    judge = _load(name)

    def checked(record: dict, settings: Denoise) -> Finding | None:
        row = f"at row {record.get('source')}:{record.get('source_id')}"
        try:
            finding = judge(record, settings)
        except UserError:
            raise
        except Exception as raised:
            place = traceback.extract_tb(raised.__traceback__)[-1]
            where = f"{place.filename}:{place.lineno}"
            raise error(f"{row} it raised {type(raised).__name__}: {raised} ({where})", "fix the filter") from raised
        if finding is not None and (wrong := _find_wrong(finding)):
            raise error(f"{row} it returned {wrong}", _RESULT)
        return finding

    return checked


@cache
def _load(name: str) -> Callable[[dict, Denoise], Finding | None]:
    return load_function(name, partial(filter_error, name), _SIGNATURE, ("record", "settings"), folder="filters")


def prepare_filters(records: list[dict], settings: Denoise) -> None:
    """Hand a batch of rows to the user's filters that prepare themselves for one.

    Raises:
        FilterError: a filter cannot be imported. What `prepare` itself raises propagates.
    """
    for name in settings.filters:
        if prepare := getattr(_load(name), "prepare", None):
            prepare(records, settings)


def filter_digests(names: Iterable[str]) -> dict[str, str]:
    """SHA-256 of each filter's source file, by `package.module:function`: which version of it judged.

    Raises:
        FilterError: there is no such module.
    """
    return {name: file_digest(source_file(name, partial(filter_error, name), "filters")) for name in names}


def _find_wrong(finding: Any) -> str:
    """What is wrong with what a filter returned; empty for a finding."""
    if not isinstance(finding, Finding):
        return f"{finding!r}, no Finding"
    if not isinstance(finding.reason, str) or not _REASON.fullmatch(finding.reason):
        return f"the reason {finding.reason!r}, no name of lower-case letters, digits and underscores"
    if finding.reason in REASONS:
        return f"the reason {finding.reason!r}, which the pipeline has itself"
    if not isinstance(finding.strength, Strength):
        return f"the strength {finding.strength!r}, no Strength"
    try:
        json.dumps(finding.evidence, allow_nan=False)
    except (TypeError, ValueError) as error:
        return f"evidence that is no JSON ({error})"
    if not isinstance(finding.evidence, dict):
        return f"the evidence {finding.evidence!r}, no dict"
    span = finding.evidence.get("span", (0, 0))
    if not (isinstance(span, list | tuple) and len(span) == 2 and all(type(place) is int for place in span)):
        return f"the span {span!r}, not the first character and the one after the last"
    return ""
