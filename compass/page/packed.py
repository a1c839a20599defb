"""Data inside a page: JSON, compressed by gzip, in base64, in an element that no browser runs.

The scripts of a page read an element's value by `await unpack(NAME)` (`page.js`).
"""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any


def pack(value: Any) -> str:
    """A JSON value as text of the base64 alphabet; the same value gives the same text."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    # Lone surrogates cannot be written as UTF-8; a model's text may hold them.
    return base64.b64encode(gzip.compress(text.encode("utf-8", "replace"), compresslevel=9, mtime=0)).decode("ascii")


def element(name: str, packed: str) -> str:
    """The element that holds packed data; base64 holds nothing that could end it."""
    return f"<script type='text/plain' id='{name}'>{packed}</script>"
