"""Texts of unknown origin, made fit to be shown."""

from __future__ import annotations

import json
from typing import Any


def printable(text: str, limit: int = 120) -> str:
    """One line of at most `limit` characters without control characters: a row may hold terminal escapes."""
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    return cut(" ".join(plain.split()), limit)


def cut(text: str, limit: int) -> str:
    """A text of at most `limit` characters; a longer one ends with a sign for it."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def as_text(value: Any) -> str:
    """A text as it is, and any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def shorten(text: str, longest: int) -> str:
    """A long text's beginning and end, with a line between that says how much is left out."""
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters left out …]\n{text[-half:]}"
