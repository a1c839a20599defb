"""What the fields of sampled rows are called and hold: usual names, paths, values, and whether those can be problems, golds or solutions."""

from __future__ import annotations

import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from compass.sources.adapters import as_json_object, as_text, last_user_message, user_messages
from compass.sources.gold import from_solution
from compass.verifier.reading.numbers import MULTIPLES

_PROBLEM = """
    problem question problemtext questiontext problemstatement informalstatement nlstatement squestion prompt instruction
    input query messages conversations conversation dialogue chat user task text statement content body 题目 问题
"""
_CONTEXT = (
    "context passage body story background premise scenario table tables tabletitle tablecaption passages contexts"
)
_ANSWER = """
    answer shortanswer finalanswer groundtruth correctanswer goldanswer referenceanswer expectedanswer expected correct
    groundtruthanswer goldstandardanswer answerlatex answernumber
    answerkey answervalue correctoption ans final gold golden target key label result solutions lsolutions 答案
    answers finalanswers goldanswers golds groundtruths referenceanswers correctanswers targets
    acceptedanswers acceptableanswers validanswers possibleanswers output response completion
"""
_SEVERAL_ANSWERS = (
    "solutions answers finalanswers goldanswers golds groundtruths referenceanswers correctanswers targets"
)
_ALTERNATIVES = """
    acceptedanswers acceptableanswers validanswers possibleanswers alternativeanswers alternateanswers otheranswers
    equivalentanswers answeraliases aliases answervariants alternatives
"""
_SOLUTION = """
    solution rationale generatedsolution workedsolution fullsolution goldsolution goldstandardsolution
    groundtruthsolution referencesolution longanswer output response completion nlproof
    informalproof proof reasoning explanation cot analysis answeranalysis steps derivation solution1
"""
_OPTIONS = "options choices answeroptions optionlist answeroptionlist candidates mcoptions alternatives endings"
_LEVEL = "level difficulty difficultylevel grade problemlevel hardness"
_ID = "id idx uid guid uuid nr uniqueid problemid questionid qid queid index exampleid name problemname"

_ABOUT_ROWS = """
    id ids idx index uuid hash md5 sha number no row line page date year month time timestamp url uri link source src dataset split file
    filename path name author model version licence license language lang subject topic category type tag tags domain score scores points votes
    rate count length tokens rating rank reward level difficulty
"""

PROBLEM = tuple(_PROBLEM.split())
CONTEXT = tuple(_CONTEXT.split())
"""What a question refers to, in a field of its own beside it."""

ANSWER = tuple(_ANSWER.split())
SEVERAL_ANSWERS = tuple(_SEVERAL_ANSWERS.split())
"""Names that leave open whether all values of a list are needed or any is right."""

ALTERNATIVES = tuple(_ALTERNATIVES.split())
"""Answers of which any is right."""

MULTIPLE = ("ismultipleanswer", "ismultianswer", "ismultiple", "multipleanswers", "multipleanswer")
"""Whether a problem asks for several answers."""

TOLERANCE = ("tolerance", "answertolerance", "absolutetolerance", "error", "errortolerance")
UNIT = ("unit", "units", "answerunit")
SOLUTION = tuple(_SOLUTION.split())
OPTIONS = tuple(_OPTIONS.split())
LEVEL = tuple(_LEVEL.split())
ID = tuple(_ID.split())
ABOUT_ROWS = frozenset(_ABOUT_ROWS.split())
"""Words in the names of fields that tell where a row is from or count something; a gold is never guessed from such a field."""

OPTION_COLUMNS = ("{}", "option{}", "choice{}", "answer{}", "opt{}")
"""Columns that hold one option each; a letter or number stands in the braces."""


@dataclass(frozen=True)
class Field:
    """What the sampled rows hold at a path."""

    path: str
    values: list[Any]
    rows: int

    @property
    def name(self) -> str:
        return plain_name(self.path.rstrip(".").rsplit(".", 1)[-1])

    @property
    def texts(self) -> list[str]:
        return [value for value in self.values if isinstance(value, str)]

    @property
    def passages(self) -> list[str]:
        """The values as texts, lists of texts and tables among them."""
        written = (as_text(value) for value in self.values if isinstance(value, str | list))
        return [text for text in written if text]

    @property
    def length(self) -> float:
        """Median characters of a value."""
        return statistics.median(len(str(value)) for value in self.values)

    @property
    def distinct(self) -> float:
        return len({str(value) for value in self.values}) / len(self.values)

    def describe(self, because: str) -> str:
        shown, length = " ".join(str(self.values[0]).split()), f"{self.length:.0f}"
        return (
            f"{because}; in {len(self.values)} of {self.rows} sampled rows, median {length} "
            f"character{'s' * (length != '1')}, for example {shown[:60]!r}"
        )


def sampled_fields(rows: Sequence[Mapping[str, Any]]) -> list[Field]:
    """Every path with a value, in the order of the rows' keys; dictionaries are followed three levels deep."""
    found: dict[str, list[Any]] = {}
    wrapped = len(rows) > 1 and all(len(row) == 1 for row in rows) and len({next(iter(row)) for row in rows}) > 1

    def follow(value: Any, path: str, depth: int) -> None:
        value = as_json_object(value)
        if isinstance(value, Mapping) and depth < 3:
            for key, inner in value.items():
                follow(inner, f"{path}.{key}" if path else str(key), depth + 1)
        elif value not in (None, "", []) and not (isinstance(value, float) and value != value):
            found.setdefault(path, []).append(value)

    for row in rows:
        follow({"*": next(iter(row.values()))} if wrapped else row, "", 0)
    return [Field(path, values, len(rows)) for path, values in found.items()]


def is_chat(field: Field) -> bool:
    """Whether every value is a list of messages, with a user's among them."""
    chats = [
        value
        for value in field.values
        if isinstance(value, list) or (isinstance(value, str) and value.lstrip()[:2] == "[{")
    ]
    return len(chats) == len(field.values) and any(last_user_message(value) for value in chats)


def is_problem(field: Field) -> bool:
    """Text that is long enough to ask something and is not the same in every row."""
    texts = field.texts
    return (
        len(texts) > 0.9 * len(field.values)
        and (field.length >= 15 or asks(field))
        and (field.distinct > 0.35 or len(texts) == 1 or len(set(texts)) >= 20)
    )


def asks(field: Field) -> bool:
    """Whether texts ask or tell to find something."""
    return sum(map(asking, field.texts)) >= 0.3 * len(field.values)


_ASKING = (
    "?",
    "？",
    "find ",
    "compute ",
    "determine ",
    "calculate ",
    "evaluate ",
    "solve ",
    "simplify ",
    "prove ",
    "求",
)


def asking(text: str) -> bool:
    """Whether a text asks or tells to find something."""
    lowered = text.lower()
    return any(sign in lowered for sign in _ASKING)


def is_gold(field: Field) -> bool:
    """Short values, or texts that mark their answer."""
    if any(isinstance(value, Mapping) for value in field.values):
        return False
    return is_short(field) or marks_answers(field, 0.5)


def is_short(field: Field) -> bool:
    """Whether most values are as short as an answer: sixty characters, and not several lines of a program or a solution."""
    lines = sum(text.strip().removesuffix("\\noindent").strip().count("\n") > 0 for text in field.texts)
    return field.length <= 60 and lines < 0.5 * len(field.values)


def why_no_golds(field: Field) -> str:
    """Why a field holds no golds, whatever its name is: its values only count the rows, are all the same, or are pictures; else empty."""
    if _numbers_rows(field):
        return "rises from row to row, as a counter does"
    if len(field.values) >= FEWEST and field.distinct * len(field.values) == 1:
        return "is the same in all rows"
    return "holds pictures" if is_picture(field) else ""


def is_called_gold(field: Field) -> bool:
    """Whether a field's name says that it holds golds, and nothing else, as `key` and `label` could."""
    return bool(re.search(r"answer|gold|groundtruth|答案", field.name))


FEWEST = 10
"""Values of which one can tell that they count rows, or are all the same."""


def marks_answers(field: Field, share: float = 0.0) -> bool:
    """Whether more than a share of the values mark their answer, as a box, `####` or "The answer is" does."""
    texts = ("\n".join(value) if _is_text_list(value) else value for value in field.values)
    return sum(isinstance(text, str) and from_solution(text) != "" for text in texts) > share * len(field.values)


def is_about_rows(field: Field) -> bool:
    """Whether a field describes or counts rows, where no gold stands: by its name, as `year` and `in_source_id`, or by its values."""
    words = [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+", field.path.rsplit(".", 1)[-1])]
    return field.name in (*ID, *LEVEL) or not ABOUT_ROWS.isdisjoint(words) or _numbers_rows(field)


def _numbers_rows(field: Field) -> bool:
    """Whether the values are whole numbers that rise from row to row, but for where another file begins: of ten golds, once in 3.6 million files."""
    texts = [str(value) for value in field.values]
    if len(texts) < FEWEST or not all(text.isascii() and text.isdigit() for text in texts):
        return False
    rising = sum(int(one) < int(following) for one, following in pairwise(texts))
    return rising >= 0.95 * (len(texts) - 1)


_PICTURE_FILE = re.compile(r"\.(?:png|jpe?g|gif|svg|webp|bmp|tiff?)$", re.I)
_PICTURE_NAME = re.compile(r"image|picture|figure|diagram|photo|img", re.I)


def is_picture(field: Field) -> bool:
    """Whether values are pictures: bytes, data URIs, names of picture files; under a picture's name also flags and other texts in one word."""

    def one(value: Any) -> bool:
        if isinstance(value, list):
            return bool(value) and all(map(one, value))
        if isinstance(value, Mapping):
            return any(map(one, value.values()))
        if isinstance(value, str):
            text = value.strip()
            return text.startswith("data:image/") or bool(_PICTURE_FILE.search(text)) or (is_named and " " not in text)
        return isinstance(value, bytes) or (is_named and value is True)

    is_named = bool(_PICTURE_NAME.search(field.path.rsplit(".", 1)[-1]))
    filled = [value for value in field.values if value not in (False, 0, "None", "none", "no", "No")]
    return bool(filled) and 2 * sum(map(one, filled)) > len(filled)


def is_licence(field: Field) -> bool:
    """Whether texts name licences: by the field's name, or as SPDX writes them."""
    known = re.compile(r"(?:CC[- ]?(?:BY|0)|MIT$|Apache|GPL|ODC|Creative Commons|public domain)", re.I)
    texts = field.texts
    is_named = field.name in ("license", "licence", "licensename", "datalicense", "datalicence")
    return len(texts) == len(field.values) and field.length <= 100 and (is_named or all(map(known.match, texts)))


def is_solve_rate(field: Field) -> bool:
    """Whether values are shares from 0 to 1 under the name of a rate."""
    numbers = [value for value in field.values if isinstance(value, int | float) and not isinstance(value, bool)]
    is_named = bool(re.search(r"rate|pass|solve|accura|correct", field.name))
    return is_named and len(numbers) == len(field.values) and all(0 <= value <= 1 for value in numbers)


def is_id(field: Field) -> bool:
    """Whether every row has a number or a single word of its own."""
    words = all(isinstance(value, str | int) and len(str(value).split()) == 1 for value in field.values)
    return words and len(field.values) == field.rows >= FEWEST and field.distinct == 1 and is_short(field)


def is_unit(field: Field) -> bool:
    """Whether nearly all values are short texts that could stand behind a number under the name of a unit, or multiples: `thousand`."""
    short = [value.strip().lower() for value in field.values if isinstance(value, str) and len(value) <= 40]
    scales = sum(value in MULTIPLES for value in short)
    are_scales = bool(scales) and scales + sum(value in ("percent", "%") for value in short) == len(short)
    return (field.name in UNIT or are_scales) and len(short) >= 0.8 * len(field.values)


def is_choices(field: Field) -> bool:
    """Whether most values are lists of two to ten short texts or numbers, or objects from letters to such."""

    def one(value: Any) -> bool:
        parts = list(value) if isinstance(value, list) else []
        return 2 <= len(parts) <= 10 and all(
            isinstance(part, str | int | float) and len(str(part)) <= 80 for part in parts
        )

    is_chosen = field.name in OPTIONS or len({len(value) for value in field.values if isinstance(value, list)}) <= 3
    return is_chosen and 0.8 * len(field.values) < sum(map(one, field.values)) and field.distinct > 0.5


def is_context(field: Field) -> bool:
    """Whether values could be what a question refers to: tables, or texts of several words that change; names of what describes rows are none."""
    if field.name in CONTEXT:
        return True
    prose = [text for text in field.texts if len(_WORD.findall(text)) >= 5]
    is_text = 2 * len(prose) > len(field.values) and (field.distinct > 0.2 or len(field.values) < FEWEST)
    is_worked = field.name in (*SOLUTION, *ANSWER) or is_of_solution(field) or marks_answers(field, 0.5)
    return is_text and not is_worked and not is_about_rows(field)


_WORD = re.compile(r"(?<![\w(])[^\W\d_]{2,}(?![\w(])|[\u3040-\u30ff\u4e00-\u9fff]")


def is_of_solution(field: Field) -> bool:
    """Whether a field belongs by its name to the answer or the solution, and not to the problem."""
    return bool(re.search(r"answer|solution|explanation|rationale|proof", field.path, re.I))


def shown(field: Field) -> str:
    """A value of a field, as a message shows it."""
    text = " ".join(str(next((value for value in field.values if value is not False), "")).split())
    return f"for example {text[:60]!r}"


def has_follow_ups(field: Field) -> bool:
    """Whether the user speaks more than once in any of the conversations."""
    return any(len(user_messages(value)) > 1 for value in field.values)


def is_solution(field: Field) -> bool:
    """Text or a list of texts; long where the name may be a gold's."""
    is_long = field.length > 40 or field.name not in ANSWER
    return is_long and all(isinstance(value, str) or _is_text_list(value) for value in field.values)


def _is_text_list(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(part, str) for part in value)


def plain_name(name: str) -> str:
    """A name in lower case, letters and digits alone."""
    return "".join(letter for letter in name.lower() if letter.isalnum())
