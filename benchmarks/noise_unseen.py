"""How the noise filters do on labelled rows that no rule was written on, per source and per reason, and on ValiMath.

    COMPASS_DATA=folder python benchmarks/noise_unseen.py [--split held] [--misses] [--write docs/measurements/noise_measured.md --mark last]
    COMPASS_DATA=folder python benchmarks/noise_unseen.py --labels tests/data/two_reasons_labels.csv --reasons multi_question lost_context
    COMPASS_DATA=folder python benchmarks/noise_unseen.py --filters examples.own_csv.own_judge:unsolvable --questions 400

Labels are in `tests/data/fresh_labels.csv` (ids only, see docs/measurements/noise_measured.md). Rows with an odd number in their file
are the split `held`: no rule is written on them. `label_sources.yaml` says how the files are read. `--filters` measures filters of
`denoise.filters`, such as a model as judge, on ValiMath alone.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from marked_page import write_part  # noqa: E402
from noise_filters import Counts, Label, read_labels, share  # noqa: E402

from compass.curation import noise  # noqa: E402
from compass.curation.noise.own_filter import load_filter, prepare_filters  # noqa: E402
from compass.evaluation.accuracy import wilson  # noqa: E402
from compass.settings import Collect, Denoise, load_settings  # noqa: E402
from compass.sources.collect import collect  # noqa: E402

LABELS = ROOT / "tests/data/fresh_labels.csv"
SOURCES = ROOT / "benchmarks/label_sources.yaml"
SAME = {"true_false": "yes_no", "scoring": "estimation"}
"""Reasons that are one to a reader: "Is it so? True" may be called either, and a guess is asked for where a score pays it."""
Z = 1.96


@dataclass
class Agreement:
    """What the filters do to the labelled rows of one source, or of all."""

    rows: int = 0
    dropped: int = 0
    bad: int = 0
    """Rows to which a reader gives a reason that a filter has, beyond doubt."""
    caught: int = 0
    """Of these, rows dropped, for whatever reason."""
    good: int = 0
    """Rows to which a reader gives no reason, not even a doubtful one."""
    lost: int = 0
    """Of these, rows dropped."""
    doubted: int = 0
    """Good rows that are kept with a doubt."""
    repaired: int = 0
    """Rows whose `encoding` damage was repaired before the filters saw them: no longer noisy for that."""
    random_good: int = 0
    random_lost: int = 0
    reasons: dict[str, Counts] = field(default_factory=lambda: defaultdict(Counts))
    disagreements: list[tuple[str, str, Label]] = field(default_factory=list)
    """(kind, reason, label) of each false hit and each miss."""

    def add(self, label: Label, fired: Iterable[str], *, doubted: bool = False, repaired: bool = False) -> None:
        """Count one row.

        Args:
            label: the reader's reasons, given for the row as published.
            fired: reasons of every filter that would drop it.
            doubted: whether a filter would keep it with a doubt.
            repaired: whether its text was repaired.
        """
        fired = {SAME.get(reason, reason) for reason in fired}
        sure = {SAME.get(reason, reason) for reason in label.reasons}
        unsure = {SAME.get(reason, reason) for reason in label.unsure} - sure
        if repaired:
            repaired_now = {"encoding"} - fired
            self.repaired += bool(repaired_now & sure)
            sure, unsure = (
                sure - repaired_now,
                unsure - repaired_now - ({"markup"} - fired),
            )  # `\noindent` and the like, a doubt at most
        self.rows += 1
        self.dropped += bool(fired)
        self.bad += bool(sure - {"other"})
        self.caught += bool(fired and sure - {"other"})
        if not sure and not unsure:
            self.good += 1
            self.lost += bool(fired)
            self.doubted += doubted and not fired
            self.random_good += label.sample == "random"
            self.random_lost += bool(fired) and label.sample == "random"
        for reason in fired | sure - {"other"}:
            if reason in unsure:
                continue
            hit, false_hit = reason in fired & sure, reason in fired - sure
            self.reasons[reason].hits += hit
            self.reasons[reason].false_hits += false_hit
            self.reasons[reason].misses += not hit and not false_hit
            if not hit:
                self.disagreements.append(("false hit" if false_hit else "miss", reason, label))


def findings(record: Mapping[str, Any], settings: Denoise) -> tuple[set[str], set[str]]:
    """The reasons of all filters that would drop a row, not only of the first, and those of its doubts."""
    found = [finding for judge in noise.FILTERS.values() if (finding := judge(dict(record), settings))]
    dropping = {str(finding.reason) for finding in found if finding.drops(settings.strictness)}
    return dropping, {str(finding.reason) for finding in found} - dropping


def agreements(
    records: Mapping[str, Mapping[str, Any]], labels: Iterable[Label], settings: Denoise
) -> tuple[dict[str, Agreement], list[str]]:
    """Judge every labelled row.

    Args:
        records: rows by id; `answer` is empty where none was published.
        labels: what a reader found in them.
        settings: thresholds and languages.

    Returns:
        Agreement per source, with all rows under "all"; and the ids of labels that have no record.
    """
    found: dict[str, Agreement] = defaultdict(Agreement)
    missing = []
    for label in labels:
        if label.id not in records:
            missing.append(label.id)
            continue
        record = records[label.id]
        fired, doubts = findings(record, settings)
        for name in (record["source"], "all"):
            found[name].add(label, fired, doubted=bool(doubts), repaired=bool(record.get("original")))
    return dict(found), missing


def read_rows(data: Path, wanted: set[str]) -> dict[str, dict[str, Any]]:
    """The labelled rows by id, those without an answer included: a filter judges the text as well."""
    limits = load_settings(ROOT / "profiles/small.yaml").collect
    extra = Collect(**yaml.safe_load(SOURCES.read_text(encoding="utf-8"))["collect"])
    rows = {}
    for source in [*limits.sources, *extra.sources]:
        read = collect([source], limits, COMPASS_DATA=data)
        rows |= {r["id"]: r for part in (read.kept, read.dropped) for r in part.to_pylist() if r["id"] in wanted}
    return rows


def reason_table(found: Agreement, reasons: Sequence[str] = ()) -> str:
    """Precision and recall per reason as a Markdown table, by the number of labelled rows; of `reasons` alone where given."""
    lines = ["| reason | labelled | fired | precision | recall |", "|---|---|---|---|---|"]
    by_size = sorted(found.reasons.items(), key=lambda item: (-(item[1].hits + item[1].misses), item[0]))
    for reason, count in by_size:
        if reasons and reason not in reasons:
            continue
        lines.append(
            f"| `{reason}` | {count.hits + count.misses} | {count.hits + count.false_hits} "
            f"| {share(count.precision)} | {share(count.recall)} |"
        )
    return "\n".join(lines)


def source_table(found: Mapping[str, Agreement]) -> str:
    """Rows, drops and losses per source as a Markdown table, all sources last."""
    lines = [
        "| source | rows | dropped | noisy rows dropped | good rows lost | of the random draw, 95% interval | wrong or missed reasons |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in [*sorted(found.keys() - {"all"}), "all"]:
        one = found[name]
        wrong = Counter(f"{kind} `{reason}`" for kind, reason, _ in one.disagreements)
        told = ", ".join(f"{kind} {count}" for kind, count in sorted(wrong.items())) if name != "all" else ""
        lines.append(
            f"| {name} | {one.rows} | {one.dropped} | {one.caught} of {one.bad} | {one.lost} of {one.good} "
            f"| {interval(one.random_lost, one.random_good)} | {told} |"
        )
    return "\n".join(lines)


def interval(count: int, total: int) -> str:
    """A share with its Wilson interval, in per cent."""
    if not total:
        return "–"
    low, high = wilson(count / total, total, Z)
    return f"{count} of {total}: {count / total:.1%} ({low:.1%}–{high:.1%})"


STEPS = ("question_format", "level_0_check", "min_Pi_check", "contradiction_check", "condition_complete_check")
"""ValiMath's step labels in their order; steps after the first that fails are null."""


def valimath_table(rows: Sequence[Mapping[str, Any]], settings: Denoise) -> str:
    """What the filters find of ValiMath's broken questions, in all and by the step at which they break.

    Questions come without golds, so that filters that need one stay silent.
    """
    drops = [findings({"problem": row["question"], "answer": ""}, settings)[0] for row in rows]
    broken = sum(not row["gt"] for row in rows)
    hits = sum(bool(drop) and not row["gt"] for drop, row in zip(drops, rows, strict=True))
    dropped = sum(map(bool, drops))
    kept = len(rows) - dropped
    sound = len(rows) - broken
    kept_sound = kept - (broken - hits)
    lines = [
        f"{len(rows):,} questions, {broken} of them broken; {dropped} dropped.",
        "",
        "| counted as positive | precision | recall |",
        "|---|---|---|",
        f"| sound questions, kept (as the paper counts) | {kept_sound / kept:.3f} | {kept_sound / sound:.3f} |",
        f"| broken questions, dropped | {hits / dropped if dropped else 0:.3f} | {hits / broken:.3f} |",
        "",
        "| the step at which a question fails | questions | dropped | by reason |",
        "|---|---|---|---|",
    ]
    failed = [next((step for step in STEPS if row[step] is False), "none") for row in rows]
    for step in (*STEPS, "none"):
        here = [drop for drop, name in zip(drops, failed, strict=True) if name == step]
        by_reason = Counter(reason for drop in here for reason in drop)
        told = ", ".join(
            f"`{reason}` {count}" for reason, count in sorted(by_reason.items(), key=lambda i: (-i[1], i[0]))
        )
        lines.append(f"| `{step}` | {len(here)} | {sum(map(bool, here))} | {told} |")
    return "\n".join(lines)


def own_filters_table(rows: Sequence[Mapping[str, Any]], settings: Denoise) -> str:
    """How findings of `settings.filters`, of any strength, agree with ValiMath's labels: per reason as a Markdown table.

    Agreement counts a finding as "broken" and none as "sound". Cohen's kappa is 0 where it is that of chance.
    """
    records = [{"problem": row["question"], "answer": "", "source": "valimath", "source_id": ""} for row in rows]
    prepare_filters(records, settings)
    broken = [not row["gt"] for row in rows]
    found: dict[str, set[int]] = defaultdict(set)
    for name in settings.filters:
        judge = load_filter(name)
        for number, record in enumerate(records):
            if finding := judge(record, settings):
                found[finding.reason].add(number)
    lines = [
        f"{len(rows):,} questions, {sum(broken)} of them broken.",
        "",
        "| finding | questions with it | of them broken | of the others broken | agreement | Cohen's kappa |",
        "|---|---|---|---|---|---|",
    ]
    for reason, numbers in sorted(found.items()):
        hits, others = sum(broken[number] for number in numbers), len(rows) - len(numbers)
        agreement = (hits + others - (sum(broken) - hits)) / len(rows)
        chance = (len(numbers) * sum(broken) + others * (len(rows) - sum(broken))) / len(rows) ** 2
        kappa = (agreement - chance) / (1 - chance) if chance < 1 else 0.0
        lines.append(
            f"| `{reason}` | {len(numbers)} | {interval(hits, len(numbers))} | {interval(sum(broken) - hits, others)} "
            f"| {agreement:.1%} | {kappa:+.2f} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Print the tables; with `--write`, put them into a page between the marks of that name."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--split", choices=["dev", "held"], help="only the rows of this split")
    parser.add_argument("--misses", action="store_true", help="list every disagreement, of the split dev alone")
    parser.add_argument("--write", type=Path, help="the page that holds the tables")
    parser.add_argument("--labels", type=Path, default=LABELS, help="the file of labels")
    parser.add_argument(
        "--reasons", nargs="+", default=[], help="the reasons that the labels tell of; others are not counted"
    )
    parser.add_argument(
        "--filters", nargs="+", default=[], help="filters to measure on ValiMath, package.module:function"
    )
    parser.add_argument("--questions", type=int, default=0, help="of ValiMath at random, for --filters (0: all)")
    parser.add_argument("--mark", default="last", help="the name in the page's marks, <!-- NAME: begin --> to end")
    arguments = parser.parse_args()
    data = Path(os.environ.get("COMPASS_DATA") or sys.exit("COMPASS_DATA is not set: the folder of the sources"))
    valimath = data / "labels/valimath.jsonl"
    if arguments.filters:
        questions = [json.loads(line) for line in valimath.read_text(encoding="utf-8").splitlines() if line.strip()]
        if arguments.questions:
            questions = random.Random(0).sample(questions, arguments.questions)
        print(own_filters_table(questions, Denoise(filters=arguments.filters)))
        return
    labels = [label for label in read_labels(arguments.labels) if arguments.split in (None, label.split)]
    rows = read_rows(data, {label.id for label in labels})
    settings = Denoise()
    found, missing = agreements(rows, labels, settings)
    if missing:
        sys.exit(f"{LABELS}: {len(missing)} labelled rows are not in the sources, first {missing[0]}; other files?")
    if arguments.misses:
        for kind, reason, label in found["all"].disagreements:
            if label.split == "dev":
                print(f"{kind:9} {reason:15} {rows[label.id]['source']}:{rows[label.id]['source_id']}  {label.id}")
        return
    if arguments.reasons:
        print(f"{found['all'].rows} rows:\n\n{reason_table(found['all'], arguments.reasons)}")
        return
    profile = {source.name for source in load_settings(ROOT / "profiles/small.yaml").collect.sources}
    parts = {f"split `{split}`": [label for label in labels if label.split == split] for split in ("dev", "held")}
    parts["sources outside of profiles/small.yaml, both splits"] = [
        label for label in labels if rows[label.id]["source"] not in profile
    ]
    judged = {name: agreements(rows, part, settings)[0]["all"] for name, part in parts.items() if part}
    text = "\n\n".join(
        [
            *(f"{one.rows} rows, {name}:\n\n{reason_table(one)}" for name, one in judged.items()),
            source_table(found),
            f"{found['all'].repaired} damaged rows were repaired and count as the rest of their labels say. "
            f"{found['all'].doubted} good rows are kept with a doubt.",
        ]
    )
    if valimath.exists():
        questions = [json.loads(line) for line in valimath.read_text(encoding="utf-8").splitlines() if line.strip()]
        text += f"\n\nValiMath: {valimath_table(questions, settings)}"
    print(text)
    if arguments.write:
        write_part(arguments.write, arguments.mark, text)


if __name__ == "__main__":
    main()
