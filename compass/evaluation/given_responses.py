"""Responses made elsewhere, read from a file of any field names and scored by the project's verifier."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from compass.errors import UserError
from compass.evaluation.accuracy import mean
from compass.evaluation.benchmark_scores import scores_at_k
from compass.evaluation.label_files import text_digest
from compass.evaluation.other_readers import READERS, Verdict
from compass.loops import ends_in_loop
from compass.parallel import in_processes
from compass.sampling.score import OUTCOMES, outcome
from compass.sources.adapters import MISSING, reach
from compass.sources.gold import gold_answer, is_placeholder
from compass.sources.read import Row, data_files, file_rows
from compass.verifier import Judgement, Mode, judge_many, warm
from compass.verifier.extract import ENDS_INSIDE, UNANSWERED

CHUNK = 64
"""Rows that a process judges at once."""

FEW = 16
"""Chunks up to which one process is faster than starting several."""

READ = ("strict", "lenient")
"""Modes whose outcomes and evidence are counted."""

EACH = "[]"
"""In a field's name: what follows is taken from every element of the list before it."""


class ResponsesError(UserError):
    """A file of responses that cannot be scored; the message names the file, the field and what was found."""


@dataclass(frozen=True)
class Fields:
    """Where a row holds what; dotted paths reach into objects and lists, `choices[].text` into every element of a list."""

    response: str
    gold: str
    problem: str | None = None
    id: str | None = None


class Given(NamedTuple):
    """One row: a problem with its responses; None is a response that is null or missing."""

    row: int
    id: str
    gold: str
    problem: str | None
    responses: list[str | None]

    @property
    def problem_key(self) -> tuple[str, str]:
        """What rows of one problem have in common: id and gold."""
        return self.id, self.gold


class Judged(NamedTuple):
    """A response's judgement in each mode; an answer is None where the response gives none."""

    strict: Judgement
    lenient: Judgement
    any: Judgement


def read_given(
    responses: Path | Sequence[Row], fields: Fields, golds: Mapping[str, Row] | None = None
) -> Iterator[Given]:
    """The rows of a file, or of a list; a row without a gold has the gold "", as has one whose gold stands for none ("N/A").

    Rows are one problem where `fields.id` has the same value, or, without it, `fields.problem` and the gold, whose id is a digest of the problem (with
    `-2`, `-3`, … for further golds); else each row is its own, and its id is its number.
    With `golds`, of `read_golds`, the gold is that of the row of the same id there, whatever a row itself holds, and so is the problem where that row has
    one; a row whose id is not there has no gold.

    Raises:
        SourceError: the file cannot be read.
        ResponsesError: it holds no row, its first row lacks a field, or one id has two golds.
    """
    number = -1
    first: dict[str, tuple[str, int]] = {}
    numbers: dict[str, dict[str, int]] = {}
    path = responses if isinstance(responses, Path) else Path("responses")  # what messages name
    for number, row in _rows(responses):
        known = row if golds is None else golds.get(str(_reach(row, fields.id or "")))
        asked = fields if known is not None else replace(fields, problem=None)
        known = {fields.gold: None} if known is None else known
        if number == 0:
            _check(row, known, asked, path)
        given = _given(number, row, known, asked, path)
        if fields.id and given.gold:
            _check_gold(given, first.setdefault(given.id, (given.gold, number)), fields, path)
        elif given.gold and given.problem is not None:
            own = numbers.setdefault(given.id, {})
            place = own.setdefault(given.gold, len(own) + 1)
            given = given._replace(id=f"{given.id}-{place}" if place > 1 else given.id)
        yield given
    if number < 0:
        raise ResponsesError(f"{path}: holds no row")


def _rows(given: Path | Sequence[Row]) -> Iterator[tuple[int, Row]]:
    """Numbered rows of a file, or of a list."""
    if isinstance(given, Path):
        yield from chain.from_iterable(map(file_rows, data_files(given)))
    else:
        yield from enumerate(given)


def read_golds(golds: Path | Sequence[Row], fields: Fields) -> dict[str, Row]:
    """The rows of a file, or of a list, of golds by their id.

    Raises:
        ResponsesError: ids are not named, a row has none, one comes twice, or the golds are not there.
    """
    path = golds if isinstance(golds, Path) else Path("golds")
    if fields.id is None:
        raise ResponsesError(
            f"{path}: golds of their own are found by an id; name the field that both have: --id-field NAME"
        )
    found: dict[str, Row] = {}
    for number, row in _rows(golds):
        for name in (fields.id, fields.gold):
            if _reach(row, name) is MISSING:
                raise ResponsesError(
                    f"{path}: row {number} has no field {name!r}; it has {', '.join(field_names(row))}"
                )
        key = _read_id(row, fields.id, f"{path}: row {number}")
        if key in found:
            raise ResponsesError(
                f"{path}: row {number}: {fields.id!r} is {key[:40]!r} a second time; golds need one row per id"
            )
        found[key] = row
    return found


def _check_gold(given: Given, first: tuple[str, int], fields: Fields, path: Path) -> None:
    """Ids that start anew, at each benchmark of a joined file say, would make one problem of several."""
    gold, number = first
    if given.gold != gold:
        raise ResponsesError(
            f"{path}: row {given.row}: {fields.id!r} is {given.id[:40]!r}, as in row {number}, but the gold is {given.gold[:40]!r} and "
            f"there {gold[:40]!r}; rows with one id are samples of one problem: name a field that tells problems apart, or correct the golds"
        )


def _check(row: Row, known: Row, fields: Fields, path: Path) -> None:
    """Refuse a first row that lacks a field; `known` is the row that holds the gold."""
    above = fields.response.rpartition(EACH)[0]
    if above and fields.gold.startswith(above + EACH):
        raise ResponsesError(
            f"{path}: {fields.response!r} and {fields.gold!r} both go through the list {above!r}, so that its elements are the rows; "
            f"write each as a row of its own, for example with `jq -c '.{above}[]'`"
        )
    for name, places in (
        (fields.response, [row]),
        (fields.gold, [known]),
        (fields.problem, [known, row]),
        (fields.id, [row]),
    ):
        if name is not None and all(_reach(place, name) is MISSING for place in places):
            has = ", ".join(field_names(places[-1]))
            raise ResponsesError(f"{path}: the first row has no field {name!r}; it has {has}")


def field_names(row: Row, above: str = "") -> list[str]:
    """The fields of a row as they are written for `--response-field`, nested ones too."""
    names = []
    for name, value in row.items():
        if isinstance(value, dict) and value:
            names += field_names(value, f"{above}{name}.")
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            names += field_names(value[0], f"{above}{name}{EACH}.")
        else:
            names.append(f"{above}{name}")
    return names


def _given(number: int, row: Row, known: Row, fields: Fields, path: Path) -> Given:
    """A row with the gold of the row `known`, and the problem of that row where it has one."""
    where = f"{path}: row {number}"
    gold = _reach(known, fields.gold)
    problem = None
    if fields.problem and (problem := _reach(known, fields.problem)) is MISSING:
        problem = _reach(row, fields.problem)
    if problem is not None and not isinstance(problem, str):
        raise ResponsesError(f"{where}: {fields.problem!r} holds {_kind(problem)}; a problem is text")
    name = str(number) if problem is None else text_digest(problem)
    name = _read_id(row, fields.id, where) if fields.id else name
    responses = _reach(row, fields.response)
    responses = responses if isinstance(responses, list) else [responses]
    texts = [None if text is MISSING or text != text else text for text in responses]  # a table's NaN is no response
    for text in texts:
        if text is not None and not isinstance(text, str):
            raise ResponsesError(
                f"{where}: {fields.response!r} holds {_kind(text)}; a response is text, or a list of texts. "
                f"The fields are {', '.join(field_names(row))}"
            )
    answer = "" if gold is MISSING else gold_answer(gold)
    return Given(number, name, "" if is_placeholder(answer, problem or "") else answer, problem, texts)


def _read_id(row: Row, field: str, where: str) -> str:
    """The id of a row, which `where` names in an error."""
    name = _reach(row, field)
    if name in (MISSING, None, "") or isinstance(name, list | dict) or name != name:  # a table's NaN is no id
        raise ResponsesError(f"{where}: {field!r} holds {_kind(name)}; an id is text or a number")
    return str(name)


def _reach(row: Any, path: str) -> Any:
    head, each, tail = path.partition(EACH)
    if not each:
        return reach(row, path)
    found = reach(row, head) if head else row
    if not isinstance(found, list):
        return MISSING
    return [_reach(element, tail.removeprefix(".")) if tail else element for element in found]


def _kind(value: Any) -> str:
    return "nothing" if value is MISSING or value is None else f"{type(value).__name__} {str(value)[:40]!r}"


def judge_given(rows: Iterable[Given]) -> Iterator[tuple[Given, list[Judged]]]:
    """Every row with the judgements of its responses, in order, judged on all cores; rows without a gold have none."""
    remaining = iter(rows)
    chunks = iter(lambda: list(islice(remaining, CHUNK)), [])
    first = list(islice(chunks, FEW + 1))
    workers = 1 if len(first) <= FEW else 0
    for chunk, judged in in_processes(_judge_of_chunk, chain(first, chunks), workers):
        yield from zip(chunk, judged, strict=True)


def _judge_of_chunk() -> Callable[[list[Given]], tuple[list[Given], list[list[Judged]]]]:
    warm(wait=False)
    return _judge_chunk


def _judge_chunk(rows: list[Given]) -> tuple[list[Given], list[list[Judged]]]:
    asked = [(row.gold, text or "", row.problem) for row in rows if row.gold for text in row.responses]
    pairs = [(gold, text) for gold, text, _ in asked]
    questions = [problem for *_, problem in asked]
    judged = iter(map(Judged, *(judge_many(pairs, 1, questions=questions, mode=mode) for mode in Mode)))
    return rows, [list(islice(judged, len(row.responses))) if row.gold else [] for row in rows]


@dataclass
class Tally:
    """What is left of scored rows: marks and answers per problem, and counts."""

    counts: Counter[str] = field(default_factory=Counter)
    outcomes: dict[str, Counter[str]] = field(default_factory=lambda: {mode: Counter() for mode in READ})
    evidence: dict[str, Counter[str]] = field(default_factory=lambda: {mode: Counter() for mode in READ})
    problems: dict[tuple[str, str], list[tuple[str | None, bool, bool, bool]]] = field(default_factory=dict)
    examples: list[str] = field(default_factory=list)

    def add(self, row: Given, judged: list[Judged]) -> None:
        """Count a row and its judgements."""
        self.counts["rows"] += 1
        if not row.gold:
            self.counts["without_gold"] += 1
            return
        self.counts["empty_responses"] += sum(not (text or "").strip() for text in row.responses)
        if not judged:
            self.counts["without_response"] += 1
            return
        marks = self.problems.setdefault(row.problem_key, [])
        for (strict, lenient, anyhow), response in zip(judged, row.responses, strict=True):
            marks.append((strict.answer, strict.equal, lenient.equal, anyhow.equal))
            for mode, one in (("strict", strict), ("lenient", lenient)):
                self.outcomes[mode][outcome(one)] += 1
                self.evidence[mode][one.evidence] += 1
            self.counts["unextracted"] += strict.answer is None and lenient.answer is not None
            missed = is_gold_unread(row.gold, lenient, anyhow, response or "")
            self.counts["gold_unread"] += missed
            if (missed or lenient.answer is None) and len(self.examples) < SHOWN:
                end = " ".join((response or "").split())[-SHOWN_CHARACTERS:]
                self.examples.append(f"row {row.row}, {lenient.evidence}, gold {row.gold[:40]}: …{end}")

    def scores(self) -> dict[str, Any]:
        """What `compass score` prints; docs/reference/evaluation.md says what each name means.

        Raises:
            ResponsesError: no row could be judged.
        """
        if not self.problems:
            raise ResponsesError(
                f"none of {self.counts['rows']} rows has a gold and a response: {self.counts['without_gold']} have no gold"
            )
        from compass.evaluation.accuracy import accuracy_interval, accuracy_sd, fixed_interval

        groups = list(self.problems.values())
        sizes = [len(group) for group in groups]
        fewest, average = min(sizes), mean(sizes)
        strict, lenient, anyhow = ([mean([one[at] for one in group]) for group in groups] for at in (1, 2, 3))
        by_samples, by_problems = accuracy_sd(strict, sizes)
        found: dict[str, Any] = {
            "mode": "strict",
            "accuracy": mean(strict),
            "ci95": list(accuracy_interval(strict, average)),
            "lenient": mean(lenient),
            "lenient_ci95": list(accuracy_interval(lenient, average)),
            "any": mean(anyhow),
            "any_ci95": list(accuracy_interval(anyhow, average)),
            "sd": {"samples": by_samples, "problems": by_problems},
            "problems": len(groups),
            "responses": sum(sizes),
            "samples": [fewest, max(sizes)],
        }
        if fewest > 1:  # one response each may be greedy, which no further sample would change
            found["fixed_ci95"] = list(fixed_interval(strict, sizes))
        answers, marks = ({name: [one[at] for one in own] for name, own in self.problems.items()} for at in (0, 1))
        found |= scores_at_k(marks, answers, None)
        counts = ("unextracted", "gold_unread", "rows", "without_gold", "without_response", "empty_responses")
        outcomes = {mode: {name: self.outcomes[mode][name] for name in OUTCOMES} for mode in READ}
        evidence = {mode: dict(sorted(self.evidence[mode].items())) for mode in READ}
        return found | {"outcomes": outcomes, "evidence": evidence} | {name: self.counts[name] for name in counts}

    def warnings(self) -> list[str]:
        """What a reader of the scores has to know about the reading of the answers, with examples; empty where all is well."""
        evidence = self.evidence["lenient"]
        responses = sum(evidence.values())
        none = sum(evidence[reason] for reason in UNANSWERED)
        unread = self.outcomes["strict"]["unrecognised"]
        said = [
            f"{count:,} of {responses:,} responses ({count / responses:.0%}) {what}"
            for count, share, what in (
                (none, MOST_UNANSWERED, "give no answer that the lenient mode finds"),
                (unread, MOST_UNANSWERED, "give an answer (in the strict mode) that the verifier cannot read"),
                (
                    self.counts["gold_unread"],
                    MOST_UNREAD,
                    "are not right, though the gold stands near their end: its form may not be read",
                ),
            )
            if responses and count > share * responses
        ]
        if not said:
            return []
        reasons = ", ".join(f"{reason} {evidence[reason]:,}" for reason in UNANSWERED if evidence[reason])
        reading = f"no answer in the lenient mode: {reasons}" if reasons else ""
        look = "look at one: compass verify GOLD RESPONSE --response; at all: --verdicts FILE"
        return [*said, *filter(None, [reading]), *self.examples, look]


MOST_UNANSWERED, MOST_UNREAD = 0.2, 0.05
"""Shares of responses above which `Tally.warnings` speaks."""

SHOWN, SHOWN_CHARACTERS = 5, 160
"""Examples in a warning, and characters of each response's end."""

LAST_CHARACTERS = 300


def is_gold_unread(gold: str, lenient: Judgement, anyhow: Judgement, response: str) -> bool:
    """Whether no right answer was read in a response that has the gold near its end, or in which `Mode.ANY` reads it.

    One that is cut off or ends in a loop gives no answer that could have been missed, whatever stands near its end.
    """
    if lenient.equal or lenient.evidence == ENDS_INSIDE:
        return False
    return (anyhow.equal or ends_with_gold(gold, lenient, response)) and not ends_in_loop(response)


def ends_with_gold(gold: str, lenient: Judgement, response: str) -> bool:
    """Whether a response of which no answer could be read has the gold's text, letter by letter, near its end; not inside a longer word or
    number."""
    text = gold.strip().strip("$").strip()
    if not text or (lenient.answer is not None and lenient.verdict.outcome != "unrecognised"):
        return False
    return re.search(rf"(?<![\w.]){re.escape(text)}(?![\w]|\.\d)", response[-LAST_CHARACTERS:]) is not None


def score_by_readers(rows: Iterable[Given], names: Sequence[str]) -> dict[str, dict[str, float | int]]:
    """Each reader's accuracy over all responses (each problem counts alike) and the responses in which it finds no answer."""
    problems: dict[tuple[str, str], list[list[Verdict]]] = {}
    asked = (row for row in rows if row.gold and row.responses)
    chunks = iter(lambda: list(islice(asked, CHUNK)), [])
    for chunk, graded in in_processes(partial(_grader, tuple(names)), chunks, 0):
        for row, verdicts in zip(chunk, graded, strict=True):
            problems.setdefault(row.problem_key, []).extend(verdicts)
    found = {}
    for place, name in enumerate(names):
        given = [[verdicts[place] for verdicts in responses] for responses in problems.values()]
        accuracy = mean([mean(list(map(bool, own))) for own in given]) if given else 0.0
        found[name] = {"accuracy": accuracy, "none": sum(own.count(None) for own in given)}
    return found


def _grader(names: tuple[str, ...]) -> Callable[[list[Given]], tuple[list[Given], list[list[list[Verdict]]]]]:
    """A function that gives each response's verdicts, in the order of the readers' names."""

    def grade(rows: list[Given]) -> tuple[list[Given], list[list[list[Verdict]]]]:
        return rows, [
            [[READERS[name].grade(row.gold, text or "") for name in names] for text in row.responses] for row in rows
        ]

    return grade
