"""The data card of a curated set: what is in it, what was dropped and why, and what it is not good for.

`card.md` for a repository or a hub page, `card.html` alone for reading. All figures come from the rows
that the stages kept and dropped; the same rows give the same bytes.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc

from compass.files import write_text
from compass.page.blocks import Bars, Bullets, Part, Section, Table, format_share
from compass.page.html import document, sections_html
from compass.page.markdown import write_markdown
from compass.records import count_records
from compass.report.croissant import croissant, front_matter
from compass.report.outputs import Outputs, count_values, read_batches
from compass.report.printable import printable

TITLE = "Data card"

LENGTHS = (0, 50, 100, 200, 300, 500, 750, 1_000, 1_500, 2_000, 4_000)
"""Lower ends of the classes of problem length, in characters."""

LIMITS = (
    "Golds are published answers that the verifier can read; it cannot know that they are right. Without graded rollouts "
    "no gold was compared with what models answer.",
    "Decontamination finds items in the same words or nearly the same; a translation or a free retelling passes.",
    "Near-duplicates are found by their words: the same task in another wording, or with other names of variables, "
    "counts as another problem.",
    "Language and noise are judged by rules; docs/measurements/noise_measured.md gives their precision and recall.",
    "Licences are those the sources state for themselves.",
)


def write_card(outputs: Outputs, folder: Path, origins: Mapping[str, str] | None = None) -> list[Path]:
    """Write `card.md`, `card.html` and `croissant.json` of what the stages kept and dropped.

    Args:
        outputs: rows of at least the collect stage.
        folder: where to write.
        origins: path or hub id of each source; None takes what the outputs tell.

    Returns:
        The paths of what was written.
    """
    sections = card_sections(outputs)
    files = {Path(os.path.relpath(path, folder)).as_posix(): path for path in outputs.files().values()}
    top = hub_front_matter(outputs, files)
    written = write_markdown(folder / "card.md", TITLE, sections, top=top)
    texts = {
        "card.html": document(TITLE, sections_html(sections)),
        "croissant.json": metadata(outputs, files, origins),
    }
    for name, text in texts.items():
        write_text(folder / name, text)
    return [*written, *(folder / name for name in texts)]


def metadata(outputs: Outputs, files: Mapping[str, Path], origins: Mapping[str, str] | None = None) -> str:
    """The card as Croissant metadata (`croissant.py`), of files by their paths from its own place."""
    sources = outputs.origins() if origins is None else origins
    names = _counts(outputs.collected_files(), "source")
    licences = list(_counts([outputs.last], "licence"))
    known = {name: sources.get(name, "") for name in names}
    return json.dumps(croissant(files, outputs.counts(), licences, known, LIMITS), indent=1, ensure_ascii=False) + "\n"


def hub_front_matter(outputs: Outputs, files: Mapping[str, Path]) -> str:
    """The YAML of the card for the Hugging Face hub, of files by their paths from its own place."""
    kept, *dropped = files
    licences = list(_counts([outputs.last], "licence"))
    return front_matter(kept, dropped, count_records(outputs.last), licences, outputs.languages())


def card_sections(outputs: Outputs) -> list[Section]:
    """The card's sections.

    Args:
        outputs: rows of at least the collect stage.
    """
    stages, kept = outputs.counts(), outputs.last
    drops = [(counts.stage, reason, rows) for counts in stages for reason, rows in counts.dropped.items()]
    return [
        _summary(outputs, stages[0].read),
        _composition(outputs),
        _section(
            "Dropped rows",
            "Every row that was read is kept or is in a `dropped.parquet` with stage, reason and evidence.",
            Table(["stage", "reason", "rows"], drops),
            ("Dropped rows by reason", _counts(outputs.dropped.values(), "reason")),
        ),
        _counted("Levels", "Difficulty as the sources publish it; scales differ from source to source.", kept, "source_level"),
        _counted("Graded levels", "Difficulty 1 (easy) to 5 by a grader's solve rate.", kept, "level"),
        _counted("Answer types", "What kind of object the gold is, as the verifier reads it.", kept, "answer_type"),
        _lengths(kept),
        _contamination(outputs),
        _duplicates(outputs),
        Section("Known limits", [Bullets(LIMITS)]),
    ]  # fmt: skip


def _summary(outputs: Outputs, read: int) -> Section:
    licences = ", ".join(f"{name} ({count:,})" for name, count in _counts([outputs.last], "licence").items())
    sources = len(_counts(outputs.collected_files(), "source"))
    return _section(
        "Summary",
        f"{count_records(outputs.last):,} problems with verifiable answers, of {read:,} rows read from {sources} source{'s' * (sources != 1)}. "
        f"Licences of the kept rows: {licences or 'none'}.",
    )


def _composition(outputs: Outputs) -> Section:
    licences: dict[str, list[str]] = {}
    for pair in count_values(outputs.collected_files(), "source", "licence"):
        source, licence = map(_name, pair)
        licences.setdefault(source, []).append(licence)
    read, kept = _counts(outputs.collected_files(), "source"), _counts([outputs.last], "source")
    kept = {name: kept.get(name, 0) for name in read}
    rows = [
        (name, ", ".join(licences[name]), count, kept[name], format_share(kept[name] / count))
        for name, count in read.items()
    ]
    table = Table(["source", "licence", "read", "kept", "share kept"], rows)
    return _section("Composition", "", table, ("Kept rows by source", kept))


def _counted(title: str, text: str, kept: Path, column: str) -> Section:
    counts = _counts([kept], column)
    known = {label: count for label, count in counts.items() if label not in ("", "None")}
    if not known:
        return _section(title, f"{text} Not known for any row.")
    shown = dict(list(known.items())[:20])
    rows = sum(counts.values())
    text += f" Known for {sum(known.values()):,} of {rows:,} rows."
    if len(known) > len(shown):
        text += f" The {len(shown)} most frequent of {len(known)}."
    table = Table(
        [column, "rows", "share"], [(name, count, format_share(count / rows)) for name, count in shown.items()]
    )
    return _section(title, text, table, (title, shown))


def _lengths(kept: Path) -> Section:
    read = [
        pc.utf8_length(batch.column("problem")).to_numpy(zero_copy_only=False)
        for batch in read_batches(kept, ["problem"])
    ]
    lengths = np.concatenate(read) if read else np.zeros(0)
    labels = [*(f"{low:,} to {high - 1:,}" for low, high in pairwise(LENGTHS)), f"{LENGTHS[-1]:,} and more"]
    counts = dict(zip(labels, np.histogram(lengths, [*LENGTHS, np.inf])[0].tolist(), strict=True))
    middle = f" Median {int(np.sort(lengths)[len(lengths) // 2]):,}." if len(lengths) else ""
    table = Table(["characters", "rows"], list(counts.items()))
    return _section("Problem length", f"In characters.{middle}", table, ("Problem length", counts))


def _contamination(outputs: Outputs) -> Section:
    path = outputs.folder / "collect" / "benchmarks.parquet"
    items = _counts([path], "source") if path.exists() else {}
    if not items:
        return _section("Contamination", "No benchmark was given: nothing was checked.")
    hits = Counter(_name(evidence["benchmark"]) for evidence in _evidence(outputs, "contaminated"))
    text = "Rows that are a benchmark's item, or hold a share of it; the evidence in `dropped.parquet` names the item."
    table = Table(["benchmark", "items", "rows dropped"], [(name, count, hits[name]) for name, count in items.items()])
    return _section("Contamination", text, table, ("Contaminated rows", dict.fromkeys(items, 0) | hits))


def _duplicates(outputs: Outputs) -> Section:
    if outputs.keeps_duplicates():
        return _section("Duplicates", "Duplicates were found and kept, as the setting dedup.keep_all asks.")
    sizes = {int(size): count for size, count in _counts([outputs.last], "cluster_size").items() if size != "None"}
    shown = {f"{size} rows" if size > 1 else "1 row": sizes[size] for size in sorted(sizes)[:12]}
    conflicts = sum(1 for _ in _evidence(outputs, "answer_conflict"))
    text = f"How many rows stood for each kept problem. {conflicts:,} rows were dropped for an answer that others contradict."
    table = Table(["cluster size", "problems"], list(shown.items()))
    return _section("Duplicates", text, table, ("Problems by cluster size", shown))


def _evidence(outputs: Outputs, reason: str) -> Iterator[dict[str, Any]]:
    """The evidence of the rows that were dropped for a reason."""
    for path in outputs.dropped.values():
        for batch in read_batches(path, ["reason", "evidence"]):
            chosen = batch.filter(pc.equal(batch.column("reason"), reason))
            yield from map(json.loads, chosen.column("evidence").to_pylist())


def _counts(files: Iterable[Path], column: str) -> dict[str, int]:
    """How often each value occurs in files, the most frequent first, equals by name."""
    counts: Counter[str] = Counter()
    for (value,), count in count_values(files, column).items():
        counts[_name(value)] += count
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def _name(value: Any) -> str:
    """A value of a row as the card shows it."""
    return printable(str(value), 80)


def _section(title: str, text: str, table: Table | None = None, bars: tuple[str, Mapping[str, int]] = ("", {})) -> Section:  # fmt: skip
    """A paragraph, bars (their title, and a number for each label, in this order) and a table under a heading, as far as there are any."""
    parts: list[Part] = [text] if text else []
    if counts := bars[1]:
        parts.append(Bars(bars[0], [(label, value, f"{value:,}") for label, value in counts.items()]))
    return Section(title, [*parts, table] if table else parts)
