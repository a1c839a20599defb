"""The views of grade and evaluate: how many responses there are, how many are right so far, and the newest of them.

A stage's own scores are there when it has ended. Until then a part of the responses is scored here, so that a broken
prompt or grader shows within seconds: at most `SCORED` per model, a few at a time.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from compass.golds import golds
from compass.live.responses import LONGEST
from compass.page.blocks import Bars, Block, Note, Responses, Table, figures, format_number, format_share, response
from compass.report.printable import shorten
from compass.runs.growing_files import Remembered
from compass.runs.pipeline import Stage
from compass.sampling.response import NOT_SAMPLED, PROMPT_TOO_LONG, UNFINISHED
from compass.settings import Settings
from compass.verifier import Gold, Judgement, judge

SCORED = 300
"""Responses of a model that are scored here while its stage runs."""

AT_ONCE = 20
"""Responses scored per look at the page."""

NEWEST = 6
"""Responses shown."""

GOLDS = {"grade": Path("data/denoise/kept.parquet"), "evaluate": Path("data/collect/benchmarks.parquet")}


@dataclass
class Sampled:
    """A model's responses so far."""

    folder: Path
    touched: float
    finished: int = 0
    tokens: int = 0
    seconds: float = 0.0
    cut_off: int = 0
    too_long: int = 0
    newest: list[dict[str, Any]] = field(default_factory=list)


class SampledReader:
    """Reads the stores of sampled responses; a part that has been read is not read again."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._remembered = Remembered()
        self._judged: dict[tuple[Path, str, int, bool], Judgement] = {}
        self._judging = threading.Lock()

    def stores(self, stage: Stage) -> list[Sampled]:
        """The stores that the stage has opened in its last run, in the order of opening."""
        since = stage.progress.started - 1 if stage.progress else 0.0
        found = []
        for lock in (self.root / "work" / stage.name).glob("*/lock"):
            opened = lock.stat().st_mtime
            if opened >= since:
                found.append(self._read(lock.parent, opened))
        return sorted(found, key=lambda store: store.touched)

    def right(self, store: Sampled, stage: str) -> tuple[int, int]:
        """How many responses of a store were scored here, and how many of them are right."""
        scored = self._scored(store.folder)
        if self._judging.acquire(blocking=False):  # one look at a time does the scoring
            try:
                waiting = [row for row in store.newest if _key(store.folder, row) not in self._judged]
                if scored < SCORED and waiting:
                    self._judge(store.folder, waiting[:AT_ONCE], stage)
            finally:
                self._judging.release()
        judged = [one.equal for key, one in list(self._judged.items()) if key[0] == store.folder]
        return len(judged), sum(judged)

    def responses(self, store: Sampled, stage: str) -> Block:
        """The newest responses, with problem and gold, and the verdict where there is one."""
        rows = store.newest[-NEWEST:][::-1]
        known = self._problems(stage, [row["id"] for row in rows])
        problems = []
        for row in rows:
            problem, gold, about = known.get(row["id"], ("", "", ""))
            judged = self._judged.get(_key(store.folder, row))
            shown = response(
                "greedy" if row["greedy"] else f"sample {row['sample']}",
                shorten(row["response"] or "", LONGEST),
                right=judged.equal if judged else None,
                answer=judged.answer if judged else None,
                facts=[f"{row['tokens']:,} tokens", "cut off" if row["finish_reason"] == "length" else None],
            )
            about = " · ".join(filter(None, (about, row["id"])))
            problems.append(
                {"about": about, "problem": shorten(problem, LONGEST), "gold": str_gold(gold), "responses": [shown]}
            )
        return Responses("Newest responses", problems=problems)

    def _scored(self, folder: Path) -> int:
        return sum(key[0] == folder for key in list(self._judged))

    def _judge(self, folder: Path, rows: list[dict[str, Any]], stage: str) -> None:
        known = self._problems(stage, [row["id"] for row in rows])
        for row in rows:
            if row["id"] in known:
                problem, gold, _ = known[row["id"]]
                judged = judge(gold=gold, response=row["response"] or "", question=problem)
                self._judged[_key(folder, row)] = judged

    def _problems(self, stage: str, ids: list[str]) -> dict[str, tuple[str, str | Gold, str]]:
        """Problem, gold and source of some ids."""
        path = self.root / GOLDS[stage]

        def read() -> dict[str, tuple[str, str | Gold, str]]:
            columns = ["id", "source", "problem", "answer", "alternatives", "tolerance"]
            rows = pq.read_table(path, columns=columns, filters=[("id", "in", ids)])
            gold = golds(rows)
            texts = zip(*(rows.column(name).to_pylist() for name in ("id", "problem", "source")), strict=True)
            return {id_: (problem, gold[id_], source) for id_, problem, source in texts}

        if not ids or not path.exists():
            return {}
        return self._remembered.get("problems", (path,), read, *sorted(set(ids)))

    def _read(self, folder: Path, opened: float) -> Sampled:
        store = Sampled(folder, opened)
        parts = sorted(folder.glob("part-*.parquet"))
        for part in parts:
            try:
                counts, newest = self._remembered.get("part", (part,), lambda part=part: _part(part))
            except (OSError, pa.ArrowInvalid):  # merged with others just now: the next look finds those
                continue
            store.finished += counts["finished"]
            store.tokens += counts["tokens"]
            store.seconds += counts["seconds"]
            store.cut_off += counts["cut_off"]
            store.too_long += counts["too_long"]
            store.newest = (store.newest + newest)[-2 * AT_ONCE :]
        return store


def sampled_view(stage: Stage, reader: SampledReader, settings: Settings | None) -> list[Block]:
    """The blocks of grade or evaluate: what is there so far, or what the finished stage measured."""
    if stage.state == "finished":
        return _finished(reader.root, stage)
    stores = reader.stores(stage) if stage.progress else []
    if not stores:
        if stage.state == "running":
            return [Note("No response is there yet: the engine is starting.")]
        return [Note("This stage has not sampled here yet.", command=f"compass run {stage.name}")]
    names = _names(stage, settings, len(stores))
    counted = [reader.right(store, stage.name) for store in stores]
    now, (scored, right) = stores[-1], counted[-1]
    blocks: list[Block] = [
        figures(
            ("right so far", format_share(right / scored if scored else None), f"of {scored:,} responses scored here"),
            ("response length", format_number(now.tokens / now.finished if now.finished else None), "tokens, mean"),
            (
                "cut off",
                format_share(now.cut_off / now.finished if now.finished else None),
                "at the longest length allowed",
            ),
            (
                "throughput",
                format_number(now.tokens / now.seconds if now.seconds else None),
                "sampled tokens per second",
            ),
        )
    ]
    if stage.name == "evaluate":
        head = ["model", "responses", "right", "of those scored here", "tokens", "cut off"]
        rows = [
            [name, store.finished, right, scored, store.tokens, store.cut_off]
            for name, store, (scored, right) in zip(names, stores, counted, strict=True)
        ]
        blocks.append(Table(head, rows, "Models so far", "The stage scores all responses at its end."))
    return [*blocks, reader.responses(now, stage.name)]


def str_gold(gold: str | Gold) -> str:
    """A gold as text."""
    return gold if isinstance(gold, str) else gold.answer


def _names(stage: Stage, settings: Settings | None, count: int) -> list[str]:
    """The models of the stores: a stage samples them one after the other."""
    if stage.name == "grade":
        models = [settings.grade.model] if settings else []
    else:
        models = list(settings.evaluate.models or settings.models) if settings else []
    return [models[n] if n < len(models) else f"model {n + 1}" for n in range(count)]


def _key(folder: Path, row: Mapping[str, Any]) -> tuple[Path, str, int, bool]:
    return folder, row["key"], row["sample"], row["greedy"]


def _part(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Counts of a part's finished responses, and its last ones."""
    rows = pq.read_table(
        path, columns=["key", "id", "sample", "greedy", "tokens", "seconds", "finish_reason", "response"]
    )
    ended = rows.filter(pc.not_equal(rows.column("finish_reason"), UNFINISHED))
    reasons = ended.column("finish_reason")
    sampled = ended.filter(pc.invert(pc.is_in(reasons, pa.array(NOT_SAMPLED))))
    counts = {
        "finished": ended.num_rows,
        "tokens": pc.sum(ended.column("tokens")).as_py() or 0,
        "seconds": pc.sum(ended.column("seconds")).as_py() or 0.0,
        "cut_off": pc.sum(pc.equal(reasons, "length")).as_py() or 0,
        "too_long": pc.sum(pc.equal(reasons, PROMPT_TOO_LONG)).as_py() or 0,
    }
    return counts, sampled.slice(max(0, sampled.num_rows - AT_ONCE)).to_pylist()


def _finished(root: Path, stage: Stage) -> list[Block]:
    path = root / "metrics" / f"{stage.name}.json"
    try:
        measured = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return [Note(f"{path.name} cannot be read; run the stage again.", command=f"compass run {stage.name} --force")]
    return _scores(measured) if stage.name == "evaluate" else _grades(measured)


def _scores(measured: Mapping[str, Any]) -> list[Block]:
    models = measured.get("models") or {}
    benchmarks = list(dict.fromkeys(name for scored in models.values() for name in scored if name != "average"))
    shown = [name for name in ("average", *benchmarks) if any(name in scored for scored in models.values())]
    rows = [[model, *(_score(scored.get(name)) for name in shown)] for model, scored in models.items()]
    text = "Accuracy, with its 95% interval. The report compares models pair by pair."
    return [Table(["model", *shown], rows, "Scores", text)]


def _score(score: Mapping[str, Any] | None) -> str:
    if not score or score.get("accuracy") is None:
        return "–"
    low, high = score.get("ci95") or (None, None)
    between = "" if low is None else f" ({100 * low:.0f}–{100 * high:.0f})"
    return f"{format_share(score['accuracy'])}{between}"


def _grades(measured: Mapping[str, Any]) -> list[Block]:
    facts = measured.get("metrics") or {}
    levels = facts.get("levels") or {}
    items = [
        [f"level {level}", one["problems"], f"{one['problems']:,} problems, {format_share(one['solve_rate'])} solved"]
        for level, one in levels.items()
    ]
    return [
        figures(
            ("solve rate", format_share(facts.get("solve_rate")), f"mean of {facts.get('graded', 0):,} problems"),
            ("never solved", format_number(facts.get("never_solved")), "problems"),
            ("always solved", format_number(facts.get("always_solved")), "problems"),
            ("response length", format_number(facts.get("tokens")), "tokens, mean"),
        ),
        Bars("Problems by level", items),
    ]
