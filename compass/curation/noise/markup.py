"""Markup debris: HTML tags and entities, BBCode, forum chatter, commands that only one web site knows."""

from __future__ import annotations

import re

from compass.curation.noise.finding import Finding, Strength
from compass.curation.noise.text import excerpt, holds_any
from compass.ledger import Reason
from compass.settings import Denoise

_MARKUP = re.compile(
    r"</?(?:br|p|div|span|sub|sup|b|i|u|em|strong|details|summary|table|tr|td|th|ul|ol|li|font|center|h[1-6]|hr|code|pre|blockquote)\s*/?>"
    r"|<(?:div|span|table|td|font|p)\s+\w+\s*=|&(?:nbsp|lt|gt|amp|quot|times|le|ge|deg|#\d{2,5}|#x[0-9a-f]{2,4});"
    r"|\[/?(?:i|b|u|hide|center|color|size|quote|list|code|tex|latex|tip|youtube|right|left)(?:=[^\]]*)?\]"
    r"|\\(?:plus|minus|equal)\{\}|use hide for answers|\\section\*?\{|\\begin\{document\}",
    re.I,
)
# `[i]` and `[b]` alone may be an index or an interval: BBCode counts with its closing tag only.
_OPEN_ALONE = re.compile(r"\[(?:i|b|u|right|left|list|code|size)\]", re.I)
_GUARDS = ("<", "[", "&", "{}", "hide", "\\section", "\\begin{")


def markup(record: dict, settings: Denoise) -> Finding | None:
    """Debris of a web page or a forum."""
    text = record["problem"]
    if not holds_any(text, _GUARDS):
        return None
    for match in _MARKUP.finditer(text):
        if not _OPEN_ALONE.fullmatch(match[0]) or f"[/{match[0][1:]}" in text:
            return Finding(Reason.MARKUP, Strength.SURE, {"found": match[0], "text": excerpt(text, *match.span())})
    return None
