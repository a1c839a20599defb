"""Texts of unknown origin, made fit to be shown."""

from __future__ import annotations


def printable(text: str, limit: int = 120) -> str:
    """One line of at most `limit` characters without control characters: a row may hold terminal escapes."""
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    plain = " ".join(plain.split())
    return plain if len(plain) <= limit else f"{plain[: limit - 1]}…"


def shorten(text: str, longest: int) -> str:
    """A long text's beginning and end, with a line between that says how much is left out."""
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters left out …]\n{text[-half:]}"
