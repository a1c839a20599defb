"""Answers of multiple choice: a letter with its value (`(B) 94`), several letters (`ACD`), and letters in an order (`b a d c`)."""

from __future__ import annotations

import re

_STYLE = r"\\(?:text|textbf|textrm|mathrm|mathbf|mathsf|bf|rm)\s*\{"
_LETTERED = re.compile(
    rf"(?:{_STYLE})?(?P<open>\()?\s*(?:{_STYLE})?(?P<letter>[A-H])(?P<inner>\}})?\s*(?P<mark>[).:])(?P<outer>[.:]?\}}|[.:])?\s*(?P<value>[^*/^=<>_+,].*)",
    re.DOTALL,
)
_ONE = re.compile(r"[A-Za-z]")
_LISTED = re.compile(r"\s*(?:,|;|\\?and|&|\s)\s*")


def lettered(text: str) -> tuple[str, str] | None:
    """The letter of a choice and the value beside it: `(B) 94`, `C. \\text{a cube}`; None for anything else."""
    match = _LETTERED.fullmatch(text)
    if match is None or (match["open"] and match["mark"] != ")"):
        return None
    value = match["value"].strip()
    if value.count("{") < value.count("}") and value.endswith("}"):
        value = value[:-1]  # \\text{(B) a cube}
    if match["mark"] == "." and len(value) < 3 and value.isalpha():
        return None  # p.m. and its like
    return match["letter"], value


def letters(text: str) -> tuple[str, str] | None:
    """Single letters alone, and how they stand: `ACD` joined, `A, C, D` listed, `b a d c` spaced; None for anything else."""
    if text.isalpha():
        return (text, "joined") if text.isascii() and text.isupper() and 1 < len(text) < 9 else None
    parts = _LISTED.split(text)
    if not 1 < len(parts) < 27 or not all(map(_ONE.fullmatch, parts)):
        return None
    return "".join(parts), "spaced" if set(text) <= set("".join(parts) + " ") else "listed"


def same_letters(gold: str, answer: str) -> bool | None:
    """Whether two answers of letters alone are equal; None where they are no such answers, or mathematics may say more.

    Letters that only spaces part are an order. A word of capitals names several choices, in any order, where the other side lists them.
    """
    one, two = letters(gold), letters(answer)
    if one is None or two is None:
        return None
    styles = {one[1], two[1]}
    if "spaced" in styles:
        return one[0] == two[0] if len(one[0]) > 2 or styles != {"spaced"} else None
    if styles == {"joined", "listed"} and one[0].isupper() and two[0].isupper():
        return sorted(one[0]) == sorted(two[0])
    return None
