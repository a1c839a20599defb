"""Long texts as the viewer holds them."""

from __future__ import annotations


def shorten(text: str, longest: int) -> str:
    """A long text's beginning and end, with a line between that says how much is left out."""
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters left out …]\n{text[-half:]}"
