r"""Damaged text made whole again, where only one reading is left.

    repair("$\x0crac{1}{2}$")       -> "$\\frac{1}{2}$"    the escape \f has eaten a command's first letter
    repair("\\\\(x\\\\) = \\\\pi")  -> "\\(x\\) = \\pi"    backslashes were doubled
    repair("a &lt; b")              -> "a < b"             HTML entities
    repair("fi\x0crst, \x1cnd")     -> "first, find"       ligatures of TeX fonts that stayed codes
    repair("2 Ã\x97 3")             -> "2 × 3"             UTF-8 read as Latin-1 or Windows-1252, by ftfy
    repair("6\\\\ \\noindent")         -> "6"                 what is left of the page that the text was cut from
    repair("x<sup>2</sup> [i]Rome[/i]") -> "x^{2} Rome"    tags of a page or a forum that only set type
    repair("45^"), repair("x|x > 1")    -> "45^\\circ", "\\{x|x > 1\\}"    a gold that lost its degree sign, or a set its braces

What has two readings stays as it is, for the filter `encoding` to drop: a tab before "rac" was `\frac` in one place of a file
and `\sqrt` in another. Repairing a repaired text changes nothing.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable
from typing import Any

# Printable ASCII without any of these needs no repair. The first sign alone is looked for in most of a text.
_SUSPECT = re.compile(
    r"[\x00-\x1f&\\<\[](?:(?<=[\x00-\x08\x0b\x0c\x0e-\x1f])|(?<=[\t\r\n])[a-z]|(?<=&)[#A-Za-z]|(?<=<)(?:/|[bh]r)|(?<=\[)(?:/|\*\])"
    r"|(?<=\\)(?:\\[A-Za-z()\[\]]|(?:plus|minus|equal)(?![A-Za-z])))"
)
_SUSPECT_START = re.compile(r"[A-Za-z]\s?(?:\||\\mid)")
_SUSPECT_END = re.compile(
    r"\\(?:\\|noindent|[a-z]*(?:page|skip|par)|end\{\w+\})\Z|\d\^(?:\\text\{\\circ\})?\Z|\[(?:b|i|u|list|center)\]\Z"
)
_LONGEST_END = 80
"""Characters in which the longest suspect end fits."""

# No text holds these by intention, so that a known rest is enough. Each with the letter of its escape.
_CONTROL = {
    "\x07": ("a", r"lpha|ngle|pprox|leph|rctan|rcsin|rccos|rray|lign"),
    "\x08": ("b", r"egin|eta|inom|ar|oxed|oldsymbol|mod|igcup|igcap|ig[lrg]?|igg[lr]|ullet|ot|ecause|ackslash|f"),
    "\x0b": ("v", r"ec|arphi|arepsilon|artheta|ee|dots|ert|space"),
    "\x0c": ("f", r"rac|orall|lat|box"),
}
# Tabs and line ends are meant more often than not. These rests are no words of a sentence; those that could be a variable
# count in a formula alone.
_SPACE = {
    "\t": ("t", r"imes|heta|herefore|riangle|ilde(?=\{)|ext(?=\{)|ext(?:bf|it|rm|sf|tt)(?=\{)|extstyle|ag(?=\{)"),
    "\r": ("r", r"ight(?=\s?[])}|.>/\\])|ightarrow|(?<=\{\r)m(?= )"),
    "\n": ("n", r"abla|otin"),
}
_SPACE_IN_MATH = {"\t": ("t", r"anh?|au|op|o(?=[ \\\d])"), "\r": ("r", r"ho"), "\n": ("n", r"eq")}


def _eaten(signs: dict[str, tuple[str, str]]) -> list[tuple[str, re.Pattern[str], str]]:
    return [(sign, re.compile(rf"{sign}({rest})(?![A-Za-z])"), letter) for sign, (letter, rest) in signs.items()]


_ALWAYS = _eaten(_CONTROL | _SPACE)
_IN_MATH = _eaten(_SPACE_IN_MATH)
_DOLLARS = re.compile(r"(?<!\\)\$\$?")
_ARROW = re.compile(r"(?<=[\w})\]] )\to(?= )")  # "f: R \to R" outside of a formula; a list's bullet starts its line
_CLOSING = re.compile(r"(\\l(floor|ceil|angle|vert|brace|brack)\b(?:(?!\\r\2).){0,200}?)\r(\2)(?![A-Za-z])", re.S)

_FONT_CODE = re.compile(r"[\x00-\x06\x0b\x0c\x0e-\x1f]")
_LIGATURES = {
    "\x0b": "ff", "\x0c": "fi", "\x0d": "fl", "\x0e": "ffi", "\x0f": "ffl",  # OT1, TeX's first font encoding
    "\x1b": "ff", "\x1c": "fi", "\x1d": "fl", "\x1e": "ffi", "\x1f": "ffl",  # T1
}  # fmt: skip
_LIGATURE = re.compile(r"([A-Za-z]*)([\x0b-\x0f\x1b-\x1f])([A-Za-z]*)")
_LIGATURE_WORDS = """
affect affects affine buffer classified coefficient coefficients configuration configurations confirm define
defined defines definite definition difference differences different differential difficult efficient effect
field fields fifteen fifth fifty figure figures file fill filled filling final finally find finding finds fine
finger fingers finish finished finite fire firm first fish fit fits five fix fixed flag flags flat flight flip
flipped flips float floor flow flower flowers flows fly flying identified infinite infinitely infinity inflation
modified off offer offers office official officer profit profits reflect reflected reflection satisfied
satisfies satisfy satisfying scientific significant simplified simplify specific specified staff stiff
sufficient sufficiently suffix traffic verified verify classify
"""
_LIGATURE_WORD = frozenset(_LIGATURE_WORDS.split())

# Codes of OMS, TeX's font of signs, beside the command for the same sign. Alone, a code may be of any font.
_SIGNS = {
    "\x00": "-",
    "\x01": r"\\cdot",
    "\x02": r"\\times",
    "\x04": r"\\div",
    "\x06": r"\\pm",
    "\x14": r"\\leq?",
    "\x15": r"\\geq?",
}
_SIGN_CODES = "".join(_SIGNS)
_SIGN_TWICE = re.compile("|".join(rf"({sign}){code}|{code}(?=\s?{sign}(?![A-Za-z]))" for code, sign in _SIGNS.items()))

_DOUBLED_COMMAND = re.compile(
    r"\\\\(?=(?:[dt]?frac|sqrt|cdot|cdots|ldots|times|div|leq?|leqslant|geq?|geqslant|neq|alpha|beta|gamma|delta|theta|lambda"
    r"|omega|varphi|phi|pi|sin|cos|tan|log|ln|angle|triangle|overrightarrow|overline|vec|mathbb|mathrm|text|infty|circ|sum|int"
    r"|left|right|begin|end|in|to|perp|parallel|therefore|because|sigma|mu|rho|quad|lim)(?![A-Za-z]))"
)
_RUN = re.compile(r"\\+(?=[A-Za-z()\[\]{}\\])")
_ENVIRONMENT = re.compile(r"(\\+)(begin|end)\{([A-Za-z]+\*?)\}")
_DELIMITERS = re.compile(r"(\\+)([()])")

_ENTITY = re.compile(
    r"&(?:lt|gt|amp|quot|apos|nbsp|le|ge|ne|times|divide|minus|plusmn|deg|pi|radic|middot|sup[123]|frac(?:12|14|34)"
    r"|ndash|mdash|hellip|[lr][sd]quo|#\d{2,6}|#[xX][0-9A-Fa-f]{2,5});"
)
_MOJIBAKE = re.compile(r"[\u00c2-\u00f4][\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]|[\u0080-\u009f]")


_TAG_SIGNS = ("</", "[/", "<br", "<hr", "[*]", "\\plus", "\\minus", "\\equal")
_STYLE = re.compile(
    r"<(b|i|u|em|strong|p|div|span|font|center|small|big|h[1-6])((?:\s+[a-z-]+\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'|[\w#%-]+))*)\s*>(.*?)</\1\s*>"
    r"|\[(b|i|u|s|center|left|right|color|size|font|list)(=[^\]\n]{0,40})?\](.*?)\[/\4\]",
    re.I | re.S,
)
_BLOCK = re.compile(r"p|div|center|list|h[1-6]", re.I)
_SCRIPT = re.compile(r"<(sub|sup)>\s*([^<>]{1,40}?)\s*</\1>", re.I)
_LINE_TAG = re.compile(r"\s*<(?:br|hr)\s*/?>\s*", re.I)
_ITEM = re.compile(r"^[ \t]*\[\*\][ \t]*", re.M)
_FORUM_SIGN = re.compile(r"\\(plus|minus|equal)(?:\{\s*\})?(?![A-Za-z{])")
_LAST_OPEN = re.compile(r"\s*\[(?:b|i|u|list|center)\]\s*\Z", re.I)
_FORUM_SIGNS = {"plus": "+", "minus": "-", "equal": "="}


_SCRAP = re.compile(r"(?:\s|\\\\|\\(?:noindent|newpage|clearpage|pagebreak|(?:small|med|big)skip|par)(?![A-Za-z]))+\Z")
_LOST_DEGREE = re.compile(r"(?<=\d)\^(?:\\text\{\\circ\})?\Z")
_LOST_BRACES = re.compile(
    r"([A-Za-z])\s*(?:\||\\mid)\s*(?=[^|]*\1)[^|{}]*(?:[<>=≤≥∈≠]|\\(?:leq?|geq?|neq?|in|leqslant|geqslant)\b)[^|{}]*"
)
_LAST_END = re.compile(r"\\end\{(\w+\*?)\}\Z")

JSON_STARTS = ('["', "[{", '{"', "[[")
"""How a list or an object begins whose text is JSON."""


_ROUNDS = 32
"""Repairs of one text at most: a hostile one may be escaped any number of times."""


def repair(text: str) -> str:
    """The text with every damage repaired that can be repaired with certainty; the text itself where there is none.

    One damage can hide another: a page's end inside of two misread bytes. So it is repeated until nothing changes.
    """
    for _ in range(_ROUNDS):
        repaired = _repair_once(text)
        if repaired == text:
            break
        text = repaired
    return text


def _repair_once(text: str) -> str:
    if text.isascii() and not _is_suspect(text):
        return text
    if not text.isascii() and _MOJIBAKE.search(text):
        text = _decoded_once(text)
    text = _with_eaten_letters(text)
    if _FONT_CODE.search(text):
        text = _LIGATURE.sub(_ligature, _SIGN_TWICE.sub(lambda match: match[0].rstrip(_SIGN_CODES), text))
    if "\\\\" in text:
        text = _with_single_backslashes(text)
    if "&" in text:
        text = _without_entities(text)
    if "[" in text or "<" in text or "\\" in text:
        text = _without_tags(text)
    return _without_scraps(text)


def _is_suspect(text: str) -> bool:
    """Whether a text of ASCII may need repair."""
    end = text.rstrip()[-_LONGEST_END:]
    return bool(_SUSPECT_START.match(text) or _SUSPECT_END.search(end) or _SUSPECT.search(text))


def repaired_row(value: Any) -> Any:
    """A row, or any value in it, with every text repaired; the very same object where nothing is damaged.

    The text of a JSON list or object stays: its backslashes are doubled rightly.
    """
    if isinstance(value, str):
        return value if value.lstrip()[:2] in JSON_STARTS else repair(value)
    if isinstance(value, dict):
        items = {key: repaired_row(part) for key, part in value.items()}
        return items if any(items[key] is not value[key] for key in value) else value
    if isinstance(value, list):
        parts = [repaired_row(part) for part in value]
        return parts if any(new is not old for new, old in zip(parts, value, strict=True)) else value
    return value


def _decoded_once(text: str) -> str:
    import ftfy

    # Without `replace_lossy_sequences`, which puts U+FFFD where bytes are missing: such a text cannot be repaired.
    return ftfy.fix_encoding(text, ftfy.TextFixerConfig(replace_lossy_sequences=False))


def _with_eaten_letters(text: str) -> str:
    for sign, pattern, letter in _ALWAYS:
        if sign in text:
            text = pattern.sub(rf"\\{letter}\1", text)
    for sign, pattern, letter in _IN_MATH:
        if sign in text and pattern.search(text):
            inside = _formulas(text)
            text = pattern.sub(lambda m, letter=letter, inside=inside: f"\\{letter}{m[1]}" if inside(m) else m[0], text)
    if "\t" in text:
        text = _ARROW.sub(r"\\to", text)
    return _CLOSING.sub(r"\1\\r\3", text) if "\r" in text else text


def _formulas(text: str) -> Callable[[re.Match[str]], bool]:
    """Whether a match in the text stands between dollar signs, and is not the start of an indented line."""
    dollars = [sign.start() for sign in _DOLLARS.finditer(text)]

    def inside(match: re.Match[str]) -> bool:
        before = text[max(0, match.start() - 80) : match.start()].rstrip(" \t")
        return bisect_left(dollars, match.start()) % 2 == 1 and before[-1:] not in ("\n", "&")

    return inside


def _ligature(match: re.Match[str]) -> str:
    """The word that the code stood in, or beside: some programs wrote the letters as well, before or after the code."""
    left, code, right = match.groups()
    letters = _LIGATURES[code]
    for word in (left + letters + right, left + right):
        if word.lower() in _LIGATURE_WORD and letters in word.lower():
            return word
    if left or right or code not in "\x0b\x0c":
        return match[0]
    around = match.string[max(0, match.start() - 1) : match.end() + 1]
    return "" if sum(map(str.isdigit, around)) < 2 else match[0]  # a page's end, but between digits who knows


def _with_single_backslashes(text: str) -> str:
    """Backslashes halved: all of them where all are doubled, else those of `\\\\( \\\\)` and of commands outside of an environment.

    Two backslashes end a row inside of an environment, so that a text with rows keeps them unless nothing in it is single.
    """
    runs = [len(match[0]) for match in _RUN.finditer(text)]
    if len(runs) >= 2 and all(length % 2 == 0 for length in runs) and _DOUBLED_COMMAND.search(text):
        return _RUN.sub(lambda match: "\\" * (len(match[0]) // 2), text)
    text = _with_closed_environments(text)
    marks, inside = list(_DELIMITERS.finditer(text)), _formulas(text)
    in_turn = len(marks) % 2 == 0 and [mark[2] for mark in marks] == ["(", ")"] * (len(marks) // 2)
    if marks and in_turn and not any(len(mark[1]) != 2 or inside(mark) for mark in marks):
        text = _DELIMITERS.sub(r"\\\2", text)
    return text if "\\begin" in text else _DOUBLED_COMMAND.sub(r"\\", text)


def _with_closed_environments(text: str) -> str:
    """`\\\\end{cases}` made `\\end{cases}` where `cases` was opened and nothing else ends it."""
    unended: Counter[str] = Counter()
    for slashes, what, name in (match.groups() for match in _ENVIRONMENT.finditer(text)):
        if len(slashes) % 2:
            unended[name] += 1 if what == "begin" else -1

    def closed(match: re.Match[str]) -> str:
        slashes, what, name = match.groups()
        if what == "begin" or slashes != "\\\\" or unended[name] <= 0:
            return match[0]
        unended[name] -= 1
        return match[0][1:]

    return _ENVIRONMENT.sub(closed, text)


def _without_entities(text: str) -> str:
    return _ENTITY.sub(lambda match: html.unescape(match[0]).replace("\xa0", " "), text)


def _without_tags(text: str) -> str:
    """The text without tags that only set type, with a line for a line's end, and with a forum's own commands as the signs that they print.

    A tag counts with its closing one; `a<b>c` and an index in brackets stay. So do links, pictures, tables and what a forum hides.
    """
    if any(map(text.__contains__, _TAG_SIGNS)):
        text = _SCRIPT.sub(lambda tag: f"{'_' if tag[1].lower() == 'sub' else '^'}{{{tag[2]}}}", text)
        text = _STYLE.sub(_set_plain, text)
        text = _ITEM.sub("- ", _LINE_TAG.sub("\n", text))
        text = _FORUM_SIGN.sub(lambda sign: _FORUM_SIGNS[sign[1]], text)
    return _LAST_OPEN.sub("", text) if text.rstrip().endswith("]") else text


def _set_plain(tag: re.Match[str]) -> str:
    name, content = (tag[1], tag[3]) if tag[1] else (tag[4], tag[6])
    return f"{content.strip()}\n" if _BLOCK.fullmatch(name) else content


def _without_scraps(text: str) -> str:
    """The text without commands at its end that print nothing there, nor the end of an environment that it never began."""
    # A look at the end first: a search for it from the text's beginning stops at every blank.
    bare = _SCRAP.sub("", text) if "\\" in text[-40:] and _SCRAP.search(text, max(0, len(text) - 40)) else text
    ended = _LAST_END.search(bare) if bare.endswith("}") else None
    if ended and bare.count(f"\\begin{{{ended[1]}}}") < bare.count(ended[0]):
        bare = bare[: ended.start()].rstrip()
    if bare.endswith(("^", "}")):
        bare = _LOST_DEGREE.sub(r"^\\circ", bare)
    if ("|" in bare[:3] or "\\mid" in bare[:6]) and len(bare) < 80 and _LOST_BRACES.fullmatch(bare):
        bare = f"\\{{{bare}\\}}"
    return bare
