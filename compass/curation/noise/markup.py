"""Markup debris: HTML tags and entities, BBCode, forum chatter, commands that only one web site knows."""

from __future__ import annotations

import re

from compass.curation.noise.finding import Finding, Strength, found
from compass.curation.noise.text import holds_any
from compass.ledger import Reason
from compass.settings import Denoise

_MARKUP = re.compile(
    r"</?(?:br|p|div|span|sub|sup|b|i|u|em|strong|details|summary|table|tr|td|th|ul|ol|li|font|center|h[1-6]|hr|code|pre|blockquote)\s*/?>"
    r"|<(?:div|span|table|td|font|p)\s+\w+\s*=|&(?:nbsp|lt|gt|amp|quot|times|le|ge|deg|#\d{2,5}|#x[0-9a-f]{2,4});"
    r"|(?<!\\)\[/?(?:i|b|u|hide|center|quote|list|code|tex|latex|tip|youtube|right|left|color|size)\]"
    r"|(?<!\\)\[(?:color|size|quote|hide|list|font|youtube)=[^\]]*\]"
    r"|\\(?:plus|minus|equal)\{\}|use hide for answers|\\section\*?\{|\\begin\{document\}",
    re.I,
)
# `[i]` alone may be an index and `a<b>c` two inequalities: such tags count with their closing ones only.
_OPEN_ALONE = re.compile(r"\[(?:i|b|u|right|left|list|code|size)\]|<[ibup]>", re.I)
_GUARDS = ("<", "[", "&", "{}", "hide", "\\section", "\\begin{")


def markup(record: dict, settings: Denoise) -> Finding | None:
    """Debris of a web page or a forum."""
    text = record["problem"]
    if not holds_any(text, _GUARDS):
        return None
    for match in _MARKUP.finditer(text):
        closing = match[0][0] + "/" + match[0][1:]
        if not _OPEN_ALONE.fullmatch(match[0]) or closing in text:
            return found(Reason.MARKUP, Strength.SURE, record, match, found=match[0])
    return None
