"""Grade problems: sample rollouts, score them, fill in solve rate and level 1 (easy) to 5 (hard).

A solve rate is the share of a problem's samples that are right (report, section 4.2); `compass.grading.levels` makes levels of them.

Not every problem is sent to the grader: none whose gold the verifier cannot read, for no response would be right, and with
`doubtful: drop` none that curation doubts. With `stop_when_certain` a problem has no more rollouts than its level needs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any

import pyarrow as pa

from compass.evaluation.accuracy import accuracy_interval
from compass.golds import golds
from compass.grading.levels import LOOK, SolveRate, assign_levels, level_probability
from compass.parallel import in_processes
from compass.records import RecordError, with_column
from compass.sampling.engines import choose_engine, find_source
from compass.sampling.response import FAILED, PROMPT_TOO_LONG, RESPONSES
from compass.sampling.resume import ON_EVERY_GPU, stream_responses
from compass.sampling.score import SCORES, score_responses
from compass.seeded_draw import draw
from compass.settings import Engines, Grade
from compass.verifier import Gold, answer_type, verify_many

COLUMNS = ("id", "sample", "answer", "correct", "boxed", "leniencies", "tokens", "finish_reason", "response")
ROLLOUTS = pa.schema([field for name in COLUMNS for field in (*RESPONSES, *SCORES) if field.name == name])
"""Columns of `data/grade/rollouts.parquet`, one row per rollout."""

FEW = 2_000
"""Fewer rollouts than this are scored before other processes could start."""


class Tally:
    """What levels and metrics need of rollouts, counted table by table."""

    def __init__(self) -> None:
        self._counts: dict[str, list[int]] = {}
        self._leaned: Counter[str] = Counter()
        self._unanswered = 0
        self.too_long: set[str] = set()
        """Problems whose prompt was too long to sample: they have no solve rate."""
        self.failed: set[str] = set()
        """Problems that ended one engine after the other: they have no solve rate either."""

    def add(self, rollouts: pa.Table | pa.RecordBatch) -> None:
        """Count rollouts: columns `id`, `correct`, `tokens`, `finish_reason`, `answer` and `leniencies`."""
        names = ("id", "correct", "tokens", "finish_reason", "answer", "leniencies")
        columns = (rollouts.column(name).to_pylist() for name in names)
        for name, correct, tokens, reason, answer, leniencies in zip(*columns, strict=True):
            if reason == PROMPT_TOO_LONG:
                self.too_long.add(name)
                continue
            if reason == FAILED:
                self.failed.add(name)
                continue
            count = self._counts.setdefault(name, [0, 0, 0])
            count[0] += 1
            count[1] += correct
            count[2] += tokens
            self._unanswered += answer is None
            if correct:
                self._leaned.update(rule for rule in leniencies.split(",") if rule)

    def uncertain(self, names: Iterable[str], settings: Grade) -> list[str]:
        """Those of some problems whose level is not as certain yet as `stop_when_certain` asks; none without a response."""
        known = {name: self._counts[name] for name in names if name in self._counts and not self._is_left_out(name)}
        return [
            name
            for name, (n, right, _) in known.items()
            if level_probability(right, n, settings.thresholds) < settings.stop_when_certain
        ]

    def solve_rates(self) -> dict[str, SolveRate]:
        """Solve rate by problem id."""
        return {
            name: SolveRate(n, right / n, tokens / n)
            for name, (n, right, tokens) in self._counts.items()
            if not self._is_left_out(name)
        }

    def _is_left_out(self, name: str) -> bool:
        return name in self.failed or name in self.too_long

    def shares(self) -> dict[str, Any]:
        """The share of rollouts that give no answer (`unanswered`), and of the right ones the share that leans on each leniency (`leaned`)."""
        rollouts = sum(count[0] for count in self._counts.values())
        right = sum(count[1] for count in self._counts.values())
        return {
            "unanswered": self._unanswered / rollouts if rollouts else None,
            "leaned": {name: self._leaned[name] / right for name in sorted(self._leaned)},
        }


def choose_problems(records: pa.Table, settings: Grade, *, seed: int) -> list[str]:
    """The ids of the problems that are sent to the grader, in the records' order.

    Args:
        records: `RECORD` rows; those of `settings.sources` are sent, and of them with `settings.max_problems` a seeded draw.
        settings: the section `grade`.
        seed: the run's seed.

    Raises:
        RecordError: two records with one id, or a source without a row.
    """
    names = records.column("id").to_pylist()
    if len(set(names)) != len(names):
        raise RecordError(f"grade: {len(names)} records have {len(set(names))} distinct ids; run collect again")
    columns = (records.column(name).to_pylist() for name in ("answer", "alternatives", "findings"))
    rows = [(answer or "", more or [], found) for answer, more, found in zip(*columns, strict=True)]
    asked = set(_asked_for(records, settings))
    readable = _readable({gold for answer, more, _ in rows for gold in (answer, *more)})
    fit = [
        name
        for name, (answer, more, found) in zip(names, rows, strict=True)
        if name in asked and readable.intersection((answer, *more)) and not (found and settings.doubtful == "drop")
    ]
    drawn = set(draw(fit, settings.max_problems, f"{seed}\0draw"))
    return [name for name in fit if name in drawn]


def _readable(answers: Iterable[str]) -> set[str]:
    """Those golds that the verifier reads and finds equal to themselves."""
    known = [answer for answer in answers if answer_type(answer) != "unrecognised"]
    verdicts = verify_many([(answer, answer) for answer in known])
    return {answer for answer, verdict in zip(known, verdicts, strict=True) if verdict.equal}


def sample_rollouts(
    records: pa.Table,
    chosen: Sequence[str],
    settings: Grade,
    tally: Tally,
    *,
    seed: int,
    work: str | Path,
    engines: Engines = ON_EVERY_GPU,
) -> Iterator[pa.Table]:
    """Sample the rollouts of the chosen problems; finished problems are scored in other processes while others are sampled.

    Args:
        records: `RECORD` rows.
        chosen: the ids of the problems that are graded.
        settings: the grader and how it samples.
        tally: counts what is yielded. With `stop_when_certain` it says after every `LOOK` rollouts which problems need more.
        seed: the run's seed.
        work: folder of resumable work.
        engines: on what they are sampled.

    Yields:
        Tables of `ROLLOUTS`, in the records' order; with `stop_when_certain` so for every `LOOK` rollouts.

    Raises:
        SamplingError: the grader cannot be used.
    """
    problems = dict(zip(*(records.column(name).to_pylist() for name in ("id", "problem")), strict=True))
    right = golds(records)
    model = find_source(settings.model, settings.revision, engines)
    look = LOOK if settings.stop_when_certain else settings.rollouts
    with ExitStack() as stack:
        opened: list[Any] = []

        def open_once(model: Any, sampling: Any) -> Any:
            if not opened:
                opened.append(stack.enter_context(choose_engine(model, sampling, engines)))
            return nullcontext(opened[0])

        for first in range(0, settings.rollouts, look):
            pieces = stream_responses(
                {name: problems[name] for name in chosen},
                model=model,
                sampling=settings.sampling,
                n=min(look, settings.rollouts - first),
                first=first,
                seed=seed,
                folder=work,
                what="rollouts" if look == settings.rollouts else f"rollouts from {first + 1} on",
                open_engine=open_once,
            )
            work_items = ((piece, *_about(piece, right, problems)) for piece in pieces)
            workers = 1 if len(chosen) * look < FEW else 0
            for rollouts in in_processes(_start_scoring, work_items, workers):
                tally.add(rollouts)
                yield rollouts
            chosen = tally.uncertain(chosen, settings)


def _asked_for(records: pa.Table, settings: Grade) -> list[str]:
    """Ids of the rows of `settings.sources`; of all where it names none."""
    ids, sources = records.column("id").to_pylist(), records.column("source").to_pylist()
    if missing := sorted(set(settings.sources) - set(sources)):
        raise RecordError(
            f"grade.sources: no kept row comes from {missing[0]!r}; there are {', '.join(sorted(set(sources))) or 'none'}"
        )
    return [
        name for name, source in zip(ids, sources, strict=True) if not settings.sources or source in settings.sources
    ]


def _about(
    piece: pa.Table, right: Mapping[str, str | Gold], problems: Mapping[str, str]
) -> tuple[dict[str, str | Gold], dict[str, str]]:
    """Golds and texts of a piece's problems, which go to its worker with it."""
    ids = piece.column("id").unique().to_pylist()
    return {name: right[name] for name in ids}, {name: problems[name] for name in ids}


def _start_scoring() -> Callable[[tuple[pa.Table, dict, dict]], pa.Table]:
    return _score_piece


def _score_piece(item: tuple[pa.Table, dict[str, str | Gold], dict[str, str]]) -> pa.Table:
    return score_responses(*item, processes=1).select(ROLLOUTS.names)


def fill_levels(records: pa.Table, tally: Tally, settings: Grade) -> tuple[pa.Table, dict[str, Any]]:
    """Records with `n_rollouts`, `solve_rate` and `level`; null for problems that were not graded.

    Returns:
        The records, and what was measured: problems graded, not sent, too long to sample or failed, the mean solve rate with its interval,
        how many problems nobody or everybody solved, rollouts in all and the share that certain levels saved, each level's size and mean
        solve rate, the mean response length in tokens, the share of rollouts that give no answer, and of the right rollouts the share that
        leans on each leniency.
    """
    rates = tally.solve_rates()
    ids = records.column("id").to_pylist()
    level = assign_levels(rates, settings, dict(zip(ids, records.column("solution").to_pylist(), strict=True)))
    columns = {
        "n_rollouts": [rates[name].rollouts if name in rates else None for name in ids],
        "solve_rate": [rates[name].rate if name in rates else None for name in ids],
        "level": [level.get(name) for name in ids],
    }
    for name, values in columns.items():
        records = with_column(records, name, values)
    without = {"prompt_too_long": len(tally.too_long), "failed": len(tally.failed - tally.too_long)}
    measured = _measured(rates, level, not_sent=len(ids) - len(rates) - sum(without.values()), **without)
    if unlevelled := len(rates) - len(level):
        measured["without_level"] = unlevelled
    sampled, most = sum(rate.rollouts for rate in rates.values()), len(rates) * settings.rollouts
    return records, measured | {"rollouts": sampled, "saved": 1 - sampled / most if most else 0.0} | tally.shares()


def _mean(numbers: Iterable[float]) -> float:
    found = list(numbers)
    return sum(found) / len(found)


def _measured(rates: dict[str, Any], level: dict[str, int], **without: int) -> dict[str, Any]:
    sizes = Counter(level.values())
    solved = [rate.rate for rate in rates.values()]
    return {
        "graded": len(rates),
        **without,
        "solve_rate": sum(solved) / len(solved) if solved else None,
        "solve_rate_ci95": accuracy_interval(solved, _mean(rate.rollouts for rate in rates.values()))
        if solved
        else None,
        "never_solved": sum(rate == 0 for rate in solved),
        "always_solved": sum(rate == 1 for rate in solved),
        "tokens": _mean(rate.mean_tokens for rate in rates.values()) if rates else None,
        "levels": {
            str(number): {
                "problems": sizes[number],
                "solve_rate": sum(rates[name].rate for name in level if level[name] == number) / sizes[number],
            }
            for number in sorted(sizes)
        },
    }
