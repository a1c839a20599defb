"""A noise filter of one's own: problems that ask for a program, which has no answer to compare.

denoise:
  filters: ["examples.own_csv.own_filter:program"]
"""

import re

from compass.curation.noise.finding import Finding, Strength, found
from compass.settings import Denoise

_PROGRAM = re.compile(r"\bwrite (?:a|the) (?:\w+ )?(?:program|function|script)\b", re.I)


def program(record: dict, settings: Denoise) -> Finding | None:
    """A problem that asks for a program; None for any other."""
    match = _PROGRAM.search(record["problem"])
    return found("program", Strength.LIKELY, record, match) if match else None
