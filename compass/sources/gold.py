r"""The gold answer of a row, from whatever a source publishes it in, and the golds that stand for a missing answer.

A gold is taken as published: a string, a number, a list of one, JSON of such a list, the text behind `####`, or the last
balanced `\boxed{}` of a worked solution, or "The answer is" in its last line. It is not interpreted here; the verify stage decides
whether it can be read.

"notfound", "N/A", "see solution", "略" and an empty box are placeholders, each only as the whole gold. "None" and "no solution" are
answers where a question can have none, so that machine words for nothing count everywhere, and human ones only where a value is
demanded that must exist: an amount of a story (how many, how old, the total cost), or anything else than things that there may be none of.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from compass.braces import closing_brace
from compass.verifier.reading.numbers import write_numbers
from compass.verifier.reading.words import SYNONYMS

BOXES = ("\\boxed", "\\fbox")
LONGEST_ANNOUNCED = 100
"""Characters; more is a sentence that goes on."""

_NEXT_SENTENCE = re.compile(r"[.!?]\s+[A-Z]")

_ANNOUNCEMENT = re.compile(
    r"(?:^|[.!?:$)*]\s*)(?:The(?: final| correct)? answer is|(?:The )?[Ff]inal [Aa]nswer(?: is)?)\b(?:\s*:)?"
)


def gold_answers(
    value: Any, solution: str = "", *, any_of: bool = False, decimal_comma: bool = False
) -> tuple[str, tuple[str, ...]]:
    """The gold in a published value, and other golds that are as good.

    Args:
        value: what the answer field holds.
        solution: the worked solution's text.
        any_of: whether several values are answers of which any is right, and not parts of one answer.
        decimal_comma: whether numbers in texts have a decimal comma.
    """
    if any_of and isinstance(value, str) and value.strip().startswith("["):
        value = json_or_text(value)
    if not any_of or not isinstance(value, list):
        return gold_answer(value, solution, decimal_comma=decimal_comma), ()
    golds = list(dict.fromkeys(gold for part in value if (gold := gold_answer(part, decimal_comma=decimal_comma))))
    return (golds[0], tuple(golds[1:])) if golds else (gold_answer(None, solution, decimal_comma=decimal_comma), ())


def gold_answer(value: Any, solution: str = "", *, decimal_comma: bool = False) -> str:
    """The gold in a published value, else in the solution; empty when neither has one.

    Args:
        value: what the answer field holds: a text, a number, list or None.
        solution: the worked solution's text; it counts where the value is empty, and not where the value is of another kind.
        decimal_comma: whether numbers in texts have a decimal comma; they get a decimal point.

    A list of several answers is joined by ", " in its order, as answer keys write it.
    """
    if isinstance(value, list):
        parts = [gold_answer(part, decimal_comma=decimal_comma) for part in value]
        answer = ", ".join(part for part in parts if part)
    elif isinstance(value, bool) or value is None:
        answer = "" if value is None else str(value)
    elif isinstance(value, float):
        # a table's empty cell is NaN
        answer = "" if value != value else str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    elif isinstance(value, int):
        answer = str(value)
    elif isinstance(value, Decimal):
        answer = _plain(value) if value.is_finite() else ""
    elif isinstance(value, str):
        answer = with_decimal_point(_from_text(value)) if decimal_comma else _from_text(value)
    else:
        return ""
    if answer or not solution:
        return answer
    return with_decimal_point(from_solution(solution)) if decimal_comma else from_solution(solution)


_COMMA_NUMBER = re.compile(
    r"(?<![\d.,_])(?<!_\{)(?<!\{,\})(?:([1-9]\d{0,2}(?:\.\d{3})+|\d+)(?:,|\{,\})(\d+)|([1-9]\d{0,2}(?:\.\d{3})+))(?![.,]?\d|\{,\}\d)"
)
"""A number with a decimal comma, as 2,25, 2{,}25 or 2.501,00, or with points between thousands; neither 1,2,3 nor x_{1,2}."""

_OPENS = re.compile(r"(?:(?<![A-Za-z])\(|(?<![A-Za-z}^])\{|[\[\]])\s*[-+−]?\s*\Z")
_CLOSES = re.compile(r"\s*(?:\\right)?\\?[)\]}\[]")
_LEFT = re.compile(r"\\left(?![A-Za-z])")
_LIST = re.compile(r"\d[\s$}]*,[\s$]*[-−+\\]?\d|,\s")
_POINT = re.compile(r"\.\d")


def with_decimal_point(gold: str) -> str:
    """A gold whose numbers have a decimal comma, and points between thousands, with a decimal point and without the others.

    Two numbers alone in brackets, `(2,5)`, stay the point or the interval that they are.
    """
    return _COMMA_NUMBER.sub(lambda number: number[0] if _is_pair(number) else _in_points(number), gold)


def has_decimal_comma(gold: str) -> bool:
    """Whether `with_decimal_point` changes a gold."""
    return with_decimal_point(gold) != gold


def _in_points(number: re.Match[str]) -> str:
    whole = (number[1] or number[3]).replace(".", "")
    return f"{whole}.{number[2]}" if number[2] else whole


def _is_pair(number: re.Match[str]) -> bool:
    """Whether two numbers with a comma between them stand alone in brackets that no function or command takes."""
    before = _LEFT.sub("", number.string[max(0, number.start() - 30) : number.start()])  # a long text has many numbers
    has_comma = number[2] is not None and "{" not in number[0] and "." not in number[0]
    return has_comma and bool(_OPENS.search(before) and _CLOSES.match(number.string, number.end()))


@dataclass
class DecimalCommas:
    """What golds show of their decimal sign, as they are added."""

    commas: int = 0
    """Golds with a number that may have a decimal comma; three digits behind it may be thousands and do not count."""
    points: int = 0
    """Golds with a decimal point."""
    lists: int = 0
    """Golds with a list of numbers, or two numbers in brackets."""
    certain: int = 0
    """Golds with a comma that can hardly be another sign: `0,25`, `2.501,00`. `3,5` may be two roots."""
    thousands: int = 0
    """Golds with a comma that may stand before thousands: `1,200`."""
    example: tuple[str, str] = ("", "")
    """The first gold of the commas, and where it is."""

    def add(self, gold: str, place: str = "") -> None:
        """Count a gold."""
        if "," not in gold and "." not in gold:
            return
        found = list(_COMMA_NUMBER.finditer(gold))
        rest = _COMMA_NUMBER.sub(lambda number: number[0] if _is_pair(number) else "", gold)
        self.points += bool(_POINT.search(rest))
        self.lists += bool(_LIST.search(rest))
        self.certain += any(
            number[2] and len(number[2]) > 1 and (number[1] == "0" or "." in number[1]) for number in found
        )
        self.thousands += any(
            number[2] and len(number[2]) == 3 and number[1] != "0" and "." not in number[1] for number in found
        )
        if any(number[2] and (len(number[2]) != 3 or number[1] == "0") and not _is_pair(number) for number in found):
            self.example = self.example if self.commas else (gold, place)
            self.commas += 1

    @property
    def shown(self) -> bool:
        """Whether the golds may well have decimal commas: a few do, none has a decimal point, and lists are fewer."""
        return self.commas >= FEWEST_COMMAS and not self.points and self.lists < self.commas


FEWEST_COMMAS = 3
"""Golds with a comma in a number that show more than a slip."""


def _plain(value: Decimal) -> str:
    """A decimal as a float of its value is written: 1106 for 1106.0."""
    written = format(value, "f")
    return written.rstrip("0").rstrip(".") if "." in written else written


_WORD = re.compile(r"\**(?<![\\A-Za-z])[^\W\d_]{2,}\**")
"""A word, and no command of LaTeX."""


def from_solution(text: str) -> str:
    """The answer that a worked solution marks; empty without.

    It stands behind the last `####`, unless that line is a heading (words, and text below them); in the last balanced box; or behind "The
    answer is" where that begins the last line's last sentence.
    """
    _, mark, tail = text.rpartition("####")
    line, _, below = tail.strip().partition("\n")
    line, said = line.strip(), write_numbers(line.strip())
    if mark and (not below or not _WORD.search(said) or said.lower() in SYNONYMS):
        return line
    is_value = mark and (not _WORD.match(said) or _WORD.fullmatch(said))
    return last_boxed(text) or _announced(text) or (line if is_value else "")


def last_boxed(text: str) -> str:
    """What the last balanced `\\boxed{...}` (or `\\fbox{...}`, or `\\boxed 5`) of a text holds; empty without one."""
    end = len(text)
    while (start := max(text.rfind(box, 0, end) for box in BOXES)) >= 0:
        after = start + (len("\\boxed") if text.startswith("\\boxed", start) else len("\\fbox"))
        content = _group(text, after)
        if content:
            return content
        end = start
    return ""


def _announced(text: str) -> str:
    """What "The answer is: 12." or "Final answer: 12" at the end of a text announces; empty without."""
    last = text.rstrip().rsplit("\n", 1)[-1]
    found = list(_ANNOUNCEMENT.finditer(last))
    answer = last[found[-1].end() :].strip().removesuffix(".").rstrip() if found else ""
    goes_on = len(answer) > LONGEST_ANNOUNCED or _NEXT_SENTENCE.search(answer)
    return "" if goes_on else answer


def _from_text(text: str) -> str:
    text = text.strip()
    if "####" in text:
        return from_solution(text)
    if "\\boxed" in text or "\\fbox" in text:
        return last_boxed(text) or text
    if text.startswith('["'):
        return _from_json_list(text)
    if match := _TO_SHOW.fullmatch(text):
        return match[1].strip()
    return text


def _from_json_list(text: str) -> str:
    """`["34"]` holds 34. Lists of bare numbers stay: `[1, 2]` is an interval."""
    parts = json_or_text(text)
    return gold_answer(parts) if isinstance(parts, list) and all(isinstance(part, str) for part in parts) else text


def json_or_text(text: str) -> Any:
    """The value of a text of JSON; the text itself where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _group(text: str, start: int) -> str:
    while start < len(text) and text[start].isspace():
        start += 1
    if start >= len(text):
        return ""
    if text[start] != "{":
        return text[start : start + 1].strip("$.,") if text[start].isalnum() else ""
    end = closing_brace(text, start)
    return "" if end is None else text[start + 1 : end - 1].strip()


_TO_SHOW = re.compile(r"(?:show|prove) that [^$]{1,80}\$([^$]+)\$\.?", re.I)
"""A gold that asks to show what was asked for: "Show that the volume is $6\\pi^2$."."""

_WRAPPED = re.compile(
    r"\\(?:text(?:bf|it|rm|sf)?|mathrm|mathbf|boxed|fbox|mbox|quad|qquad|displaystyle|left|right|[,;:! ()\[\]])(?![A-Za-z])|\*\*|[\s$`\"'“”‘’]"
)
_ENDS = re.compile(r"^[{(\[<]+|[})\]>.。:：!！]+$")

_NOTHING_WORDS = """
notfound noanswerfound answernotfound noanswer noanswergiven noanswerprovided noansweravailable answernotgiven
answernotprovided answernotavailable nofinalanswer notavailable notprovided notgiven notspecified notapplicable
n/a n.a #n/a nan <na> null nonetype unknown unk tobedetermined tbd tba tbc todo fixme pending placeholder missinganswer
seesolution seethesolution seesolutions seeanswer seetheanswer seeexplanation seeabove seebelow seeproof seetext
seefigure seeimage seediagram seetable seeattached seeattachment refertosolution refertothesolution
solutionbelow proof theproof proofbelow proofgiven proofomitted proven proved proofproblem qed q.e.d answer
theanswer youranswer youranswerhere finalanswer correctanswer insertanswerhere enteranswerhere ans answeromitted
openanswer nocorrectanswer novalidanswer answervaries answersvary answersmayvary answerswillvary answermayvary
omitted redacted hidden 略 答案略 解略 证明略 略解 见解析 详见解析 见详解 见解答 见答案 见证明 证明见解析 解析见 解答见 答案见解析 暂无 暂无答案 无答案 未知 未找到 没有答案 同上
нетответа доказательство verrespuesta sinrespuesta versolución voirsolution pasderéponse keineantwort
siehelösung
"""
_NOTHING = frozenset(_NOTHING_WORDS.split())
"""Whole golds, lower-case and without blanks, that say that there is no answer or where another text has it."""

_MARKS = re.compile(r"[?？_…]+|\.{2,}|[-–—]{2,}|\\(?:blacksquare|square|Box|qedsymbol|qed|ldots|dots)|[■□∎◻]")
_ONE_MARK = re.compile(r"[-–—./\\]")
_SIGN_ASKED = re.compile(
    r"\b(?:sign|signs|operators?|operations?|symbols?|characters?|replaced?|insert(?:ed)?|placed?|fill|circle|box|blank)\b|□|\\square",
    re.I,
)

_NONE = frozenset(("none", "nil", "无", "nothing"))
_AMOUNT_ASKED = re.compile(
    r"\bhow (?:many(?! of\b)|much|old|long|far|fast|tall|high|big|heavy|often)\b|\b(?:calculate|compute|find|determine|what (?:is|was|are|were|will be)) (?:\w+['’]s?|his|her|their|the (?:\w+ )?(?:total|number|amount|cost|price|age|average|sum|weight|distance|time|speed)"
    r"|how (?:many|much)|what)\b",
    re.I,
)
_OF_EQUATIONS = re.compile(
    r"\b(?:solutions?|solve|roots?|zeros?|asymptot\w*|exists?|satisf\w*|such that|integers?|primes?|inequalit\w*|equations?|intersect\w*)\b"
    r"|[<≤≥∈]|\\(?:leq?|geq?|in|cap|cup|lim|frac|sqrt)\b|[A-Za-z\d})] ?= ?[\dA-Za-z\\({-]|[\u4e00-\u9fff]",
    re.I,
)
_SENTENCE = re.compile(r"(?<=[.?!])\s+(?=[A-Z])")
_CAN_BE_NONE = re.compile(
    r"\b(?:all|any|which|each|every|how many of|who|solutions?|solve|roots?|zeros?|values?|exists?|possible|possibly|real|integers?|primes?"
    r"|domain|range|set|sets|subset|intersect\w*|asymptot\w*|satisf\w*|such that|for what|what (?:numbers?|letters?|digits?|else)|if there"
    r"|only|members?|elements?|left|remain\w*|equations?|system|inequalit\w*|statements?|true|correct|of the following|common|none)\b"
    r"|[=<>≤≥∈]|\\(?:leq?|geq?|in|cap|cup|lim)\b|[\u4e00-\u9fff]",
    re.I,
)


def is_placeholder(gold: str, problem: str = "") -> bool:
    """Whether a gold stands for a missing answer.

    Args:
        gold: the gold as published; an empty one is no placeholder but missing.
        problem: the question, which says whether "none" can be its answer.
    """
    text = gold.strip()
    if not text or len(text) > 80:
        return False
    bare = _WRAPPED.sub("", text)
    if _MARKS.fullmatch(bare):
        return True
    if _ONE_MARK.fullmatch(bare):
        return not _SIGN_ASKED.search(problem)
    word = _ENDS.sub("", bare).replace("_", "").lower()
    if not word:  # \boxed{}, $$, {}: the empty set has its braces escaped
        return (
            not re.search(r"\\[{}]|\\(?:emptyset|varnothing)", text)
            and bool(re.fullmatch(r"[{}()\[\]]*", bare))
            and "[" not in bare
        )
    if word in _NONE:
        return not _can_be_none(problem)
    return word in _NOTHING or text in ("NA", "NaN", "Nan")


def _can_be_none(problem: str) -> bool:
    """Whether "none" can be the answer. An amount that a story asks for is a number, 0 where nothing is left."""
    question = _SENTENCE.split(problem.strip())[-1]
    if _AMOUNT_ASKED.search(question) and not _OF_EQUATIONS.search(problem):
        return False
    return bool(_CAN_BE_NONE.search(problem))
