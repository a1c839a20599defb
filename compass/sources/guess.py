"""Settings for a file that nobody described: its fields guessed from their names and from what they hold.

Each role (problem, gold, solution, options, id, level) has usual names, compared without case and separators, and asks
something of the values: a problem is text of some length that changes from row to row, a gold is short or marks its
answer, an id is never twice the same. Where no name is usual, the contents alone must leave one choice; otherwise the
guess is an error that names the candidates, for the user to decide.

Several values of a gold, `["1/2", "0.5"]`, may be answers of which any is right, or parts of one answer. Values that equal each
other are the former, numbers the latter; where neither names nor contents tell, the guess is an error that asks.

Instructions that a source puts before or after every problem ("Let's think step by step …") are whole sentences or lines that nearly
all rows share and that speak of the answer or the way to it, and without which most problems still ask: "Solve the equation."
before every equation is the task itself. A sentence that says what the value is to be, its unit, its rounding or its kind of number,
belongs to the question, and so does what stands further inside.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compass.settings import Source
from compass.sources.adapters import ADAPTERS, MISSING, choice_texts, position, reach
from compass.sources.check_reading import agreement
from compass.sources.gold import DecimalCommas, gold_answer
from compass.sources.read import SourceError
from compass.sources.sampled_fields import (
    ALTERNATIVES,
    ANSWER,
    CONTEXT,
    ID,
    LEVEL,
    MULTIPLE,
    OPTION_COLUMNS,
    OPTIONS,
    PROBLEM,
    SEVERAL_ANSWERS,
    SOLUTION,
    TOLERANCE,
    UNIT,
    Field,
    asking,
    asks,
    has_follow_ups,
    is_about_rows,
    is_called_gold,
    is_chat,
    is_choices,
    is_gold,
    is_licence,
    is_of_solution,
    is_picture,
    is_problem,
    is_short,
    is_solution,
    is_unit,
    marks_answers,
    plain_name,
    sampled_fields,
    shown,
    why_no_golds,
)
from compass.verifier import ToleranceError, answer_type, read_tolerance, same_answer
from compass.verifier.reading.units import find_unit

REPEATS = 0.9
"""Share of rows from which a field that equals the gold is no solution."""

MOST_LISTS = 50
"""Lists whose values are held against each other."""


def guess_golds(path: Path, answer: str, fields: Sequence[Field], evidence: dict[str, str]) -> dict[str, Any]:
    """Settings of a source for its golds besides `answer_field`; each that is not the default gets its evidence.

    Args:
        path: the file, for the error.
        answer: the path of the gold's field, empty where only a solution has it.
        fields: all sampled fields.
        evidence: filled by setting.

    Raises:
        SourceError: the golds are lists, and whether all of a list are needed or any is right cannot be told.
    """
    found: dict[str, Any] = {}
    own = next((field for field in fields if field.path == answer), None)
    if own is not None and (means := _means(path, own, fields, evidence)):
        found["answers_mean"] = means
    beside = [field for field in fields if field.path.rpartition(".")[0] == answer.rpartition(".")[0] and field != own]
    for setting, names, holds in (
        ("alternatives_field", ALTERNATIVES, lambda field: True),
        ("tolerance_field", TOLERANCE, _are_tolerances),
        ("unit_field", UNIT, is_unit),
    ):
        field = next((field for field in beside if field.name in names and holds(field)), None)
        if answer and field is not None:
            found[setting] = field.path
            evidence[setting] = field.describe("a usual name")
    return found


def _means(path: Path, field: Field, fields: Sequence[Field], evidence: dict[str, str]) -> str:
    """The setting `answers_mean`; empty where no gold has several values."""
    lists = [golds for value in field.values if len(golds := values_of(value)) > 1]
    if not lists:
        return ""
    of = f"of the {len(lists)} golds with several values"
    if field.name in ALTERNATIVES:
        evidence["answers_mean"] = f"{field.path} names answers that are accepted"
        return "any"
    if flag := next((flag for flag in fields if flag.name in MULTIPLE and _says_yes(flag)), None):
        evidence["answers_mean"] = f"{flag.path} says which problems have several answers"
        return "all"
    looked = lists[:MOST_LISTS]
    same = sum(all(same_answer(golds[0], gold) for gold in golds[1:]) for golds in looked)
    if 2 * same > len(looked):
        evidence["answers_mean"] = f"{of}, {same} of {len(looked)} repeat one value in other words"
        return "any"
    if all(_are_numbers(value) for value in field.values) or field.name not in SEVERAL_ANSWERS:
        evidence["answers_mean"] = f"{of}, {len(looked) - same} of {len(looked)} hold different values of one answer"
        return "all"
    shown = json.dumps(lists[0], ensure_ascii=False)[:80]
    raise SourceError(
        f"{path}: `{field.path}` holds several values in {len(lists)} of {len(field.values)} rows, for example {shown}; say in "
        "`collect.sources` of a parameter file (--params) whether all of them are needed (`answers_mean: all`) or any of them "
        "is right (`answers_mean: any`)"
    )


def values_of(value: Any) -> list[str]:
    """The different golds in a published list, or in the JSON text of a list of texts; none in anything else."""
    if isinstance(value, str) and value.lstrip().startswith('["'):
        try:
            value = json.loads(value)
        except ValueError:
            return []
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        value = value[0]
    return list(dict.fromkeys(gold for part in value if (gold := gold_answer(part)))) if isinstance(value, list) else []


def _are_numbers(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_are_numbers, value))
    return isinstance(value, int | float) and not isinstance(value, bool)


def _says_yes(field: Field) -> bool:
    return any(value is True or str(value).lower() in ("true", "yes", "1") for value in field.values)


def _are_tolerances(field: Field) -> bool:
    try:
        return all(read_tolerance(str(value)) for value in field.values)
    except ToleranceError:
        return False


NEARLY_ALL = 0.8
"""Share of the rows that have what counts as shared, or of a field's texts that ask."""

FEWEST = 5
"""Rows that a guess needs."""

_BOUNDARY = re.compile(r"(?<=[.!?:])\s+|\s*\n\s*")
_TELLS = re.compile(
    r"\b(?:answers?|respon(?:d|se)|step[- ]by[- ]step|boxed|reason(?:ing)?|final|output|format|think|assistant|solve the (?:following|given|below)"
    r"|(?:math|mathematical|following) (?:problem|question)|explain your|show your work|instructions?|user)\b|^\W*(?:math )?problem\W*$",
    re.I,
)
_VALUE = re.compile(
    r"\b(?:round|nearest|approximat|decimal|significant|digit|fraction|whole number|integer|simplest|simplif|lowest terms|in terms of)"
    r"|\bexpress\b.+\bas\b|%",
    re.I,
)
_MAY_BE_UNIT = re.compile(r"[^\W\d_]{3,}|(?<=\bin )[^\W\d_]+")  # "in cm", and neither "in" itself nor "let us"
_MOST_PIECES = 12


def shared_instructions(texts: Sequence[str]) -> tuple[str, str]:
    """What nearly all texts begin with and what they end with, each empty where that is no instruction.

    Args:
        texts: problems as a source publishes them.
    """
    texts = [text.strip() for text in texts]
    if len(texts) < FEWEST:
        return "", ""
    prefix = _shared(texts, _beginning, str.startswith)
    suffix = _shared([text.removeprefix(prefix) for text in texts], _end, str.endswith)
    bare = [text.removeprefix(prefix).removesuffix(suffix).strip() for text in texts]
    if sum(map(asking, bare)) < 0.5 * len(bare):
        return "", ""
    return prefix.strip(), suffix.strip()


def guess_instructions(texts: Sequence[str], evidence: dict[str, str]) -> dict[str, list[str]]:
    """The settings `strip_prefixes` and `strip_suffixes` that take the shared instructions away; none where there are none.

    Args:
        texts: problems as a source publishes them.
        evidence: receives a line for each setting.
    """
    prefix, suffix = shared_instructions(texts)
    having = {
        "strip_prefixes": (prefix, "begin", sum(text.strip().startswith(prefix) for text in texts)),
        "strip_suffixes": (suffix, "end", sum(text.strip().endswith(suffix) for text in texts)),
    }
    found = {}
    for setting, (shared, where, count) in having.items():
        if shared:
            found[setting] = [shared]
            evidence[setting] = f"{count} of {len(texts)} problems {where} with it, and it tells how to answer"
    return found


def _shared(texts: Sequence[str], piece: Callable[[str, int], str], has: Callable[[str, str], bool]) -> str:
    """The longest run of whole sentences or lines that nearly all texts share and whose inmost one tells how to answer."""
    run = shared = ""
    for count in range(1, _MOST_PIECES + 1):
        most = Counter(found for text in texts if has(text, run) and (found := piece(text, count))).most_common(1)
        if not most or most[0][1] < NEARLY_ALL * len(texts):
            break
        added = most[0][0].replace(run, "", 1)
        if _constrains_value(added):
            break
        if _TELLS.search(added):
            shared = most[0][0]
        run = most[0][0]
    return shared


def _constrains_value(piece: str) -> bool:
    """Whether a sentence says which value is right, as "in percent, rounded to a whole number", and not only how to write it."""
    return bool(_VALUE.search(piece)) or any(map(find_unit, _MAY_BE_UNIT.findall(piece)))


def _beginning(text: str, count: int) -> str:
    """The first pieces of a text, empty where it has no more than those."""
    ends = [match.end() for match in _BOUNDARY.finditer(text)]
    return text[: ends[count - 1]] if len(ends) >= count else ""


def _end(text: str, count: int) -> str:
    """The last pieces of a text, empty where it has no more than those."""
    begins = [match.end() for match in _BOUNDARY.finditer(text)]
    return text[begins[-count] :] if len(begins) >= count else ""


SAMPLE = 200
"""Rows that a guess looks at."""

LETTERS = "ABCDEFGHIJ"

AGREES = 0.6
"""Share of golds that equal what the solutions mark, from which a field of any name holds golds."""


@dataclass(frozen=True)
class Guess:
    """Settings, and for each field that they name why it was chosen."""

    source: Source
    evidence: dict[str, str]


def guess(name: str, path: Path, rows: Sequence[Mapping[str, Any]]) -> Guess:
    """Settings for rows of an unknown source.

    Raises:
        SourceError: no field can be the problem or the gold, or several can; names them and says how to settle it.
    """
    if not rows:
        raise SourceError(f"{path}: holds no rows")
    fields = sampled_fields(rows)
    evidence: dict[str, str] = {}

    problem, chat = _problem(path, fields, evidence)
    options = _options(fields, rows)
    taken = {*problem.split(", "), *options}
    talk = _assistant(problem, chat, rows)
    answer, solution = _gold(path, fields, taken, talk, evidence, rows)
    adapter = "chat" if chat else "options" if options else "columns"
    if options:
        evidence["options_field"] = f"holds the choices of {', '.join(options)}"
    first_index = _first_index(rows, answer, options) if adapter == "options" else None
    if first_index is not None:
        below = "below the number of choices, 0 among them" if first_index == 0 else "from 1 to the number of choices"
        evidence["answer_is_index"] = f"every gold is a whole number {below}"
        if first_index:
            evidence["first_index"] = "no gold is 0, and some are the number of choices"
    golds = guess_golds(path, answer, [field for field in fields if field.path not in options], evidence)
    level = _first(fields, LEVEL, lambda field: field.distinct < 0.5 or len(field.values) < 20, taken)
    own_id = _first(fields, ID, lambda field: field.distinct == 1 and len(field.values) == len(rows), taken)
    licence = next((field for field in fields if is_licence(field)), None)
    picture = next((field for field in fields if is_picture(field) and not is_of_solution(field)), None)
    for setting, field in (("level_field", level), ("id_field", own_id), ("licence_field", licence)):
        if field:
            evidence[setting] = field.describe("a usual name")
    if picture:
        evidence["image_field"] = picture.describe(
            "pictures, without which a text may not be solvable; such rows are dropped"
        )
    source = Source(
        name=name,
        path=str(path),
        adapter=adapter,
        problem_field=problem,
        answer_field=answer,
        solution_field=solution,
        options_field=", ".join(options) if adapter == "options" else "",
        answer_is_index=first_index is not None,
        first_index=first_index or 0,
        licence_field=licence.path if licence else "",
        image_field=picture.path.removesuffix(".bytes").removesuffix(".path") if picture else "",
        level_field=level.path if level else "",
        id_field=own_id.path if own_id else "",
        **golds,
    )
    read = [ADAPTERS[source.adapter](row, source) for row in rows]
    texts = [one.problem for one in read if one.problem]
    update = guess_instructions(texts, evidence) | guess_decimal_comma([one.answer for one in read], evidence)
    return Guess(source.model_copy(update=update), evidence)


FEWEST_CERTAIN = 2
"""Golds such as `0,25` or `2.501,00` that show more than a slip."""


def guess_decimal_comma(golds: Sequence[str], evidence: dict[str, str]) -> dict[str, bool]:
    """The setting `decimal_comma` where golds can mean nothing else; none where a comma may separate the numbers of a list, or thousands.

    Args:
        golds: as read without the setting.
        evidence: receives a line for it.
    """
    commas = DecimalCommas()
    for gold in golds:
        commas.add(gold)
    if not commas.shown or commas.lists or commas.thousands or commas.certain < FEWEST_CERTAIN:
        return {}  # `collect` warns where they may be decimal
    evidence["decimal_comma"] = (
        f"{commas.commas} of {len(golds)} sampled golds have a number with a comma, for example {commas.example[0][:60]!r}, and none has "
        "a decimal point or is a list; it is read as the decimal sign"
    )
    return {"decimal_comma": True}


def explain(guess: Guess) -> list[str]:
    """The guess as lines: each field that the settings name, with its evidence."""
    shown = guess.source.model_dump(exclude_defaults=True)
    lines = [f"{guess.source.path}: adapter {guess.source.adapter}"]
    for setting, reason in sorted(guess.evidence.items()):
        lines.append(f"  {setting}: {shown.get(setting, getattr(guess.source, setting))} ({reason})")
    if not guess.source.answer_field:
        lines.append("  answer_field: none; golds come from the solution's last box or ####")
    return lines


def _problem(path: Path, fields: Sequence[Field], evidence: dict[str, str]) -> tuple[str, bool]:
    """The problem's path and whether it is a conversation."""
    usual = [field for name in PROBLEM for field in fields if field.name == name]
    for field in sorted(usual, key=lambda field: (PROBLEM.index(field.name), field.path.count("."))):
        if is_chat(field):
            evidence["problem_field"] = field.describe("a usual name, and messages with a user's")
            return _one_question(path, field), True
        if is_problem(field):
            if questions := _find_questions(field, fields):
                raise _undecided(path, "problem", [field, *questions], fields)
            evidence["problem_field"] = field.describe("a usual name, and text")
            return _with_context(field, fields, evidence), False
    bare = next((field.path[:-5] for field in fields if field.path in ("0.role", "1.role", "0.from", "1.from")
                 and {str(value) for value in field.values} <= {"user", "human"}), "")  # fmt: skip
    if bare:
        for leaf in ("content", "value"):
            if any(field.path == f"{bare}.{leaf}" for field in fields):
                evidence["problem_field"] = "the user's message of a bare conversation"
                return f"{bare}.{leaf}", False
    chats = [field for field in fields if is_chat(field)]
    asking = _with_fewest_blanks([field for field in fields if is_problem(field) and asks(field)])
    for candidates, chat in ((chats, True), (asking, False)):
        if len(candidates) == 1:
            evidence["problem_field"] = candidates[0].describe(
                "the only field of messages" if chat else "the only field that asks"
            )
            return _one_question(path, candidates[0]) if chat else candidates[0].path, chat
    raise _undecided(path, "problem", asking, fields)


def _find_questions(field: Field, fields: Sequence[Field]) -> list[Field]:
    """Of a field that seldom asks, the shorter ones called questions that nearly always do: it may be what they refer to."""
    if asks(field):
        return []
    return [
        other
        for other in fields
        if other.name.removesuffix("s") in ("question", "query", "problem")
        and other.length < field.length
        and sum(map(asking, other.passages)) >= NEARLY_ALL * len(other.values)
    ]


def _with_fewest_blanks(fields: Sequence[Field]) -> list[Field]:
    """Of fields that hold the same texts but for blanks, as segmented copies do, the one with the fewest."""
    by_text: dict[str, Field] = {}
    for field in sorted(fields, key=lambda field: sum(map(len, field.texts))):
        by_text.setdefault("".join("".join(field.texts).split()), field)
    return [field for field in fields if field in by_text.values()]


def _one_question(path: Path, field: Field) -> str:
    """The path of conversations in which the user speaks once.

    Raises:
        SourceError: the user speaks again in some: the last message may be the problem, after examples, or a mere follow-up.
    """
    if not has_follow_ups(field):
        return field.path
    raise SourceError(
        f"{path}: `{field.path}` holds conversations in which the user speaks more than once. Describe the file in "
        f"`collect.sources` of a parameter file (--params): `adapter: chat` takes the user's last message; `problem_field: "
        f"{field.path}.0.content` with `solution_field: {field.path}.1.content` takes the first one and the answer to it"
    )


def _with_context(field: Field, fields: Sequence[Field], evidence: dict[str, str]) -> str:
    """The path of a question, after that of the text beside it to which it refers."""
    folder = field.path.rpartition(".")[0]
    beside = [other for other in fields if other is not field and other.path.rpartition(".")[0] == folder]
    input_of_task = [other for other in beside if field.name == "instruction" and other.name == "input"]
    context = [other for other in beside if other.name in CONTEXT and field.name not in CONTEXT]
    joined = [
        other
        for other in (context or input_of_task)
        if len(other.passages) == len(other.values) and not is_picture(other) and not _repeats(field, other)
    ]
    if not joined:
        return field.path
    parts = [*joined, field] if context else [field, joined[0]]
    first, *others = parts
    described = [first.describe("a usual pair of fields"), *(other.describe("joined to it") for other in others)]
    evidence["problem_field"] = "; ".join(described)
    return ", ".join(part.path for part in parts)


def _repeats(field: Field, other: Field) -> bool:
    """Whether most texts of a field are already in another field's, so that joining would double them."""
    held = "\n".join(field.passages)
    return 2 * sum(text in held for text in other.passages) > len(other.passages)


def _gold(
    path: Path,
    every: Sequence[Field],
    taken: Set[str],
    talk: tuple[str, str],
    evidence: dict[str, str],
    rows: Sequence[Mapping[str, Any]],
) -> tuple[str, str]:
    """The paths of the gold and of the solution, each empty where there is none; `talk` is the assistant's message."""
    fields = [field for field in every if field.path not in taken]
    answer = _first(fields, ANSWER, lambda field: is_gold(field) and not why_no_golds(field))
    known = {field.path for field in fields if answer and field.name in SOLUTION and _repeats_gold(field, answer, rows)}
    solution = _first(fields, SOLUTION, is_solution, known)
    if not answer and not solution and not talk[0] and not _short_fields(fields):
        answer = _first(
            [field for field in fields if is_called_gold(field)], ANSWER, is_gold
        )  # `check_reading` names the doubt
    if answer and (not is_short(answer) or (not solution and marks_answers(answer, 0.5))):
        answer, solution = None, answer  # a row of these that marks no answer has no gold, rather than its whole text
    elif not answer and solution and (found := _agreeing(fields, solution, rows, evidence)):
        return found.path, solution.path
    elif not answer and solution and not marks_answers(solution, 0.1):
        is_answer = (
            solution.name == "solution" and is_short(solution) and solution in _short_fields(fields)
        )  # as published answers to equations are called
        if not is_answer and not _short_fields(fields, solution):
            raise SourceError(
                f"{path}: no field looks like a gold{_refused(fields)}, and fewer than a tenth of {len(solution.values)} solutions in `{solution.path}` mark their answers "
                '(in \\boxed{}, behind ####, or as "The answer is …" at the end). If another field holds golds, name it: --answer-field NAME, or '
                "`answer_field` in `collect.sources` of a parameter file (--params); else leave this file out"
            )
        answer, solution = (solution, None) if is_answer else (None, None)
    if answer:
        evidence["answer_field"] = answer.describe("a usual name, and short answers")
    if solution:
        evidence["solution_field"] = solution.describe("a usual name, and text of some length")
    elif not answer and talk[0]:
        evidence["solution_field"] = talk[1]
        return "", talk[0]
    if not answer and not solution:
        short = _short_fields(fields)
        if len(short) != 1:
            raise _undecided(path, "gold or solution", short, every)
        answer = short[0]
        evidence["answer_field"] = answer.describe("the only field of short values that change")
    return answer.path if answer else "", solution.path if solution else ""


def _repeats_gold(field: Field, answer: Field, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a field holds the golds once more, or is their field itself: as a solution it would settle conflicts."""
    pairs = [[reach(row, path) for path in (field.path, answer.path)] for row in rows]
    texts = [["".join(str(value).split()) for value in pair] for pair in pairs if MISSING not in pair]
    return bool(texts) and sum(one == two for one, two in texts) >= REPEATS * len(texts)


def _agreeing(
    fields: Sequence[Field], solution: Field, rows: Sequence[Mapping[str, Any]], evidence: dict[str, str]
) -> Field | None:
    """The field, whatever its name is, whose values mostly equal the answers that the solutions mark."""
    found = []
    for field in fields:
        if field is not solution and not is_about_rows(field) and not why_no_golds(field):
            same, compared = agreement(rows, field.path, solution.path)
            if compared >= FEWEST and same >= AGREES * compared:
                found.append(
                    (same / compared, f"{same} of {compared} values equal what `{solution.path}` marks", field)
                )
    if not found:
        return None
    _, because, best = max(found, key=lambda one: one[0])
    evidence["answer_field"] = best.describe(because)
    evidence["solution_field"] = solution.describe("a usual name, and text of some length")
    return best


def _short_fields(fields: Sequence[Field], besides: Field | None = None) -> list[Field]:
    """The fields whose values could be golds, whatever their names are: short values that change, or letters of choices."""
    could = (
        field
        for field in fields
        if is_gold(field)
        and (field.distinct > 0.4 or _are_letters(field))
        and not is_about_rows(field)
        and not why_no_golds(field)
        and not _is_prose(field)
    )
    return [field for field in could if field is not besides]


def _is_prose(field: Field) -> bool:
    """Whether most values are words that state no value, and mark no answer either."""
    prose = sum(
        answer_type(gold_answer(value)) == "text" and str(value).strip(" $").endswith((".", "。"))
        for value in field.values
    )
    return 2 * prose > len(field.values) and not marks_answers(field, 0.5)


def _are_letters(field: Field) -> bool:
    letters = sum(isinstance(value, str) and value.strip(" ().") in tuple(LETTERS) for value in field.values)
    return field.distinct * len(field.values) > 1 and letters >= 0.9 * len(field.values)


def _first(fields, names, holds, taken=frozenset()) -> Field | None:  # type: ignore[no-untyped-def]
    """The field of the most usual name whose values are right; of several the least nested."""
    found = [field for field in fields if field.name in names and field.path not in taken and holds(field)]
    return min(found, key=lambda field: (names.index(field.name), field.path.count(".")), default=None)


def _options(fields: Sequence[Field], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The path of the choices, or the paths of a column for each."""
    paths = dict.fromkeys(
        prefix
        for field in fields
        for depth in range(1, field.path.count(".") + 2)
        if plain_name((prefix := ".".join(field.path.split(".")[:depth])).rsplit(".", 1)[-1]) in OPTIONS
    )
    for path in paths:
        if any(choice_texts(reach(row, path)) for row in rows) and _may_be_choices(path, fields, rows):
            return [path]
    for field in fields:
        if is_choices(field) and not is_chat(field) and _name_choices(field.path, fields, rows):
            return [field.path]
    columns = {field.name: field.path for field in fields if "." not in field.path}
    for pattern in OPTION_COLUMNS:
        for letters in (LETTERS, "1234567890"):
            found = [columns[key] for letter in letters if (key := pattern.format(letter).lower()) in columns]
            if len(found) > 2:
                return found
    return []


def _may_be_choices(path: str, fields: Sequence[Field], rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a field holds choices by its name, or, where that also names other golds, because most golds are one of its values."""
    if plain_name(path.rsplit(".", 1)[-1]) not in ALTERNATIVES:
        return True
    answer = _first(fields, ANSWER, is_gold, {path})
    return answer is None or _name_choices(path, fields, rows)


def _name_choices(path: str, fields: Sequence[Field], rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether most golds are a letter, a position or a text of the choices at a path."""
    answer = _first(fields, ANSWER, is_gold, {path})
    named = 0
    for row in rows if answer else ():
        gold, texts = reach(row, answer.path), choice_texts(reach(row, path))
        text = gold_answer(gold).strip(" ().")
        index = type(gold) is int and 0 <= gold < len(texts)
        named += bool(text) and (
            index or text.upper() in LETTERS[: len(texts)] or any(f" {one}".endswith(f" {text}") for one in texts)
        )
    return 2 * named > len(rows)


def _first_index(rows: Sequence[Mapping[str, Any]], answer: str, options: Sequence[str]) -> int | None:
    """0 or 1 where the golds are positions among the choices, counted from there; None where they are not."""
    golds: set[int] = set()
    counts: list[tuple[int, int]] = []
    texts_of_golds = 0
    for row in rows:
        gold = position(reach(row, answer))
        texts = choice_texts([reach(row, path) for path in options] if len(options) > 1 else reach(row, options[0]))
        if gold is None or not 0 <= gold <= len(texts):
            return None
        golds.add(gold)
        counts.append((gold, len(texts)))
        texts_of_golds += any(text.rsplit(") ", 1)[-1].strip() == str(gold) for text in texts)
    if 2 * texts_of_golds > len(counts):
        return None  # the golds are choices' texts
    if 0 in golds:
        return 0 if all(gold < count for gold, count in counts) else None
    return 1 if any(gold == count for gold, count in counts) else None


def _assistant(problem: str, chat: bool, rows: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """The path of the assistant's answer in a conversation, and the evidence; empty without one."""
    bare = problem[:2] in ("0.", "1.")
    place = f"{int(problem[0]) + 1}" if bare else f"{problem}.-1"
    for row in rows if chat or bare else ():
        message = reach(row, place)
        role = message.get("role", message.get("from")) if isinstance(message, Mapping) else ""
        leaf = "content" if isinstance(message, Mapping) and "content" in message else "value"
        if role in ("assistant", "gpt", "model"):
            return f"{place}.{leaf}", "the assistant's message of the conversation"
    return "", ""


def _refused(fields: Sequence[Field]) -> str:
    """Why fields that are called golds are none, in brackets."""
    refused = [f"`{field.path}` {why}" for field in fields if field.name in ANSWER and (why := why_no_golds(field))]
    return f" ({'; '.join(refused)})" if refused else ""


def _undecided(path: Path, role: str, candidates: Sequence[Field], fields: Sequence[Field]) -> SourceError:
    """The error that shows what could be meant, each candidate with a value, and why fields of usual names are not it."""
    found = ", ".join(dict.fromkeys(field.path for field in fields[:20])) or "no fields"
    several = ", ".join(f"`{field.path}`, {shown(field)}" for field in candidates) if len(candidates) > 1 else ""
    what = f"several fields could be the {role} ({several})" if several else f"no field looks like a {role}"
    because = "" if several or role == "problem" else _refused(fields)
    return SourceError(
        f"{path}: {what}{because}; found: {found}. Name this file's fields in `collect.sources` of a parameter file "
        "(--params; `--write-params` writes one for the files that are clear)"
    )
