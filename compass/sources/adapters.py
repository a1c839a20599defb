"""How a published row becomes a problem: one adapter per shape of rows, chosen by `adapter` in `collect`.

An adapter takes a row and its source's settings and returns `Published`. Fields are reached by dotted names
(`reward_model.ground_truth`, `prompt.0.content`). Adding a shape is one function and one line in `ADAPTERS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from compass.records import SOLVE_RATE
from compass.settings import Source
from compass.sources.equations import worked_solution
from compass.sources.gold import gold_answer, gold_answers, json_or_text, with_decimal_point
from compass.sources.read import Row, SourceError
from compass.verifier import ToleranceError, answer_type, read_tolerance
from compass.verifier.reading.numbers import MULTIPLES

MISSING = object()
"""What `reach` returns for a field that a row does not have; None is a value."""

LETTERS = "ABCDEFGHIJ"
# "2:10 P.M." and "1.4 mol" begin with no label.
_LABEL = re.compile(
    r"\s*(?:\(\s*([A-Ja-j1-9])\s*\)|([A-Ja-j1-9])\s*[).:：、．](?!(?<=\d[.:])\d)|\$?\\text(?:bf|rm)?\{\s*\(?([A-J]))"
)


@dataclass(frozen=True)
class Published:
    """A row as its source publishes it. `problem` is None where the field could not be read as text."""

    problem: str | None
    answer: str
    solution: str
    level: str
    alternatives: tuple[str, ...] = ()
    tolerance: str = ""
    other_answer: str = ""
    licence: str = ""
    image: str = ""
    cluster: str = ""
    comma_answer: str = ""
    """The gold with the decimal commas that it was published with; empty where it had none."""


Adapter = Callable[[Mapping[str, Any], Source], Published]


def reach(row: Any, path: str) -> Any:
    """The value behind a dotted path of keys and list positions, or `MISSING`; `*` is the value of a dictionary of one."""
    if not path:
        return MISSING
    if isinstance(row, Mapping) and path in row:
        return row[path]
    for step in path.split("."):
        if isinstance(row, str) and row[:1] in "[{":
            row = json_or_text(row)
        if step == "*" and isinstance(row, Mapping) and len(row) == 1:
            row = next(iter(row.values()))
        elif isinstance(row, Mapping):
            row = row.get(step, MISSING)
        elif isinstance(row, list) and step.lstrip("-").isdigit() and -len(row) <= int(step) < len(row):
            row = row[int(step)]
        else:
            return MISSING
        if row is MISSING:
            return MISSING
    return row


def columns(row: Mapping[str, Any], source: Source) -> Published:
    """Problem, answer and solution each in a field of their own."""
    return _published(row, source, _problem(row, source))


def chat(row: Mapping[str, Any], source: Source) -> Published:
    """The problem is the last user message of a list of messages, or of the JSON text of such a list."""
    return _published(row, source, last_user_message(reach(row, source.problem_field)))


def options(row: Mapping[str, Any], source: Source) -> Published:
    """Multiple choice with its options in fields of their own: they are written below the problem, as an exam prints them.

    Without them the text would pass for an open question whose gold is a bare letter.
    """
    problem = _problem(row, source)
    choices = choice_texts(_choices(row, source.options_field))
    published = _published(row, source, "\n".join([problem.rstrip(), *choices]) if problem and choices else problem)
    place = position(reach(row, source.answer_field)) if source.answer_is_index else None
    if place is not None and 0 <= place - source.first_index < len(LETTERS):
        published = replace(published, answer=LETTERS[place - source.first_index])
    return published


def position(value: Any) -> int | None:
    """A published position among choices: a whole number, or its digits; None for anything else."""
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
        return int(value)
    return value if type(value) is int else None


def _problem(row: Mapping[str, Any], source: Source) -> str | None:
    """The problem's text: of one field, or of several that commas part, one after the other."""
    if "," not in source.problem_field:
        return as_text(reach(row, source.problem_field))
    texts = [as_text(reach(row, name.strip())) for name in source.problem_field.split(",")]
    return None if None in texts else "\n".join(text for text in texts if text)


def _choices(row: Mapping[str, Any], names: str) -> Any:
    """The options of a row: the value of the one field, or by letter those of the fields that commas part, without empty ones."""
    if "," not in names:
        return reach(row, names)
    values = zip(LETTERS, (reach(row, name.strip()) for name in names.split(",")), strict=False)
    return {letter: str(value) for letter, value in values if value not in (MISSING, None, "")}


def choice_texts(value: Any) -> list[str]:
    """The options in a published value, one text each, with letters where it names them or names none.

    Args:
        value: a list of texts, numbers or objects (`{"label": "A", "text": "4"}`); a dictionary from letters to texts, or of
            a list of labels and one of texts; JSON of those; or a text that holds all options.
    """
    if isinstance(value, str):
        read = json_or_text(value) if value.strip()[:1] in ("[", "{") else value
        return choice_texts(read) if not isinstance(read, str) else [value.strip()] if value.strip() else []
    if isinstance(value, Mapping):
        lists = [part for part in value.values() if isinstance(part, list)]
        if len(lists) == 2 == len(value):
            labels = value.get("label", value.get("labels", value.get("key", LETTERS)))
            texts = next((part for part in lists if part is not labels), [])
            return [_labelled(label, text) for label, text in zip(labels, texts, strict=False)]
        return [_labelled(label, text) for label, text in value.items() if text not in (None, "")]
    if not isinstance(value, list):
        return []
    parts = [part[0] if isinstance(part, list) and len(part) == 1 else part for part in value]
    if parts and all(isinstance(part, Mapping) for part in parts):
        return [_from_object(part, letter) for part, letter in zip(parts, LETTERS, strict=False)]
    texts = [str(part) for part in parts]
    if len(texts) < 2 or len(texts) > len(LETTERS) or all(_LABEL.match(text) for text in texts):
        return texts
    return [_labelled(letter, text) for letter, text in zip(LETTERS, texts, strict=False)]


def _from_object(part: Mapping[str, Any], letter: str) -> str:
    """An option such as `{"aoVal": "A", "content": "4"}`: its label is the value that is one letter."""
    values = [str(value).strip() for value in part.values() if isinstance(value, str | int | float)]
    label = next((value for value in values if len(value) == 1 and value.isalpha()), letter)
    text = next((str(part[key]) for key in ("text", "content", "value", "option") if key in part), "")
    return _labelled(label, text or next((value for value in values if value != label), ""))


def _labelled(label: Any, text: Any) -> str:
    """The option behind its label, unless it begins with that label, as a letter or as its number."""
    text, label = str(text).strip(), str(label)
    own = match[match.lastindex].upper() if (match := _LABEL.match(text)) else ""
    number = str(LETTERS.find(label.upper()) + 1) if len(label) == 1 else ""
    return text if own and own in (label.upper(), number) else f"({label}) {text}"


ADAPTERS: dict[str, Adapter] = {"columns": columns, "chat": chat, "options": options}
"""The adapters by name."""


def last_user_message(value: Any) -> str | None:
    """The text of the last user message in a chat; a bare text is returned as it is, None for anything else."""
    if isinstance(value, str):
        stripped = value.strip()
        if not stripped.startswith(("[{", "[ {")):
            return value
        if not isinstance(json_or_text(stripped), list):
            return stripped
    messages = user_messages(value)
    return messages[-1] if messages else None


def as_json_object(value: Any) -> Any:
    """The dictionary in a JSON text of one; anything else as it is."""
    read = json_or_text(value) if isinstance(value, str) and value[:1] == "{" and value.rstrip()[-1:] == "}" else value
    return read if isinstance(read, Mapping) else value


def user_messages(value: Any) -> list[str | None]:
    """The texts of all user messages in a chat or its JSON text, in their order; none in anything else."""
    chat = json_or_text(value.strip()) if isinstance(value, str) else value
    if not isinstance(chat, list) or not all(isinstance(message, Mapping) for message in chat):
        return []
    asked = (message for message in chat if message.get("role", message.get("from")) in ("user", "human"))
    return [_content(message.get("content", message.get("value"))) for message in asked]


def _published(row: Mapping[str, Any], source: Source, problem: str | None) -> Published:
    solution = as_text(reach(row, source.solution_field)) or ""
    value, level = reach(row, source.answer_field), reach(row, source.level_field)
    value, any_of, comma = None if value is MISSING else value, source.answers_mean == "any", source.decimal_comma
    answer, alternatives = gold_answers(value, solution, any_of=any_of, decimal_comma=comma)
    as_written = gold_answers(value, solution, any_of=any_of)[0] if comma else answer
    others = reach(row, source.alternatives_field)
    if others is not MISSING and others is not None:
        first, rest = gold_answers(others, any_of=True, decimal_comma=comma)
        alternatives = tuple(dict.fromkeys((*alternatives, first, *rest)))
    if not solution and source.equation_field:
        solution = worked_solution(as_text(reach(row, source.equation_field)) or "", problem or "", answer)
    unit = as_text(reach(row, source.unit_field)) or ""
    other = reach(row, source.other_answer_field)
    return Published(
        problem=None if problem is None else strip(problem, source),
        answer=with_unit(answer, unit, problem or ""),
        solution=solution,
        level="" if level is MISSING or level is None else _level(level, source),
        alternatives=tuple(
            with_unit(other, unit, problem or "") for other in alternatives if other and other != answer
        ),
        tolerance=_tolerance(row, source),
        other_answer="" if other is MISSING else gold_answer(other, decimal_comma=comma),
        licence=(as_text(reach(row, source.licence_field)) or "").strip(),
        image=_image(reach(row, source.image_field)),
        cluster=read_name(row, source.cluster_field),
        comma_answer="" if as_written == answer else as_written,
    )


def read_name(row: Mapping[str, Any], field: str) -> str:
    """What a row's field for an id or a cluster holds; empty where it has none, as a table's empty cell."""
    value = reach(row, field)
    return "" if value is MISSING or value is None or value != value else str(value)


def _image(value: Any) -> str:
    """The picture of a row in a few characters; empty where it has none."""
    absent = (
        value is MISSING
        or value in (None, False, "", [])
        or str(value).lower() in ("none", "no", "false", "nan", "null")
    )
    if isinstance(value, Mapping):
        return next((found for part in value.values() if (found := _image(part))), "")
    return "" if absent else str(value[:60] if isinstance(value, str | bytes) else value)[:60]


_TIMES_SIGN = re.compile(r"^(?:×|\*|x|\\times|\\cdot)\s*\$?(?=10(?!\d))")
_POWER_OF_TEN = re.compile(r"\$?10(?:\^|[⁻⁰¹²³⁴-⁹])")
_ONE_NUMBER = re.compile(r"[-−]?\\?\$?\s*\d[\d,]*(?:\.\d+)?")


def with_unit(answer: str, unit: str, problem: str = "") -> str:
    """A gold with the unit or the scale that its source gives apart; as it is where it already has one or could then not be read.

    Args:
        answer: the gold.
        unit: `cm`, `10^{-6} C`, `\\times 10^3`, `thousand`.
        problem: the question, which may name the scale itself: "in thousands of dollars".
    """
    unit = _TIMES_SIGN.sub("", unit.strip().strip("$").strip())
    if not unit or not answer or unit in answer or answer_type(answer) in ("text", "choice", "unrecognised"):
        return answer
    bare, kinds = answer.strip().strip("$").strip(), {"quantity", "percent"}
    power = r" \times" if _POWER_OF_TEN.match(unit) else ""
    if power or unit.lower() in MULTIPLES:
        if not _ONE_NUMBER.fullmatch(bare) or re.search(rf"\bin {re.escape(unit)}s?\b", problem, re.I):
            return answer
        kinds |= {"integer", "decimal", "fraction"}
    written = bare + (r"\%" if unit in ("%", r"\%") else f"{power} {unit}")
    return written if answer_type(written) in kinds else answer


def _tolerance(row: Mapping[str, Any], source: Source) -> str:
    """How far the gold of a row may be off; empty where it may not.

    Raises:
        SourceError: the row's own tolerance is none.
    """
    value = reach(row, source.tolerance_field)
    written = "" if value is MISSING or value is None else str(value).strip()
    if source.decimal_comma and isinstance(value, str):
        written = with_decimal_point(written)
    if source.tolerances:
        return source.tolerances.get(written, source.tolerance)
    if not written:
        return source.tolerance
    try:
        read_tolerance(written)
    except ToleranceError as error:
        raise SourceError(
            f"source {source.name!r}: `{source.tolerance_field}` holds a {error}; name another `tolerance_field`, or say with "
            "`tolerances` which tolerance each of its values stands for"
        ) from None
    return written


def _level(level: Any, source: Source) -> str:
    """The difficulty as published; a solve rate says that it is one.

    Raises:
        SourceError: a value of a field that is to hold solve rates is none.
    """
    text = str(level)
    if source.level_means == "difficulty" or not text.strip():
        return text
    try:
        rate = float(text)
    except ValueError:
        rate = -1.0
    if not 0 <= rate <= 1:
        raise SourceError(
            f"source {source.name!r}: `{source.level_field}` holds {text[:60]!r}, and `level_means: solve_rate` asks for numbers "
            "from 0 to 1; set `level_means: difficulty`, or name another `level_field`"
        )
    return SOLVE_RATE + text


def strip(problem: str, source: Source) -> str:
    """The problem without the instructions that its source puts before and after every problem."""
    problem = problem.strip()
    for prefix in source.strip_prefixes:
        problem = problem.removeprefix(prefix.strip()).lstrip()
    for suffix in source.strip_suffixes:
        problem = problem.removesuffix(suffix.strip()).rstrip()
    return problem


def _content(value: Any) -> str | None:
    if isinstance(value, list):  # parts, as multimodal chats have them
        parts = [part.get("text", "") for part in value if isinstance(part, Mapping)]
        return "\n".join(part for part in parts if isinstance(part, str)) or None
    return value if isinstance(value, str) else None


def as_text(value: Any) -> str | None:
    """A published text, a line each of a list of texts, a row each of a table as a list of lists, or of several; None of anything else."""
    if not isinstance(value, list):
        return "" if value is MISSING else _as_cell(value)
    lines = [_as_line(part) for part in value]
    return None if None in lines else "\n".join(line for line in lines if line)


def _as_line(part: Any) -> str | None:
    """A text, or a row of a table; of a table among several all of its rows."""
    if not isinstance(part, list):
        return _as_cell(part)
    if any(isinstance(row, list) for row in part):
        return as_text(part)
    cells = [_as_cell(cell) for cell in part]
    return None if None in cells else " | ".join(cell or "" for cell in cells)


def _as_cell(value: Any) -> str | None:
    if value is None:
        return ""
    return value if isinstance(value, str) else str(value) if isinstance(value, int | float) else None


CHECK_FIELDS_AFTER = 1000
"""Rows without any sign of a configured field after which its name is called wrong."""


class ConfiguredFields:
    """Tells a wrong field name, which no row has, from a field that some rows lack."""

    def __init__(self, source: Source) -> None:
        self.source = source
        names = [name for name in Source.model_fields if name.endswith("_field")]
        # Of several fields with commas between them, each needs to be there.
        self.unseen = {
            (name, path.strip()): path.strip()
            for name in names
            for path in getattr(source, name).split(",")
            if path.strip()
        }
        self.rows = 0
        self.fields: dict[str, None] = {}
        self.place = ""

    def check(self, row: Row, place: str) -> None:
        if not self.unseen:
            return
        self.rows += 1
        self.place = place
        self.fields |= dict.fromkeys(row)
        self.unseen = {name: path for name, path in self.unseen.items() if reach(row, path) is MISSING}
        if self.rows == CHECK_FIELDS_AFTER:
            self.finish()

    def finish(self) -> None:
        for (name, _), path in self.unseen.items():
            raise SourceError(
                f"source {self.source.name!r}: none of the first {self.rows} rows (to {self.place}) has the field {path!r} "
                f"that `{name}` names; found: {', '.join(self.fields) or 'no fields'}"
            )
        self.unseen = {}
