"""Images: what a text-only reader cannot see, in Markdown, HTML, LaTeX, BBCode or as a bare file name."""

from __future__ import annotations

import re

from compass.curation.noise.finding import Finding, Strength
from compass.curation.noise.text import excerpt, holds_any
from compass.ledger import Reason
from compass.settings import Denoise

_IMAGE = re.compile(
    r"!\[[^\]]*\]\s*\(|!\[[^\]]*\]\[|<img\b|<image\b|<svg\b|\\includegraphics\b|\[/?img\b|data:image/"
    r"|[\w/%-]\.(?:png|jpe?g|gif|svg|bmp|webp|tiff?)\b|\[image\]|<figure\b|attachments?/",
    re.I,
)
_GUARDS = ("![", "<", "graphics", "img", "image", ".png", ".jp", ".gif", ".svg", ".bmp", ".webp", ".tif", "attachment")


def image(record: dict, settings: Denoise) -> Finding | None:
    """An embedded or linked picture."""
    text = record["problem"]
    lowered = text.lower()
    if not holds_any(lowered, _GUARDS):
        return None
    match = _IMAGE.search(text)
    return match and Finding(Reason.IMAGE, Strength.SURE, {"text": excerpt(text, *match.span())})
