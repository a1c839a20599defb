"""The report's sections on how a run came about: training, data, time and cost, what ran, and what every stage measured."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from compass.durations import duration
from compass.ledger import Counts
from compass.page.blocks import Bars, Bullets, Code, Fold, Note, Part, Section, Table
from compass.report.cost import cost_per_point
from compass.report.figures import curves_figure, draw_chart
from compass.report.headline import percent
from compass.report.printable import as_text, cut
from compass.report.run import Run

LONGEST_DETAIL = 20_000
"""Characters shown of what a stage measured."""


def training_section(run: Run, linked: Mapping[str, list[int]]) -> Section:
    """Level mixes, learning curves and guards' findings of the RL stages."""
    mixes = level_mixes(run)
    parts: list[Part] = []
    if mixes:
        levels = sorted({level for mix in mixes.values() for level in mix})
        rows = [[stage, *(mix.get(level, 0) for level in levels), sum(mix.values())] for stage, mix in mixes.items()]
        parts.append(Table(["stage", *(f"level {level}" for level in levels), "problems"], rows))
    if run.results.curves:
        text = "Training curves over all responses of every iteration, those that dynamic sampling left out included."
        if any(linked.values()):
            text += " A dot is an iteration whose rollouts are kept: click it to read them."
        drawn = draw_chart(
            "curves", "Training curves of the RL stages", lambda width: curves_figure(run.results, width, linked)
        )
        parts += [Note(text), *drawn]
    for stage, found in run.results.findings.items():
        if found:
            lines = [f"{line['guard']} ({line['level']}), {line['message']}" for line in found]
            parts.append(Fold(f"{stage}: {len(found)} finding{'s' * (len(found) != 1)} of guards", [Bullets(lines)]))
    if run.results.findings and not any(run.results.findings.values()):
        parts.append(f"No guard fired in {', '.join(run.results.findings)}.")
    return Section("Training", parts, "training")


def funnel_table(stages: Sequence[Counts], title: str = "", most: int | None = None) -> Table:
    """A row for every curation stage: rows read, kept and dropped, and at most so many reasons, the most frequent first."""
    rows = [[one.stage, one.read, one.kept, one.read - one.kept, one.reasons(most)] for one in stages]
    return Table(["stage", "read", "kept", "dropped", "reasons"], rows, title)


def data_section(run: Run) -> Section:
    """The funnel from source rows to trained rows."""
    counts = run.results.counts
    if not counts:
        return Section("Data", [])
    trained = f"From {counts[0].read:,} source rows to {counts[-1].kept:,} that RL trains on. “compass why ID” shows the history of one problem."
    sources = run.results.summaries.get("collect", {}).get("metrics", {}).get("sources", {})
    parts: list[Part] = [
        Note(trained),
        Bars("", [(one.stage, one.kept, f"{one.kept:,} of {one.read:,}") for one in counts]),
        funnel_table(counts),
    ]
    if sources:
        wanted = ("path", "hub", "revision", "licence", "read", "rows", "kept", "digest", "sha256")
        columns = [name for name in wanted if any(name in fact for fact in sources.values())]
        lines = [[name, *(_short(fact.get(column)) for column in columns)] for name, fact in sources.items()]
        parts.append(Fold("Sources, with the rows that collect read and kept", [Table(["source", *columns], lines)]))
    return Section("Data", parts, "data")


def planted_section(run: Run) -> Section:
    """What curation made of planted defects."""
    planted = run.results.planted
    if not planted:
        return Section("Planted truth", [])
    kinds, clean = planted["kinds"], planted["clean"]
    counted = ("planted", "dropped", "right")
    rows = [[kind, *(row[name] for name in counted), percent(row["recall"])] for kind, row in kinds.items()]
    found, all_ = (sum(row[name] for row in kinds.values()) for name in ("right", "planted"))
    note = (
        f"{found:,} of {all_:,} planted defects found, each by the stage and for the reason that it was planted for. "
        f"Of {clean['rows']:,} clean rows {clean['dropped']:,} were dropped ({100 * clean['lost']:.2f}%)."
    )
    table = Table(["kind", "planted", "dropped", "for the right reason", "recall %"], rows)
    return Section("Planted truth", [Note(note), Fold("By kind", [table])], "planted")


def cost_section(run: Run) -> Section:
    """Time and tokens by stage."""
    tokens = sampled_tokens(run)
    stages = [stage for stage in (*run.results.summaries, "evaluate") if stage in run.times or stage in tokens]
    rows = []
    for stage in dict.fromkeys(stages):
        fact = run.times.get(stage, {})
        seconds, cores, used = fact.get("seconds"), fact.get("machine", {}).get("cores"), fact.get("cpu_seconds")
        began = fact.get("started", "")[:16].replace("T", " ")
        took = "not recorded" if seconds is None else duration(seconds)
        minutes = (_core_minutes(seconds and cores and seconds * cores), _core_minutes(used))
        rows.append([stage, began, took, *minutes, fact.get("peak_memory_gb"), tokens.get(stage)])
    if not rows:
        return Section("Time and cost", [])
    whole = sum(fact.get("seconds", 0) for fact in run.times.values())
    note = (
        "Wall-clock time of each stage's last run here, core minutes it had at its disposal and used, the most memory that its processes "
        "were seen to hold together, and tokens that models wrote."
    )
    elsewhere = "Times are not recorded for stages that ran elsewhere or before times were kept."
    note += f" Together {duration(whole)}." if whole else f" {elsewhere}"
    head = ["stage", "started (UTC)", "time", "core minutes", "of CPU time", "memory, GB", "tokens"]
    return Section("Time and cost", [Note(note), Table(head, rows), *cost_per_point(run)], "cost")


def _core_minutes(seconds: float | None) -> float | None:
    """Minutes of one core, none of them 0; None where they are not known."""
    return None if seconds is None else max(0.1, round(seconds / 60, 1))


def ran_section(run: Run) -> Section:
    """Profile, seed, commit, the settings that differ from the profile, machine, packages and setups of evaluation."""
    facts: dict[str, Any] = {}
    if run.parameters:
        facts |= {"profile": run.profile, "seed": str(run.parameters.get("seed", 0))}
    if run.commit:
        changed = " with uncommitted changes" if run.commit["dirty"] == "true" else ""
        facts["commit"] = run.commit["commit"] + changed
    for name, value in run.latest.get("machine", {}).items():
        shown = ", ".join(value) or "none" if isinstance(value, list) else str(value)
        facts[name.replace("_gb", " (GB)")] = shown
    facts |= run.latest.get("packages", {})
    parts: list[Part] = [Table(["what", "value"], list(facts.items()))] if facts else []
    if run.changed:
        head = ["setting", f"profile {run.profile}", "this run"]
        parts += ["Settings that differ from the profile:", Table(head, run.changed)]
    elif run.profile_parameters:
        parts.append(f"All settings are those of the profile {run.profile}.")
    for digest, setup in run.setups.items():
        rows = [["digest", digest], *([name, _short(value, 200)] for name, value in setup.items())]
        title = f"How {', '.join(_models_of(run, digest)) or digest} was evaluated"
        parts.append(Fold(title, [Table(["what", "value"], rows)]))
    return Section("What ran", parts, "ran")


def _models_of(run: Run, digest: str) -> list[str]:
    """The models whose responses were sampled with a setup."""
    import pyarrow.compute as pc

    if run.samples is None:
        return []
    return pc.unique(run.samples.filter(pc.equal(run.samples["setup"], digest))["model"]).to_pylist()


def details_section(run: Run) -> Section:
    """What every stage measured, as it wrote it; in the page alone."""
    parts: list[Part] = []
    for stage, summary in run.results.summaries.items():
        measured = json.dumps(_rounded(summary.get("metrics", summary)), indent=2, ensure_ascii=False)[:LONGEST_DETAIL]
        parts.append(Code(stage, measured))
    return Section("What every stage measured", parts, "details")


def level_mixes(run: Run) -> dict[str, dict[str, int]]:
    """RL stage to level to problems, as the curriculum counted them."""
    stages = run.results.summaries.get("curriculum", {}).get("metrics", {}).get("stages", {})
    return {stage: facts["levels"] for stage, facts in stages.items() if facts.get("levels")}


def sampled_tokens(run: Run) -> dict[str, int]:
    """Stage to the tokens that models wrote in it, as far as they were counted."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    tokens = {}
    grade = run.results.summaries.get("grade", {}).get("metrics", {})
    path = run.folder / "data" / "grade" / "rollouts.parquet"
    if "tokens" in grade and path.exists():
        tokens["grade"] = round(grade["tokens"] * pq.read_metadata(path).num_rows)
    tokens |= run.results.tokens
    counted = None if run.samples is None else pc.sum(run.samples["tokens"]).as_py()
    return tokens if counted is None else tokens | {"evaluate": counted}  # None: not known


def _short(value: Any, limit: int = 60) -> Any:
    if value is None or isinstance(value, int):
        return value
    return cut(as_text(value), limit)


def _rounded(value: Any) -> Any:
    """Numbers with six digits: more are noise to a reader; the file in `metrics/` has them all."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, Mapping):
        return {name: _rounded(one) for name, one in value.items()}
    return [_rounded(one) for one in value] if isinstance(value, list) else value
