"""Several questions in a row, or one demand for two things, of which one gold answers at most one.

One question may be asked twice ("That is, …"), in two steps ("Is it possible? If so, …") or about the form of its answer ("What is
m + n?"); a question in quotation marks or in brackets is part of the story. Where the gold has several values, it may answer them all.

Of one demand, such as "find the height and the volume of the cone", things are counted that have a value each, joined by "and" right
behind the demand: "find the sum of the height and the width" asks for one thing, "the triangle whose base is 4 and whose height is 5"
for none. A demand that continues with what it found ("determine x and y and find xy", "and find the remainder when this number is
divided by 10") asks for the last thing alone.
"""

from __future__ import annotations

import re

from compass.curation.noise.finding import Finding, Strength, found
from compass.curation.noise.guessable import multiple_choice
from compass.curation.noise.text import ANSWER_TOLD, blank, holds_any, without_figures
from compass.settings import Denoise
from compass.settings.denoise import NoiseReason

_ASK = r"\b(?:find|determine|calculate|compute|state|what (?:is|are|was|were|will be)|work out)"
_THING = (
    r"(?:area|volume|perimeter|circumference|radius|radii|diameter|height|length|width|depth|angle|slope|gradient|intercept|equation"
    r"|axis|cent(?:er|re)|vertex|coordinates|speed|velocity|acceleration|distance|time|cost|price|profit|loss|tax|interest|mean|average"
    r"|median|mode|variance|standard deviation|maximum|minimum|extremum|extrema|period|amplitude|phase|domain|range|values?|number|magnitude|direction"
    r"|modulus|argument|eccentricity|foc(?:us|i)|directrix|common difference|common ratio|first term|remainder|quotient|probability|age|weight"
    r"|mass|force|temperature|percentage|stress|strain|elongation|frequency|wavelength|pressure|density|energy|power|current|voltage|rank"
    r"|determinant|trace|inverse|expectation|expected value|monotonicity|interval|solution|root|expression|coefficient|term)s?"
)
_LOOSE = r"(?:(?!of\b|and\b|that\b|which\b|if\b|with\b|for\b|between\b)[a-z-]+ ){0,3}"
_FORMULA = r"(?:\$[^$]{1,60}\$|\\\((?:(?!\\\)).){1,60}\\\))"
_OF = rf" (?:of|in|for) (?:{_FORMULA}|(?:the|this|that|its|each|line|triangle|point)\b(?:(?! and | if | when | with | that | such | given | whose | where | containing | passing | formed |[,.;?]).){{1,50}}|[a-z]+)"
_TWO = re.compile(
    rf"{_ASK} (?:at (?:the )?[^,.;?]{{1,50}} )?(?:the|its|their) {_LOOSE}{_THING}(?:{_OF})?,? (?:and|as well as) (?:the|its|their|his|her) {_LOOSE}{_THING}\b",
    re.I,
)
_EXTREMES = re.compile(
    rf"{_ASK} (?:the|its|their|both the) (?:(?:absolute|local|possible) )?(?:(?:maximum|largest|greatest|highest)(?: \w+)? and (?:the )?(?:\w+ )?(?:minimum|smallest|least|lowest)"
    r"|(?:minimum|smallest|least|lowest)(?: \w+)? and (?:the )?(?:\w+ )?(?:maximum|largest|greatest|highest)) (?:values?|points?|terms?|areas?|distances?)\b",
    re.I,
)
_COUNTS = re.compile(
    r"\bhow (?:many|much|old|long|far)\b[^.?!,;]{3,80}?,? and (?:how (?:many|much|old|long|far)|what (?:is|was|are|were) (?:the|its|their))\b",
    re.I,
)
_THEN = re.compile(
    rf"{_ASK} (?:the|its|their) {_LOOSE}{_THING}\b[^.?!]{{0,90}}?,? and (?:also )?(?:find|determine|calculate|compute|what (?:is|are|was|were)) (?:the|its|their) {_LOOSE}{_THING}\b[^.?!]{{0,90}}",
    re.I,
)
_PAIR = re.compile(
    rf"{_ASK} (?:the (?:exact )?values? of )?{_FORMULA},? and (?:the )?(?:values? of )?{_FORMULA}(?=\s*(?:[.?!]|\Z))",
    re.I,
)
_WHERE = re.compile(rf"{_ASK} the {_LOOSE}{_THING}\b[^?!]{{0,200}}?,? and the corresponding {_LOOSE}{_THING}", re.I)
_USES_IT = re.compile(
    r"\b(?:minimum|maximum|largest|smallest|remainder|quotient|divided by|sum of|product of|difference of|this|that|these|those|it|expressed|in the form|mod(?:ulo)?)\b|\\frac\{m\}|[a-z]\s*[+*-]\s*[a-z]\b",
    re.I,
)
_ONE_OF_TWO = re.compile(
    r"\b(?:sum|difference|product|ratio|quotient|between|bounded|enclosed|common|total|average of|mean of|midpoint|intersection|together|respectively equal)\b",
    re.I,
)
_GOES_ON = re.compile(
    r"\band (?:then |hence |also )?(?:find|determine|calculate|compute|express|give|state|what)\b", re.I
)
_LATER = re.compile(
    r"\?|\b(?:find|determine|calculate|compute|what|how|express|give|submit|answer|report|write|sum|product|state|then|round|enter)\b",
    re.I,
)
_SEVERAL = re.compile(r"[,;，；、]\s*(?!\d{3}\b)|\band\b|\bor\b|\\text\{\s*and|\\q?quad|\\\\|\n|&|=.*=|\\pm|:", re.S)
_END = re.compile(r"[.?!](?:\s|\Z)")
_OTHERS = (" and the ", " and its ", " and their ", " and his ", " and her ", " as well as ")
_PATTERNS = (
    (_TWO, _OTHERS),
    (_EXTREMES, ("imum and ", "est and ", "imum value and ", "est value and ")),
    (_COUNTS, (" and how ", " and what ")),
    (_THEN, (" and find ", " and determine ", " and calculate ", " and compute ", " and also ", " and what ")),
    (_PAIR, ("$ and ", "$, and ", ") and ", "), and ")),
    (_WHERE, (" and the corresponding ",)),
)
"""How two things are asked for, each with words of which one stands in every such demand."""

TAIL = 500
"""Characters at a text's end in which a demand is looked for."""


def is_one_value(answer: str) -> bool:
    """Whether a gold is one value."""
    return bool(answer.strip()) and not _SEVERAL.search(answer)


def two_demands(text: str) -> re.Match[str] | None:
    """Where the last demand of a text asks for two values.

    Args:
        text: the problem, with blanks for what is quoted, drawn or said in brackets.
    """
    begin = max(0, len(text) - TAIL)  # what is asked for stands at the end
    tail = text[begin:]
    for pattern, guards in _PATTERNS:
        for match in pattern.finditer(text, begin) if holds_any(tail, guards) else ():
            rest = text[match.end() :]
            end = _END.search(rest)
            clause, after = (rest[: end.start()], rest[end.end() :]) if end else (rest, "")
            if _ONE_OF_TWO.search(match[0]) or _GOES_ON.search(clause) or _LATER.search(after):
                continue
            if pattern is _THEN and _USES_IT.search(_GOES_ON.split(match[0] + clause)[-1]):
                continue
            return match
    return None


_QUOTED = re.compile(r'"[^"]{0,300}"|“[^”]{0,300}”|``[^`\']{0,300}\'\'|(?<!\w)\'[^\'\n]{8,200}\?\'')
_ASIDE = re.compile(r"(?<!\\)\([^()]{0,300}\)|^\s*[-•] .*$|\b(?:hint|note)\b.*", re.I | re.M)
_SENTENCE = re.compile(r"(?:\b(?:i\.e|e\.g|cf|vs|approx)\.|[^.?!。？！\n]|\.(?=\w))+[.?!。？！]?")
_WH = re.compile(r"\b(?:what|how|which|who|whose|when|where)\b", re.I)
_YES_NO = re.compile(
    r"^\W*(?:(?:then|so|and|but|now),?\s+)?(?:is|are|can|could|does|do|did|will|would|was|were|has|have|must|should)\b",
    re.I,
)
_WORDS = re.compile(r"(?:(?<![\\\w])[A-Za-z]{2,}\b.*?){3}", re.S)
_RESTATED = re.compile(
    r"^\W*(?:that is|in other words|i\.? ?e\b|e\b\.?,|namely|equivalently|put (?:differently|another way)|to put it|said differently|or rather|meaning|if (?:so|yes|not|it (?:is|does|can|converges)|they (?:are|do|can)|this is|there (?:is|are))|why\b|how do you know)",
    re.I,
)
_CHOICE = re.compile(
    r"\b(?:which|what) (?:\w+ )?(?:option|choice|of the (?:above|following) (?:is|are) (?:correct|true))\b|^\W*can you\b|\bdo you\b",
    re.I,
)
_ANSWERED = re.compile(r"\s*(?:\*\*)?(?:solution|final answer|answer|sol\.)\b\s*(?:\*\*)?[:.]", re.I)
_ELLIPTICAL = re.compile(
    r"\W*(?:and |or )?(?:to|for|if|with|from|in|at|of|under)\b(?:.*?\b[A-Za-z]{2,}\b){4}", re.I | re.S
)
_FURTHER = re.compile(
    r"^\W*(?:also|and|additionally|furthermore|moreover|besides)\b,?\s(?:[^.?]{0,80},\s)?(?:please )?(?:find|determine|calculate|compute|evaluate|prove)\b"
    r"|\band also (?:find|calculate|determine|compute)\b|[;,.]\s*(?:also|additionally),?\s+(?:find|determine|calculate|compute)\b",
    re.I,
)
# "What is m + n?": about the form of the answer to the question before.
_FORM = re.compile(
    r"^\W*(?:what is|find|compute|then)\b.{0,40}[a-z}\d]\s*\+\s*(?:\d*\\?[a-z]|\d+[a-z]).{0,30}$", re.I | re.S
)
_REFORMED = re.compile(
    r"\b(?:this|that|the|your) (?:\w+ )?(?:probability|value|number|answer|result|fraction|sum|ratio|area|length)\b[^?]{0,20}\b(?:as an?|in the form|rounded|to the nearest|in (?:lowest|simplest)|in terms of)\b",
    re.I,
)
_FORMULAS = re.compile(_FORMULA)
_LETTERS = re.compile(r"\\?[A-Za-z]+")
_WRITTEN_AS = re.compile(
    r"\b(?:this|that|the|its|their) (?:\w+ ){1,3}(?:is|are|can be) (?:represented|written|denoted|expressed) (?:as|in the form|by)\b[^?]*\Z",
    re.I,
)
_SUM_ASKED = re.compile(
    r"\b(?:sum|product|difference|total|ratio) of (?:the|these|those|all|both|your) (?:\w+ ){0,2}?(?:numbers|answers|values|results|quantities)\b",
    re.I,
)
_PARAGRAPH_ASKS = re.compile(
    r"(?:^|[.,;:!?]\s*|\b(?:then|and) )\W{0,3}(?:find|determine|calculate|compute|evaluate)\b|\?", re.I
)
_DEMAND = re.compile(r"^\W*(?:find|determine|calculate|compute)\b", re.I)
_BLANK = re.compile(
    r"_{2,}|(?<=\bis) {4,}|(?<=\bare) {4,}|(?:\\_){2,}|\\underline\{\s*(?:\\q?quad|\\hspace\{[^}]*\}|\s|\\,)*\s*\}"
)
_TWO_VALUES = re.compile(r"[,;，；]\s*(?!\d{3}\b)|\band\b|\\text\{\s*and|、|\\quad|\bor\b|\\\\|\n")
_BRACKETED = re.compile(r"\s*\$?\\?(?:left)?[(\[{].*[)\]}]\$?\s*", re.S)
_COMMON = frozenset(
    [
        "what",
        "is",
        "the",
        "of",
        "a",
        "an",
        "in",
        "how",
        "many",
        "which",
        "are",
        "to",
        "and",
        "for",
        "as",
        "it",
        "does",
        "do",
        "be",
        "there",
        "that",
        "this",
        "can",
        "will",
        "on",
        "at",
        "by",
    ]
)
_GUARDS = ("also", "additionally", "and calculate", "? and ", ". and ", "moreover", "furthermore", "besides")


def multi_question(record: dict, settings: Denoise) -> Finding | None:
    """Two or more questions, a question and a further demand, a demand for two things, or two blanks, with one value as the gold."""
    text = record["problem"]
    lowered = text.lower()
    if lowered.count("?") < 2 and not holds_any(lowered, _GUARDS):
        return _two_demands(record, settings) or _blanks(record)
    plain = _plain(text)
    parts = [match for match in _SENTENCE.finditer(plain) if match[0].strip()]
    questions = [part for part in parts if part[0].rstrip().endswith(("?", "？")) and _WORDS.search(part[0])]
    further = [part for part in parts if _FURTHER.search(part[0])]
    first = questions[0] if questions else None
    if "dditionally" in plain and first and not further:  # "Additionally, there is …. Calculate …": a sentence later
        further = [part for part in parts if part.start() > first.start() and _DEMAND.match(part[0])]
    asked = _independent(questions)
    if len(asked) < 2 and _paragraphs(plain) >= 3:
        further = further or parts[-1:]
    strength = _strength(asked, [part for part in further if part not in asked])
    if strength and _combined(parts, asked):
        return None
    if not strength:
        return _two_demands(record, settings) or _blanks(record)
    if strength == Strength.LIKELY and (_several(record.get("answer") or "") or multiple_choice(record, settings)):
        strength = Strength.POSSIBLE
    last = ([*asked, *(part for part in further if part not in asked)])[-1]
    told = [part[0].strip()[-120:] for part in sorted({*asked, *further}, key=lambda part: part.start())[:4]]
    return found(NoiseReason.MULTI_QUESTION, strength, record, last, questions=told)


def _plain(text: str) -> str:
    return _ASIDE.sub(blank, _QUOTED.sub(blank, without_figures(text)))


def _two_demands(record: dict, settings: Denoise) -> Finding | None:
    """One demand for two values, of which the gold is one."""
    text, answer = record["problem"], record.get("answer") or ""
    if not is_one_value(answer) or (" and " not in text and " as well as " not in text):
        return None
    match = two_demands(text) and two_demands(_plain(text))  # most texts need no blanking
    if not match:
        return None
    strength = Strength.POSSIBLE if multiple_choice(record, settings) else Strength.LIKELY
    return found(NoiseReason.MULTI_QUESTION, strength, record, match, kind="two things in one demand")


def _independent(questions: list[re.Match[str]]) -> list[re.Match[str]]:
    """The questions without restated, rhetorical and follow-up ones."""
    asked: list[re.Match[str]] = []
    for question in questions:
        said = question[0].strip()
        elliptical = bool(asked) and bool(_ELLIPTICAL.match(said))  # "To have two white ones?"
        if not (elliptical or _WH.search(said) or _YES_NO.search(said)) or _CHOICE.search(said):
            continue
        if _ANSWERED.match(question.string, question.end()):
            continue
        if asked and ANSWER_TOLD.search(question.string, asked[-1].end(), question.end()):
            asked = []
        if asked and (
            _RESTATED.search(said)
            or _FORM.search(said)
            or _REFORMED.search(said)
            or _names_the_answer(question)
            or any(_same(said, other[0]) for other in asked)
        ):
            continue
        asked.append(question)
    return asked


def _is_further(part: re.Match[str]) -> bool:
    """Whether "also" or the like stands behind another demand: "Additionally, n is even, find …" may be the only one."""
    demand = _FURTHER.search(part[0])
    start = part.start() + (demand.start() if demand else 0)
    said = "lso" in part[0] or "urther" in part[0] or "dditionally" in part[0]
    return said and bool(_PARAGRAPH_ASKS.search(part.string[:start]))


def _strength(asked: list[re.Match[str]], further: list[re.Match[str]]) -> Strength | None:
    if further and (asked or any(_is_further(part) for part in further)):
        return Strength.LIKELY
    if len(asked) < 2:
        return None
    open_ones = [question for question in asked if not _YES_NO.match(question[0].strip()) or _WH.search(question[0])]
    if len(open_ones) >= 2:
        return Strength.LIKELY
    return Strength.POSSIBLE  # "Do they meet? When …?" may be one question in two steps


def _names_the_answer(question: re.Match[str]) -> bool:
    """Whether a question asks for a formula by which the sentence before writes what was asked: "This date is written as $D$. What is $D$?"."""
    written = _WRITTEN_AS.search(question.string, 0, question.start())
    formulas = _FORMULAS.findall(question[0])
    return bool(
        written and len(formulas) == 1 and set(_LETTERS.findall(formulas[0])) <= set(_LETTERS.findall(written[0]))
    )


def _combined(parts: list[re.Match[str]], asked: list[re.Match[str]]) -> bool:
    """Whether a last demand makes one value of what the questions ask for: "Give the sum of the found numbers"."""
    return len(asked) > 1 and any(part.start() > asked[-1].start() and _SUM_ASKED.search(part[0]) for part in parts)


def _same(question: str, other: str) -> bool:
    """Whether two questions ask for the same in nearly the same words."""
    one, two = (set(re.findall(r"[a-z]+|\d+", said.lower())) - _COMMON for said in (question, other))
    return bool(one | two) and len(one & two) / len(one | two) >= 0.8 and len(one & two) >= 2


def _paragraphs(text: str) -> int:
    """How many paragraphs ask for something of their own."""
    return sum(bool(_PARAGRAPH_ASKS.search(paragraph)) for paragraph in re.split(r"\n\s*\n", text))


def _several(answer: str) -> bool:
    """Whether the gold holds several values outside of one bracket."""
    return bool(_TWO_VALUES.search(answer)) and not _BRACKETED.fullmatch(answer)


def _blanks(record: dict) -> Finding | None:
    """Two blanks to fill, and one value."""
    text, answer = record["problem"].replace("\xa0", " "), record.get("answer") or ""
    if "__" not in text and "    " not in text and "\\_\\_" not in text and "\\underline" not in text:
        return None
    blanks = list(_BLANK.finditer(text))
    if not blanks or not answer or _TWO_VALUES.search(answer):
        return None
    question = _plain(text).find("?")  # a story may quote one
    if len(blanks) < 2 and not (
        question > 0 and blanks[0].start() - question > 40
    ):  # a question, and a blank in a later sentence
        return None
    return found(NoiseReason.MULTI_QUESTION, Strength.LIKELY, record, blanks[-1], kind="blanks", blanks=len(blanks))
