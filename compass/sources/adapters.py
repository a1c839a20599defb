"""How a published row becomes a problem: one adapter per shape of rows, chosen by `adapter` in `collect`.

An adapter takes a row and its source's settings and returns `Published`. Fields are reached by dotted names
(`reward_model.ground_truth`, `prompt.0.content`). Adding a shape is one function and one line in `ADAPTERS`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from compass.records import SOLVE_RATE
from compass.settings import Source
from compass.sources.gold import gold_answer
from compass.sources.read import SourceError

MISSING = object()
"""What `reach` returns for a field that a row does not have; None is a value."""


@dataclass(frozen=True)
class Published:
    """A row as its source publishes it. `problem` is None where the field could not be read as text."""

    problem: str | None
    answer: str
    solution: str
    level: str


Adapter = Callable[[Mapping[str, Any], Source], Published]


def reach(row: Any, path: str) -> Any:
    """The value behind a dotted path of keys and list positions, or `MISSING`."""
    if not path:
        return MISSING
    if isinstance(row, Mapping) and path in row:
        return row[path]
    for step in path.split("."):
        if isinstance(row, str) and row[:1] in "[{":
            row = _loads(row)
        if isinstance(row, Mapping):
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
    return _published(row, source, _text(reach(row, source.problem_field)))


def chat(row: Mapping[str, Any], source: Source) -> Published:
    """The problem is the last user message of a list of messages, or of the JSON text of such a list."""
    return _published(row, source, last_user_message(reach(row, source.problem_field)))


def options(row: Mapping[str, Any], source: Source) -> Published:
    """Multiple choice with its options in a list: they are written below the problem, as an exam prints them.

    Without them the text would pass for an open question whose gold is a bare letter.
    """
    problem = _text(reach(row, source.problem_field))
    choices = reach(row, source.options_field)
    if problem and isinstance(choices, list) and choices:
        problem = "\n".join([problem.rstrip(), *(str(choice) for choice in choices)])
    return _published(row, source, problem)


ADAPTERS: dict[str, Adapter] = {"columns": columns, "chat": chat, "options": options}
"""The adapters by name."""


def last_user_message(value: Any) -> str | None:
    """The text of the last user message in a chat; a bare text is returned as it is, None for anything else."""
    if isinstance(value, str):
        stripped = value.strip()
        if not stripped.startswith(("[{", "[ {")):
            return value
        value = _loads(stripped)
        if not isinstance(value, list):
            return stripped
    if not isinstance(value, list):
        return None
    for message in reversed(value):
        if not isinstance(message, Mapping):
            return None
        if message.get("role", message.get("from")) in ("user", "human"):
            return _content(message.get("content", message.get("value")))
    return None


def _published(row: Mapping[str, Any], source: Source, problem: str | None) -> Published:
    solution = _text(reach(row, source.solution_field)) or ""
    answer = reach(row, source.answer_field)
    level = reach(row, source.level_field)
    return Published(
        problem=None if problem is None else strip(problem, source),
        answer=gold_answer(None if answer is MISSING else answer, solution),
        solution=solution,
        level="" if level is MISSING or level is None else _level(level, source),
    )


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


def _text(value: Any) -> str | None:
    if value is MISSING or value is None:
        return ""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) else None


def _loads(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
