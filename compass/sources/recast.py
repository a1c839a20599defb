"""Multiple choice as an open question: the options go, and the right option's value becomes the gold (`collect.recast_choices`).

Only where nothing is lost: the gold selects one option, that option is a value which no other option equals, and the question can be
answered without the options. "Which of the following …", "closest to", "could be" and "cannot be" need them.
"""

from __future__ import annotations

import re

from compass.sources.printed_options import list_options
from compass.verifier import answer_type, same_answer

_VALUES = frozenset(
    [
        "integer",
        "fraction",
        "decimal",
        "percent",
        "expression",
        "constant",
        "complex",
        "interval",
        "set",
        "tuple",
        "matrix",
        "ratio",
        "based",
        "quantity",
    ]
)
"""What `answer_type` calls the options that make golds. A list of values says not whether their order counts; an equation has many forms."""

_NEEDS_OPTIONS = re.compile(
    r"\b(?:which|following|these|options?|choices?|statements?|closest|nearest|approximate(?:ly|s)?|about|roughly|estimate[sd]?|best|"
    r"could|can(?:not)?|may|might|must|possible|not|except|true|correct|equivalent|always|never|none|conclude)\b",
    re.I,
)
"""Words by which a question speaks of its options, or has other right answers beside the one that is printed."""

_LETTER = re.compile(r"\W*(?:\\?(?:text(?:bf)?|mathrm|mathbf|boxed)\s*\{\s*)?\W*([A-Ja-j])\b[\s).:}$*\\]*")
_HEADING = re.compile(r"(?:(?:\\noindent|\\\\|[*#])*\s*(?:answer )?(?:options|choices)\s*[:：]?[\s*\\]*)\Z", re.I)
_OPENING = re.compile(
    r"(?:\\begin\{\w+\*?\}|\\item|\\\\|\\\[|\\q?quad|\\(?:text|math)(?:bf|rm)?\{|\\[ ,;]|[\s*({\[&])+\Z"
)
_CLOSING = re.compile(
    r"(?:\\q?quad|\\end\{\w+\*?\}|\\noindent|\\\\|\\\]|\\text(?:bf)?\{|\\[ ,;]|[\s*&;,.]|(?<=\s)\()+\Z"
)
_BLANK = re.compile(r"[（(](?:\s|\\q?quad|\$)*[）)]\W*\Z|_{2,}\W*\Z")


def recast(problem: str, answer: str) -> tuple[str, str] | None:
    """The open question of a multiple-choice problem and its gold; None where the question cannot do without its options.

    Args:
        problem: the text with its options printed at the end, each behind a letter.
        answer: the published gold: an option's letter, with or without the option, or an option's value.
    """
    options = next(filter(None, list_options(problem)), None)
    if options is None or len(options.contents) < 3:
        return None
    stem = _HEADING.sub("", _without_opening(options.stem)).rstrip()
    contents = [_value(content) for content in options.contents]
    if len(stem.split()) < 4 or _NEEDS_OPTIONS.search(stem) or "\n\n" in options.contents[-1].strip():
        return None
    if "" in contents or (place := _selected(contents, answer)) is None:
        return None
    gold = contents[place]
    others = [content for number, content in enumerate(contents) if number != place]
    if (
        answer_type(gold) not in _VALUES
        or _names(gold)
        or not same_answer(gold, gold)
        or any(same_answer(gold, one) for one in others)
    ):
        return None
    return _as_question(stem), gold


def _without_opening(stem: str) -> str:
    """The stem without what opens the list of options, such as `$` or an environment; a formula that ends it stays whole."""
    bare = _OPENING.sub("", stem)
    while bare.endswith("$") and len(re.findall(r"\$\$?", bare)) % 2:
        bare = _OPENING.sub("", bare.rstrip("$"))
    return bare


def _names(gold: str) -> bool:
    """Whether an option is a name that reads as a formula, such as thorium-234."""
    return answer_type(gold) in ("expression", "constant") and bool(re.search(r"(?<![\\A-Za-z])[A-Za-z]{4,}", gold))


def _value(content: str) -> str:
    """An option without the marks around it; a formula that is the whole option loses its dollar signs."""
    bare = _CLOSING.sub("", content.strip().lstrip("}):.*\\ &").strip())
    if match := re.fullmatch(r"\$\$?\s*([^$]*?)(?:\\[ ,;]|\s)*\$?\$?", bare):
        return match[1]
    return bare if bare.count("$") % 2 == 0 else bare.replace("$", "")


def _selected(contents: list[str], answer: str) -> int | None:
    """Which option a gold selects; None for none or several."""
    if match := _LETTER.match(answer):
        place = ord(match[1].upper()) - ord("A")
        rest = _value(answer[match.end() :])
        whole = place < len(contents) and (not rest or same_answer(contents[place], rest))
        return place if whole else None
    places = [place for place, content in enumerate(contents) if same_answer(content, answer)]
    return places[0] if len(places) == 1 else None


def _as_question(stem: str) -> str:
    """The stem with a blank where it breaks off ("the area is", "a = (  )")."""
    stem = stem.rstrip("．。 ")
    blanked = _BLANK.sub("", stem)
    if blanked != stem or stem.endswith((":", "：", "=", ",")) or stem[-1].isalpha():
        return f"{blanked.rstrip(' :：,')} ____."
    return stem
