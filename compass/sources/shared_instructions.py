"""Instructions that a source puts before or after every problem, found by what nearly all of its rows share.

    Solve the following math problem step by step. …          before every problem
    Let's think step by step and output the final answer …     behind every problem

Whole sentences or lines alone are shared, they speak of the answer or the way to it, and without them most problems still
ask: "Solve the equation." before every equation is the task itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

from compass.sources.sampled_fields import asking

NEARLY_ALL = 0.8
"""Share of the rows that have what counts as shared."""

FEWEST = 5
"""Rows that a guess needs."""

_BOUNDARY = re.compile(r"(?<=[.!?:])\s+|\s*\n\s*")
_TELLS = re.compile(
    r"\b(?:answers?|respon(?:d|se)|step[- ]by[- ]step|boxed|reason(?:ing)?|final|output|format|think|assistant|solve the (?:following|given|below)"
    r"|(?:math|mathematical|following) (?:problem|question)|explain your|show your work|instructions?|user)\b|^\W*(?:math )?problem\W*$",
    re.I,
)
_MOST_PIECES = 12


def shared_instructions(texts: Sequence[str]) -> tuple[str, str]:
    """What nearly all texts begin with and what they end with, each empty where that is no instruction.

    Args:
        texts: problems as a source publishes them.
    """
    texts = [text.strip() for text in texts]
    if len(texts) < FEWEST:
        return "", ""
    prefix = _shared(texts, _beginning, str.startswith)
    suffix = _shared([text.removeprefix(prefix) for text in texts], _end, str.endswith)
    bare = [text.removeprefix(prefix).removesuffix(suffix).strip() for text in texts]
    if sum(map(asking, bare)) < 0.5 * len(bare):
        return "", ""
    return prefix.strip(), suffix.strip()


def guess_instructions(texts: Sequence[str], evidence: dict[str, str]) -> dict[str, list[str]]:
    """The settings `strip_prefixes` and `strip_suffixes` that take the shared instructions away; none where there are none.

    Args:
        texts: problems as a source publishes them.
        evidence: receives a line for each setting.
    """
    prefix, suffix = shared_instructions(texts)
    having = {
        "strip_prefixes": (prefix, "begin", sum(text.strip().startswith(prefix) for text in texts)),
        "strip_suffixes": (suffix, "end", sum(text.strip().endswith(suffix) for text in texts)),
    }
    found = {}
    for setting, (shared, where, count) in having.items():
        if shared:
            found[setting] = [shared]
            evidence[setting] = f"{count} of {len(texts)} problems {where} with it, and it tells how to answer"
    return found


def _shared(texts: Sequence[str], piece: Callable[[str, int], str], has: Callable[[str, str], bool]) -> str:
    """The longest run of whole sentences or lines that nearly all texts share and whose inmost one tells how to answer."""
    run = shared = ""
    for count in range(1, _MOST_PIECES + 1):
        most = Counter(found for text in texts if has(text, run) and (found := piece(text, count))).most_common(1)
        if not most or most[0][1] < NEARLY_ALL * len(texts):
            break
        if _TELLS.search(most[0][0].replace(run, "", 1)):
            shared = most[0][0]
        run = most[0][0]
    return shared


def _beginning(text: str, count: int) -> str:
    """The first pieces of a text, empty where it has no more than those."""
    ends = [match.end() for match in _BOUNDARY.finditer(text)]
    return text[: ends[count - 1]] if len(ends) >= count else ""


def _end(text: str, count: int) -> str:
    """The last pieces of a text, empty where it has no more than those."""
    begins = [match.end() for match in _BOUNDARY.finditer(text)]
    return text[begins[-count] :] if len(begins) >= count else ""
