"""Two runs, or two evaluations, on one page: which model is better, by how much, how sure that is, and what else differs.

The models are compared on the problems that both answered, as within one run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from compass.errors import UserError
from compass.evaluation.comparisons import compare_models
from compass.evaluation.results import read_clusters
from compass.page.blocks import Section, Table
from compass.report.cautions import limits, older_scores, warnings
from compass.report.headline import (
    AVERAGE,
    explain_certainty,
    find_comparison,
    format_accuracy,
    format_benchmarks,
    format_interval,
    format_measures,
    format_verdict,
    percent,
)
from compass.report.results import Results
from compass.report.run import Run, changed_rows, list_problems, name_runs
from compass.report.sections import build_conclusion, form_section, problems_section, scores_section


def join_runs(a: Run, b: Run, models: tuple[str, str] | None = None) -> Run:
    """One run that holds a model of each, named `RUN: MODEL`, the first run's model first.

    Problems of one id with other texts or golds are two: their ids get the name of their run.

    Args:
        a: the first run, which the other is compared with.
        b: the second.
        models: the model of each; None takes the last of each, which is the one that a pipeline ends with.

    Raises:
        UserError: a run has no responses or no such model, or the two answered no problem in common.
    """
    chosen = models or (_last(a), _last(b))
    names = name_runs([a, b])
    tables, scores, setups = [], {}, {}
    for run, model, name in zip((a, b), chosen, names, strict=True):
        if model not in run.results.scores or run.samples is None:
            raise UserError(f"{run.folder}: no scored model {model!r}; there are {', '.join(run.models) or 'none'}")
        label = f"{name}: {model}"
        own = run.samples.filter(pa.compute.equal(run.samples["model"], model))
        tables.append(_set_column(own, "model", [label] * own.num_rows))
        scores[label] = run.results.scores[model]
        digests = set(own["setup"].to_pylist()) & run.setups.keys()
        setups |= {f"{label}, {digest}": run.setups[digest] for digest in digests}
    unlike = _find_unlike(a, b)
    tables = [_rename_ids(table, unlike, name) for table, name in zip(tables, names, strict=True)]
    shared = [name for name in tables[0].column_names if name in tables[1].column_names]
    samples = pa.concat_tables([table.select(shared) for table in tables], promote_options="permissive")
    problems = _join_problems(
        [
            _rename_ids(run.problems, unlike, name)
            for run, name in zip((a, b), names, strict=True)
            if run.problems is not None
        ]
    )
    joined = Run(
        b.folder,
        Results(scores=scores),
        samples=samples,
        problems=problems,
        setups=setups,
        comparisons=compare_models(samples, seed=0, clusters=read_clusters(problems)),
        verifier=b.verifier or a.verifier,
    )
    [pair] = joined.comparisons["pairs"]
    if not pair[AVERAGE]["problems"]:
        other = f"; ids with other texts or golds: {len(unlike):,}" if unlike else ""
        raise UserError(
            f"{a.folder} and {b.folder}: no problem that both models answered{other}; evaluate them on the same benchmarks"
        )
    return joined


def _find_unlike(a: Run, b: Run) -> set[tuple[str, ...]]:
    """Benchmark and id of what is another problem in each run."""
    ours, theirs = list_problems([a, b])
    shared = {one[:2] for one in ours & theirs}
    return ({one[:2] for one in ours} & {one[:2] for one in theirs}) - shared


def _rename_ids(table: pa.Table, unlike: set[tuple[str, ...]], run: str) -> pa.Table:
    """Responses or problems of a run, with the run's name in the ids of unlike problems."""
    rows = zip(table["benchmark"].to_pylist(), table["id"].to_pylist(), strict=True)
    return _set_column(table, "id", [f"{id_} of {run}" if (name, id_) in unlike else id_ for name, id_ in rows])


def _join_problems(tables: Sequence[pa.Table]) -> pa.Table | None:
    """The problems of both runs, each once; None where neither has them."""
    if len(tables) < 2:
        return tables[0] if tables else None
    first, second = tables
    seen = set(zip(first["benchmark"].to_pylist(), first["id"].to_pylist(), strict=True))
    rows = zip(second["benchmark"].to_pylist(), second["id"].to_pylist(), strict=True)
    return pa.concat_tables([first, second.filter([key not in seen for key in rows])], promote_options="permissive")


def _set_column(table: pa.Table, name: str, values: list[str]) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, pa.array(values, pa.string()))


def compare_sections(a: Run, b: Run, joined: Run) -> list[Section]:
    """The sections of a comparison, the conclusion first.

    Args:
        a: the first run.
        b: the second.
        joined: both models, from `join_runs`.
    """
    return [
        _conclusion(a, b, joined),
        scores_section(joined),
        form_section(joined),
        problems_section(joined),
        _differing(a, b),
        _all_models(a, b),
    ]


def _conclusion(a: Run, b: Run, joined: Run) -> Section:
    first, second = joined.models
    found = find_comparison(joined, second, first)
    assert found
    verdict = {
        "better": f"{second} is better than {first}",
        "worse": f"{first} is better than {second}",
        "tied": f"{second} and {first} are tied",
    }.get(found["verdict"], f"{second} and {first} cannot be told apart")
    headline = (
        f"{verdict}. {second} has an accuracy of {format_accuracy(joined, second)} on {format_benchmarks(joined, second)}, {first} {format_accuracy(joined, first)}. "
        f"On the {found['problems']:,} problems that both answered, {second} against {first}{format_verdict(joined, found)}."
    )
    more = [
        *filter(None, [format_measures(found)]),
        *explain_certainty(joined, second, first),
        _cause(a, b, changed_rows(a.parameters, b.parameters)),
    ]
    training = (
        "Each side is one training run. Two runs of one recipe differ as well, by the seed and by the order of parallel sums, and the interval "
        "does not hold that: repeat both with other seeds before you put the difference down to the recipe."
    )
    seen = [*older_scores(a), *older_scores(b), *_unlike(a, b, joined), *warnings(joined)]
    return build_conclusion(headline, more, seen, [training, *limits(joined)[1:]])


def _cause(a: Run, b: Run, changed: list[tuple[str, str, str]]) -> str:
    names = name_runs([a, b])
    if not a.parameters or not b.parameters:
        return "What else differs is not known: one side has no parameter file."
    if not changed:
        return f"{names[0]} and {names[1]} have the same settings."
    if len(changed) == 1:
        name, before, after = changed[0]
        return f"They differ in one setting: {name} is {before} in {names[0]} and {after} in {names[1]}."
    shown = ", ".join(name for name, *_ in changed[:6]) + (" and others" if len(changed) > 6 else "")
    return f"They differ in {len(changed)} settings ({shown}): this comparison alone does not say which of them made the difference."


def _unlike(a: Run, b: Run, joined: Run) -> list[str]:
    lines = []
    [pair] = joined.comparisons["pairs"]
    if missing := pair[AVERAGE]["missing"]:
        lines.append(f"{missing:,} problems were answered by one side alone and are left out of the comparison.")
    commits = {run.commit.get("commit") for run in (a, b) if run.commit}
    if len(commits) > 1:
        lines.append("The two runs are of different commits: the code differs as well as the settings.")
    for run, name in zip((a, b), name_runs([a, b]), strict=True):
        for stage, found in run.results.findings.items():
            if guards := ", ".join(sorted({line["guard"] for line in found})):
                lines.append(f"Guards fired in {name}, {stage}: {guards}.")
    return lines


def _differing(a: Run, b: Run) -> Section:
    """What differs in settings, rows, environment and times."""
    kept = ({one.stage: one.kept for one in run.results.counts} for run in (a, b))
    seconds = ({stage: fact.get("seconds") for stage, fact in run.times.items()} for run in (a, b))
    tables = (
        ("Settings:", "setting", changed_rows(a.parameters, b.parameters)),
        ("Rows kept by each stage:", "stage", _side_by_side(*kept)),
        ("Environment:", "what", changed_rows(_environment(a), _environment(b))),
        ("Seconds per stage:", "stage", _side_by_side(*seconds)),
    )
    names = name_runs([a, b])
    parts = [part for title, what, rows in tables if rows for part in (title, Table([what, *names], rows))]
    return Section("What differs", parts, "differs")


def _side_by_side(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[list[Any]]:
    return [[name, one.get(name), other.get(name)] for name in {**one, **other}]


def _all_models(a: Run, b: Run) -> Section:
    rows = [
        [name, model, percent(scored[AVERAGE]["accuracy"]), format_interval(scored[AVERAGE]["ci95"])]
        for run, name in zip((a, b), name_runs([a, b]), strict=True)
        for model, scored in run.results.scores.items()
        if AVERAGE in scored
    ]
    head = ["run", "model", "average %", "95% interval"]
    return Section("All models of both", [Table(head, rows)] if len(rows) > 2 else [], "models")


def _environment(run: Run) -> dict[str, Any]:
    facts = {name: run.latest.get(name, {}) for name in ("machine", "packages")}
    return {"commit": run.commit.get("commit", ""), **facts}


def _last(run: Run) -> str:
    if not run.models:
        raise UserError(f"{run.folder}: no model was scored there; run its stage evaluate")
    return run.models[-1]
