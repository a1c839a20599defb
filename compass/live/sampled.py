"""The views of grade and evaluate: how many responses there are, how many are right so far, and the newest of them.

A stage's own scores are there when it has ended. Until then a part of the responses is scored here, so that a broken
prompt or grader shows within seconds: at most `SCORED` per model, a few at a time.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from compass.golds import golds
from compass.live.counts import counts_view
from compass.live.file_cache import cached_by_files
from compass.live.responses import LONGEST
from compass.page.blocks import Block, Note, Responses, Table, figures, format_number, format_share, response
from compass.prompts.registry import find_prompt
from compass.report.printable import shorten
from compass.runs.pipeline import Stage
from compass.sampling.model_source import find_known_digest
from compass.sampling.response import CUT_OFF, NOT_SAMPLED, UNFINISHED
from compass.sampling.resume import DIGESTS
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
    opened: float
    counts: Counter[str] = field(default_factory=Counter)
    """`finished` responses, their `tokens` and `seconds`, and how many are `cut_off`."""
    newest: list[dict[str, Any]] = field(default_factory=list)


def find_stores(root: Path, stage: Stage) -> list[Sampled]:
    """The stores of responses that a stage has opened in its last run, in the order of opening."""
    since = stage.progress.started - 1 if stage.progress else 0.0
    found = [(lock.parent, lock.stat().st_mtime) for lock in (root / "work" / stage.name).glob("*/lock")]
    stores = [_read_store(folder, opened) for folder, opened in found if opened >= since]
    return sorted(stores, key=lambda store: store.opened)


def _read_store(folder: Path, opened: float) -> Sampled:
    store = Sampled(folder, opened)
    for part in sorted(folder.glob("part-*.parquet")):
        try:
            counts, newest = _read_part(part)
        except (OSError, pa.ArrowInvalid):  # merged with others just now: the next look finds those
            continue
        store.counts.update(counts)
        store.newest = (store.newest + newest)[-2 * AT_ONCE :]
    return store


class Scorer:
    """Scores a part of the responses that a running stage has sampled, some more at every look, each once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._judged: dict[Path, dict[tuple[Any, ...], Judgement]] = {}
        self._judging = threading.Lock()

    def count_right(self, store: Sampled, stage: str) -> tuple[int, int]:
        """How many responses of a store were scored here, and how many of them are right; scores some more."""
        with self._judging:
            judged = self._judged.setdefault(store.folder, {})
            waiting = [row for row in store.newest if _key(row) not in judged] if len(judged) < SCORED else []
            newest = waiting[-AT_ONCE:]
            known = _read_problems(self.root / GOLDS[stage], tuple(row["id"] for row in newest))
            for row in newest:
                if row["id"] in known:
                    problem, gold, _ = known[row["id"]]
                    judged[_key(row)] = judge(gold=gold, response=row["response"] or "", question=problem)
            return len(judged), sum(one.equal for one in judged.values())

    def show_responses(self, store: Sampled, stage: str) -> Block:
        """The newest responses, with problem and gold, and the verdict where there is one."""
        rows = store.newest[-NEWEST:][::-1]
        known = _read_problems(self.root / GOLDS[stage], tuple(row["id"] for row in rows))
        problems = []
        for row in rows:
            problem, gold, about = known.get(row["id"], ("", "", ""))
            judged = self._judged.get(store.folder, {}).get(_key(row))
            shown = response(
                "greedy" if row["greedy"] else f"sample {row['sample']}",
                shorten(row["response"] or "", LONGEST),
                right=judged.equal if judged else None,
                answer=judged.answer if judged else None,
                facts=[f"{row['tokens']:,} tokens", "cut off" if row["finish_reason"] == CUT_OFF else None],
            )
            about = " · ".join(filter(None, (about, row["id"])))
            answer = gold if isinstance(gold, str) else gold.answer
            problems.append(
                {"about": about, "problem": shorten(problem, LONGEST), "gold": answer, "responses": [shown]}
            )
        return Responses("Newest responses", problems=problems)


@cached_by_files
def _read_problems(path: Path, ids: tuple[str, ...]) -> dict[str, tuple[str, str | Gold, str]]:
    """Problem, gold and source of some ids."""
    if not ids or not path.exists():
        return {}
    columns = ["id", "source", "problem", "answer", "alternatives", "tolerance"]
    rows = pq.read_table(path, columns=columns, filters=[("id", "in", ids)])
    gold = golds(rows)
    texts = zip(*(rows.column(name).to_pylist() for name in ("id", "problem", "source")), strict=True)
    return {id_: (problem, gold[id_], source) for id_, problem, source in texts}


def sampled_view(stage: Stage, scorer: Scorer, settings: Settings | None) -> list[Block]:
    """The blocks of grade or evaluate: what is there so far, or what the finished stage measured."""
    if stage.state == "finished":
        return counts_view(scorer.root, stage)
    stores = find_stores(scorer.root, stage) if stage.progress else []
    if not stores:
        if stage.state == "running":
            return [Note("No response is there yet: the engine is starting.")]
        return [Note("This stage has not sampled here yet.", command=f"compass run {stage.name}")]
    scored = [scorer.count_right(store, stage.name) for store in stores]
    now, (of, right) = stores[-1].counts, scored[-1]
    finished, seconds = now["finished"], now["seconds"]
    blocks: list[Block] = [
        figures(
            ("right so far", format_share(right / of if of else None), f"of {of:,} responses scored here"),
            ("response length", format_number(now["tokens"] / finished if finished else None), "tokens, mean"),
            ("cut off", format_share(now["cut_off"] / finished if finished else None), "at the longest length allowed"),
            ("throughput", format_number(now["tokens"] / seconds if seconds else None), "sampled tokens per second"),
        )
    ]
    if stage.name == "evaluate":
        names = _name_models(scorer.root, settings, stores)
        head = ["model", "responses", "right", "of those scored here", "tokens", "cut off"]
        rows = [
            [name, one.counts["finished"], right, of, one.counts["tokens"], one.counts["cut_off"]]
            for name, one, (of, right) in zip(names, stores, scored, strict=True)
        ]
        blocks.append(Table(head, rows, "Models so far", "The stage scores all responses at its end."))
    return [*blocks, scorer.show_responses(stores[-1], stage.name)]


def _name_models(root: Path, settings: Settings | None, stores: list[Sampled]) -> list[str]:
    """The models of the stores of evaluate, by the digests in their setups; with the prompt, where it is another than the stage's own."""
    cache = root / "work" / "evaluate" / DIGESTS
    own = find_prompt(settings.evaluate.sampling.model_dump()).facts()["digest"] if settings else ""
    names: dict[str, str] = {}
    for name in (settings.evaluate.models or settings.models) if settings else ():
        if digest := find_known_digest(root / "models" / name, cache):  # a look at the page reads no weights
            names.setdefault(digest, name)
    found = []
    for store in stores:
        facts = _read_facts(store.folder / "setup.json")
        model, prompt = facts.get("model") or {}, facts.get("prompt") or {}
        name = names.get(model.get("digest", ""), f"setup {store.folder.name[:8]}")
        other = own and prompt.get("digest", own) != own
        found.append(f"{name}, prompt {prompt['name']}" if other else name)
    return found


def _read_facts(path: Path) -> dict[str, Any]:
    """A JSON file of the stage; empty where it is not there, or not whole yet."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def _key(row: Mapping[str, Any]) -> tuple[str, int, bool]:
    return row["key"], row["sample"], row["greedy"]


@cached_by_files
def _read_part(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
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
        "cut_off": pc.sum(pc.equal(reasons, CUT_OFF)).as_py() or 0,
    }
    return counts, sampled.slice(max(0, sampled.num_rows - AT_ONCE)).to_pylist()
