"""Notations that the grammar does not know, rewritten as LaTeX that it does: `]1,2[`, `10C3`, `5.2 x 10^3`, `32 base 8`, "where k is an integer"."""

from __future__ import annotations

import re

from compass.verifier.reading.numbers import read_number_words
from compass.verifier.reading.units import LETTERS, find_unit
from compass.verifier.reading.vocabulary import FUNCTIONS, GREEK_SET

_TIMES_TEN = re.compile(r"(?<=[\d.])\s?[xX]\s?(?=10\^)")
_EXPONENT = re.compile(r"(?<=\d) E(?=[+-]?\d)")
_UPRIGHT_EXPONENT = re.compile(r"(?<=\d)\s?\\(?:text|mathrm|rm)\s?\{E\}\s?(?=[+-]?\d)")
_POINT = re.compile(r"(?<![\d.}])\.(?=\\(?:overline|bar|dot)(?![a-z]))")
_FRACTION = re.compile(r"(?<![\\A-Za-z])[dt]?frac(?=\s?[{\d])")
_BASE = re.compile(
    r"(?<=[0-9A-Fa-f])\}?\s*(?:\\(?:text|mathrm|textrm)\s*\{)?\s*\(?\s*(?:in )?base[\s-]*(?P<base>\d{1,2}|[a-z]+)\s*\)?\s*\}?$"
)
_COMPARED = re.compile(
    r"(?<=[\w})])\s?(?:\\text\s?\{\s*)?\bis\s(?:strictly\s)?(?P<word>greater|more|larger|less|smaller) than(?P<equal> or equal to)?\s*\}?\s*(?=[\w\\(.-])"
)
_WORDED_BASE = re.compile(r"(?<=[\d)])_\{(?P<base>[a-z]{3,8})\}")
_LETTERED_DIGITS = re.compile(
    r"(?P<before>(?:^|.*=)-?)(?:\\(?:text|mathrm|textrm)\s*\{(?P<upright>[0-9A-Fa-f]+)\}|(?P<digits>(?=\d*[A-Fa-f])(?:\d[0-9A-Fa-f]*|[A-F][0-9A-F]+)))"
    r"_\{?(?P<base>1[1-6])\}?",
    re.DOTALL,
)
_UPRIGHT_DIGITS = re.compile(r"\\(?:text|mathrm|textrm)\s*\{([0-9A-F]+)\}(?=[0-9A-F\\{]*_\{?1[1-6])")
_BRACKETED_WORDS = re.compile(
    r"(?P<number>(?<![\w^.}])\d[\d.,/]*) ?\((?P<words>[A-Za-z][A-Za-z.'/ -]*)\)(?![\^\w(\[{])"
)
_HEXADECIMAL = re.compile(r"0[xX]([0-9A-Fa-f]+)")


def rewrite_numbers(text: str) -> str:
    """Normalised text with the notations of this module rewritten; any other text as it is."""
    if "10^" in text:
        text = _TIMES_TEN.sub(r"\\times ", text)
    if "{E}" in text:
        text = _UPRIGHT_EXPONENT.sub("e", text)
    if " E" in text:
        text = _EXPONENT.sub("e", text)
    if ".\\" in text:
        text = _POINT.sub("0.", text)
    if "frac" in text:
        text = _FRACTION.sub(r"\\frac", text)
    if "_{" in text:
        text = _WORDED_BASE.sub(_with_base, text)
    if " than" in text:
        text = _COMPARED.sub(_comparison, text)
    if "(" in text:
        text = _BRACKETED_WORDS.sub(_unit_in_brackets, text)
    if "base" in text:
        text = _BASE.sub(_with_base, text)
    if text[:2] in ("0x", "0X") and (match := _HEXADECIMAL.fullmatch(text)):
        return f"\\based{{{match[1].upper()}}}{{16}}"
    if "_1" in text or "_{1" in text:
        text = _UPRIGHT_DIGITS.sub(r"\1", text) if text[:1] != "\\" else text
        match = _LETTERED_DIGITS.fullmatch(text)
        if match is not None:
            return f"{match['before']}\\based{{{(match['upright'] or match['digits']).upper()}}}{{{match['base']}}}"
    return text


def _unit_in_brackets(match: re.Match[str]) -> str:
    """`9 (apples)` and `12 (DVDs)` with their words upright; variables and functions after a number multiply it."""
    first = re.split(r"[ /.]", match["words"])[0]
    is_noun = len(first) > 3 or (len(first) == 3 and first.endswith("s")) or " " in match["words"]
    is_unit = find_unit(first) and (len(first) > 1 or (first in LETTERS and match[0] == match.string))
    if first in FUNCTIONS | GREEK_SET or not (is_noun or is_unit):
        return match[0]
    return rf"{match['number']}(\text{{{match['words']}}})"


def _comparison(match: re.Match[str]) -> str:
    sign = ">" if match["word"] in ("greater", "more", "larger") else "<"
    return f"{sign}=" if match["equal"] else sign


def _with_base(match: re.Match[str]) -> str:
    base = match["base"]
    value = base if base.isdigit() else read_number_words([base])
    return match[0] if value is None else f"_{{{value}}}"


_SYMBOL = r"(?:[A-Za-z]|\\[a-zA-Z]+)(?:_(?:\w|\{\w+\}))?"
_SYMBOLS = rf"{_SYMBOL}(?:\s*(?:,|\s|and)\s*{_SYMBOL})*"
_QUANTIFIER = r"(?:(?:all|any|some|every|each|an|a|arbitrary|the|given)\s+)*"
_KIND = (
    r"(?P<kind>(?:(?:arbitrary|real|complex|positive|negative|non-?negative|nonzero|whole|natural|rational)\s+)*"
    r"(?:integers?|numbers?|reals?|constants?|parameters?|scalars?|real|complex)(?:\s+(?:values?|constants?|parameters?|numbers?)(?:\s+of)?)?)"
)
_JOINER = r"[,;(]?\s*(?:and\s+)?(?:where|with|for|when|here)\s*"
_WORDED = [
    re.compile(rf"{_JOINER}\s{_QUANTIFIER}{_KIND}\s*(?P<names>{_SYMBOLS})\s*\)?$"),
    re.compile(
        rf"(?:{_JOINER}|[,;(]\s*){_QUANTIFIER}(?P<names>{_SYMBOLS})\s*(?:is|are|being)?\s+{_QUANTIFIER}{_KIND}\s*\)?$"
    ),
    re.compile(rf"{_JOINER}\s(?:all|any|some|every|each)\s+(?P<names>{_SYMBOLS})\s*\)?$"),
]
_MEMBER = re.compile(
    rf"[,;]?\s*(?:{_JOINER})?\s*{_QUANTIFIER}\s*(?:\\forall\s?|\()\s*(?P<member>{_SYMBOLS}\\in\s?\\mathbb\{{[A-Z]\}}[^,()]*)\)?$"
)
_MIDDLE = re.compile(rf"\s(?:for|where|with)\s{_QUANTIFIER}({_SYMBOL}\\in\s?\\mathbb\{{[A-Z]\}})(?=\s?(?:,|and|or))")
_WORDED_MEMBER = re.compile(rf"{_JOINER}{_QUANTIFIER}(?P<member>{_SYMBOLS}\\in\s?\\mathbb\{{[A-Z]\}}[^,()]*)$")
_SHARED = re.compile(
    rf"(?<=[,;(])(?P<first>{_SYMBOL}),(?P<rest>{_SYMBOL}(?:,{_SYMBOL})*)\\in\s?(?P<set>\\mathbb\{{[ZNQ]\}}(?:[\^_](?:\w|[+*]|\{{[^{{}}]*\}}))?)$"
)
_BEFORE_MEMBER = re.compile(rf";(?={_SYMBOLS}\\in\s?\\mathbb)")
_PLAIN_SET = re.compile(r"\\in\s?(?:\\(?:mathbf|mathrm|text|Bbb|mathcal)\s?\{?([ZNRQ])\}?|\\?([ZNRQ]))(?![a-zA-Z(])")
_COUNTED = re.compile(
    rf"[,;(]\s*(?P<name>{_SYMBOL})=(?P<first>[01]),(?:\\pm|1|2)[\d,;\s\\pm]*(?:\\[lc]?dots|\.\.\.)[\s.]*\)?$"
)
_TEXT = re.compile(r"\\(?:text|textrm|textnormal|mathrm|mbox)\s*\{([^{}]*)\}")
_TRIGGER = re.compile(r"where|for|with|integer|constant|\bn?either|\\in|\\forall|dots|\.\.\.|real|arbitrary")

_REVERSED = re.compile(
    r"(?P<before>^|\\in|\\cup|\\cap|\\setminus|=|or|and|,|\})\](?P<inside>[^\[\]]+)(?P<close>[\[\]])"
)
_OPEN_RIGHT = re.compile(r"\[(?P<inside>[^\[\]]+)\[")
_TWO_ENDS = re.compile(r"[^,;][,;].*[^,;]", re.DOTALL)
_TAIL = 240
"""Characters at the end of an answer in which a clause may stand."""
_AFTERTHOUGHT = re.compile(rf"(?<=[}}+*\d]) (?:is|are|being) {_QUANTIFIER}{_KIND}$")
_LETTERED = re.compile(
    r"(?:\{\}|(?<![\w})\]']))[_^]\{?(?P<top>\d+|[a-z])\}?\s?(?:\\mathrm\{)?(?P<kind>[CP])\}?_\{?(?P<bottom>\d+|[a-z])\}?"
    r"|(?<![\w}\\])(?P<top2>\d{1,4})\s?(?P<kind2>[CP])\s?(?P<bottom2>\d{1,4})(?![\w.])"
)
_THREE_DOTS = re.compile(r"(?<=[,;+*-])\.{3,}")
_QUANTIFIED = re.compile(r"(\\(?:exists|forall)[^:,|]*)(?::|\||\\mid(?![a-z])|\\text\{\s?(?:such that|s\.t\.)\s?\})")
_EXTREME = re.compile(r"(?<=imum)(?:\s?value)?\}?\s?:", re.IGNORECASE)
_UNION = re.compile(r"(?<=[)\]}])\s?(?:U|\\text\{\s?U\s?\})\s?(?=[(\[{\\])")
_EITHER = re.compile(r"^(?:\\text\{\s?)?either\s?\}?(?![a-z])", re.IGNORECASE)
_ONLY = re.compile(r"^\\text\{\s?only\s?\}|^only(?=[\s\\a-zA-Z]*=)")
_LAST_ONLY = re.compile(r"(?<=[\w}])\s*(?:\\text\{\s?only\s?\}|\sonly)$")
_BOLD = r"\\(?:mathbf|boldsymbol|bm)\s?\{?([A-Za-z])\}?"
_CROSSED = re.compile(rf"{_BOLD}\s?\\times\s?{_BOLD}")
_PREDICATE = re.compile(r"\bis (?=(?:even|odd|prime|rational|irrational)\b)")
_PART = re.compile(r"(?:^|[,;]?\s*)\(([a-f])\)\s*(?=\S)")
_SIGNED = re.compile(
    r"(?P<name>[A-Za-z]|\\[a-z]+)\s(?:is\s)?(?P<sign>positive|negative|non-?negative|non-?positive|non-?zero)"
)
_SIGN = {"positive": ">0", "negative": "<0", "nonnegative": r"\ge0", "nonpositive": r"\le0", "nonzero": r"\ne0"}
_ALL_BUT = re.compile(
    r"(?:\\text\s?\{\s?)?(?:the set of |set of )?(?:all |any |every )?(?:real numbers?|reals?)(?: x)?,?\s(?:except(?: for)?|other than|but|excluding|without)(?:\s?\}\s?|\s)(?P<values>[^a-z]{1,40}(?:and\s[^a-z]{1,20})?)"
)
_BAR_POINT = re.compile(r"[A-Z]?\(-?[\d./]+(?:\|-?[\d./]+){1,2}\)")
"""A point with bars between its coordinates, as German and Dutch schools write it: `M(4 | 2)`."""
_BOUNDED = re.compile(
    r"(?:the set of |set of )?(?:all |any |every )?(?:real (?:numbers?|values?)|reals?|values|numbers)?(?: of)?(?P<name> ?(?<![A-Za-z])[A-Za-z](?![A-Za-z]))?,?"
    r"\s?(?:(?:that|which)\s(?:are|is)\s|is\s|with\s|being\s)?(?P<not>not\s|no\s)?"
    r"(?P<than>at most|at least|(?:strictly\s)?(?:less|smaller|lower|greater|larger|more|bigger|higher) than(?P<equal> or equal to)?)\s?(?P<value>[^A-Za-z\s][^A-Za-z]{0,30})"
)
"""A half-line in words: "all real numbers greater than or equal to 2", "x is at most 4"."""
_BETWEEN = re.compile(
    r"(?:the set of |set of )?(?:all |any |every )(?:real (?:numbers?|values?)|reals?|real)(?: of)?(?: ?(?<![A-Za-z])[A-Za-z](?![A-Za-z]))?,?\s?(?:(?:that|which)\s(?:are|is|lie)\s|lying\s)?(?P<how>from|between)\s?(?P<low>-?[\d./]+) (?:to|and)\s?(?P<high>-?[\d./]+),?"
    r"(?:\s?\(?(?P<ends>inclusive|(?:both\s)?(?:ends|endpoints|limits)?\s?included|including (?:both|the) (?:ends|endpoints)|exclusive|excluded)\)?)?"
)
"""An interval in words: "all real numbers from -1 to 5, both endpoints included". `from` includes its ends, `between` does not, unless said."""
_RATIO_IN_WORDS = re.compile(r"\d[\d.]*(?: to \d[\d.]*){2,4}")
_LETTERS_AND = re.compile(r"[A-J](?:&[A-J])+")
_KIND_OF_FIGURE = re.compile(
    r"\\text\s?\{\s?(?P<kind>triangle|angle)\s*\}\s?(?=[A-Z])|^(?P<plain>triangle|angle)\s(?=[A-Z]{1,3}$)"
)
_FOREIGN_OR = re.compile(r"(?<=[\w)}])\s(?:oder|ou|или|albo|lub|veya|eller)\s(?=[\w(\\-])")
_MODULO = re.compile(
    r"(?:\(\s?\\?(?:(?:text|mathrm|operatorname|textrm)\{|b)?|\\(?:text|mathrm)\{\()mod(?:ulo)?\}?\s?(?P<m>[^(){}]+)(?:\\text\{)?\)\}?"
)


def rewrite_notation(text: str) -> str:
    """Normalised text with the notations of this module rewritten; any other text as it is."""
    if text.startswith("(a)"):
        text = _join_parts(text)
    if "]" in text or "[" in text:
        text = _intervals(text)
    if "C" in text or "P" in text:
        text = _LETTERED.sub(_selection, text)
    if "imum" in text:
        text = _EXTREME.sub("=", text)
    if "U" in text:
        text = _UNION.sub(r"\\cup ", text)
    if "ither" in text:
        text = _EITHER.sub("", text)
    if "only" in text:
        text = _LAST_ONLY.sub("", _ONLY.sub("", text))
    if "times" in text:
        text = _CROSSED.sub(r"\\vec{\1}\\times\\vec{\2}", text)
    if "is " in text:
        text = _PREDICATE.sub("", text)
    if "exists" in text or "forall" in text:
        text = _QUANTIFIED.sub(r"\1,", text)
    if "..." in text:
        text = _THREE_DOTS.sub(r"\\ldots ", text)
    if "ive" in text or "zero" in text:
        text = _SIGNED.sub(_compare_with_zero, text) if _SIGNED.fullmatch(text) else text
    if "real" in text and (match := _ALL_BUT.fullmatch(text)):
        text = rf"\mathbb{{R}}\setminus\{{{match['values']}\}}"
    if "at most" in text or "at least" in text or " than" in text:
        text = _BOUNDED.sub(_write_bound, text) if _BOUNDED.fullmatch(text) else text
    if "real" in text and (match := _BETWEEN.fullmatch(text)):
        closed = "ex" not in (match["ends"] or "") and (match["ends"] is not None or match["how"] == "from")
        text = f"{'[' if closed else '('}{match['low']},{match['high']}{']' if closed else ')'}"
    if "&" in text and _LETTERS_AND.fullmatch(text):
        text = text.replace("&", ",")
    if " to " in text and _RATIO_IN_WORDS.fullmatch(text):
        text = text.replace(" to ", ":")
    if "|" in text and _BAR_POINT.fullmatch(text):
        text = text.replace("|", ",")
    if "angle" in text:
        text = _KIND_OF_FIGURE.sub(lambda match: rf"\{match['kind'] or match['plain']} ", text)
    if " " in text:
        text = _FOREIGN_OR.sub(" or ", text)
    if "mod" in text:
        text = _MODULO.sub(lambda match: rf"\pmod{{{match['m']}}}", text)
    return _with_clause(text) if _TRIGGER.search(text) else text


def _join_parts(text: str) -> str:
    """`(a) 36, (b) 26` as the pair of its parts; text without two parts in their order as it is."""
    labels = list(_PART.finditer(text))
    if len(labels) < 2 or [label[1] for label in labels] != list("abcdef"[: len(labels)]):
        return text
    ends = [*(label.start() for label in labels[1:]), len(text)]
    values = [text[label.end() : end].strip(" ,;") for label, end in zip(labels, ends, strict=True)]
    return f"({','.join(values)})" if all(values) and not any("," in value for value in values) else text


def _compare_with_zero(match: re.Match[str]) -> str:
    return match["name"] + _SIGN[match["sign"].replace("-", "")]


def _write_bound(match: re.Match[str]) -> str:
    if match["name"] is None and "real" not in match[0]:
        return match[0]  # "at most 4" alone bounds an answer and is none
    above = match["than"] == "at least" or re.search("greater|larger|more|bigger|higher", match["than"]) is not None
    closed = match["than"].startswith("at ") or match["equal"] is not None
    if match["not"]:
        above, closed = not above, not closed
    sign = {(True, True): r"\ge ", (True, False): ">", (False, True): r"\le ", (False, False): "<"}[above, closed]
    return f"{(match['name'] or 'x').strip()}{sign}{match['value'].strip()}"


def _intervals(text: str) -> str:
    """`]a,b[` is `(a,b)`."""

    def turned(found: re.Match[str]) -> str:
        if not _has_two_ends(found["inside"]):
            return found[0]
        return f"{found['before']}({found['inside']}{')' if found['close'] == '[' else ']'}"

    text = _REVERSED.sub(turned, text)
    return _OPEN_RIGHT.sub(lambda found: f"[{found[1]})" if _has_two_ends(found[1]) else found[0], text)


def _has_two_ends(inside: str) -> bool:
    return _TWO_ENDS.search(inside) is not None and inside.count("(") == inside.count(")")


def _selection(found: re.Match[str]) -> str:
    top, bottom = found["top"] or found["top2"], found["bottom"] or found["bottom2"]
    if (found["kind"] or found["kind2"]) == "C":
        return rf"\binom{{{top}}}{{{bottom}}}"
    return rf"\frac{{({top})!}}{{({top}-{bottom})!}}"


def _with_clause(text: str) -> str:
    """A clause at the end that says what a letter stands for, as a membership: `, k \\in \\mathbb{Z}`."""
    text = _PLAIN_SET.sub(lambda found: rf"\in\mathbb{{{found[1] or found[2]}}}", text)
    plain = " ".join(_TEXT.sub(r" \1 ", text).split())
    plain = _MIDDLE.sub(r",\1", _AFTERTHOUGHT.sub("", plain))
    for _ in range(3):
        shorter = _one_clause(plain)
        if shorter == plain:
            break
        plain = text = shorter
    text = _BEFORE_MEMBER.sub(",", text)
    return _SHARED.sub(
        lambda found: ",".join(rf"{name}\in{found['set']}" for name in [found["first"], *found["rest"].split(",")]),
        text,
    )


def _one_clause(text: str) -> str:
    for pattern in (_MEMBER, _WORDED_MEMBER):
        match = pattern.search(text, max(0, len(text) - _TAIL))
        if match is not None and match.start():
            return f"{text[: match.start()]},{match['member']}"
    match = _COUNTED.search(text, max(0, len(text) - _TAIL))
    if match is not None and match.start():
        domain = "Z" if r"\pm" in text[match.start() :] else "N_0" if match["first"] == "0" else "N^+"
        domain = domain[0] if len(domain) == 1 else domain
        return rf"{text[: match.start()]},{match['name']}\in\mathbb{{{domain[0]}}}{domain[1:]}"
    for pattern in _WORDED:
        match = pattern.search(text, max(0, len(text) - _TAIL))
        if match is not None and match.start():
            kind = match.groupdict().get("kind") or "real"
            names = re.split(r"\s*(?:,|\s|and)\s*", match["names"])
            return text[: match.start()] + "".join(rf",{name}\in{_domain(kind)}" for name in names)
    return text


def _domain(kind: str) -> str:
    """The set that words name: "positive integers"."""
    if "integer" in kind or "whole" in kind or "natural" in kind:
        if "negative" in kind and "non" in kind:
            return r"\mathbb{N}_0"
        if "positive" in kind:
            return r"\mathbb{N}^+"
        return r"\mathbb{N}" if "natural" in kind else r"\mathbb{Z}"
    return r"\mathbb{C}" if "complex" in kind else r"\mathbb{R}"
