"""The parameter file of a first run: every value, why it was chosen, and what the user is shown."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from compass.init.inputs import Computer, Policy, Rows
from compass.init.sizes import choose_sizes
from compass.plan.forecast import Known, forecast
from compass.plan.hardware import Machine
from compass.plan.shape import policy_shape
from compass.settings import Benchmark, Source
from compass.settings.load import check_values, read_values

TINY_ALONE = (
    "The tiny policy understands only stories like those of its generator (examples/own_csv/problems.csv imitates them). "
    "With any other problems the run shows that everything works, and its scores stay near 0: give --model for a real one."
)

WIDTH = 110
"""Columns of what is printed."""


def plan(
    name: str,
    sources: Sequence[tuple[Source, list[str]]],
    benchmarks: Sequence[tuple[Benchmark, list[str]]],
    rows: Rows,
    policy: Policy,
    computer: Computer,
    *,
    revision: str = "",
    why_model: str = "as you said",
    profiles: Path = Path("profiles"),
) -> tuple[str, list[str]]:
    """The parameter file of a first run, and what the user is shown, line by line.

    Args:
        name: what the profile is called.
        sources: how each file of problems is read, with the evidence.
        benchmarks: the same of benchmarks.
        rows: what curation leaves of them.
        policy: the model.
        computer: the machine.
        revision: the commit of a hub model.
        why_model: why it is this model.
        profiles: the folder of the profiles, of which one is the pattern.

    Raises:
        UserError: there are too few problems.
    """
    values, reasons = choose_sizes(rows, policy, computer)
    pattern = "tiny" if policy.kind == "tiny" else "small-gpu" if computer.gpus else "small"
    tree = read_values(profiles / f"{pattern}.yaml")
    tree["profile"] = name
    tree["collect"] = {
        "sources": [_build_entry(source) for source, _ in sources],
        "benchmarks": [_build_entry(benchmark) for benchmark, _ in benchmarks],
    }
    if policy.kind != "tiny":
        tree["base"] = {"model": policy.name, **({"revision": revision} if revision else {})}
    # Each sampling gets its own values: the pattern's may be one mapping under two names.
    for section in ("grade", "evaluate"):
        tree[section]["sampling"] = dict(tree[section]["sampling"])
    for key, value in values.items():
        set_value(tree, key, value)
    if computer.gpus:
        tree["rl"]["resources"].pop("micro_batch_size", None)
    tree["report"]["title"] = f"Compass-Thinker pipeline, {name}"
    reasons["base.pretrain" if policy.kind == "tiny" else "base.model"] = why_model
    if policy.kind == "tiny":
        reasons["base.pretrain.steps"] = "at most; it stops as soon as `skill` is reached"
    if any(source.licence == "unknown" for source, _ in sources):
        reasons["collect.sources"] = "write the licence of your data at `licence`"
    lines = _summary_lines(sources, benchmarks, rows, policy, computer, values, why_model)
    if not computer.gpus and (minutes := _forecast_minutes(tree, rows, computer)):
        lines += _wrap("expect", f"{minutes} minutes on this machine when it is idle")
    for caution in _list_cautions(policy, computer):
        lines += _wrap("caution", caution)
    return format_parameters(tree, reasons, _build_head(name, pattern, lines)), lines


def _forecast_minutes(tree: Mapping[str, Any], rows: Rows, computer: Computer) -> str:
    """How long `compass plan` expects a whole run to take, as `5 to 9`; empty where the model's shape is not known."""
    settings = check_values(tree)
    if policy_shape(settings, Path()) is None:
        return ""
    run = forecast(settings, Machine(None, 0, computer.cores), Known(rows.usable, items=rows.items), Path())
    low, high = (math.ceil(60 * sum(stage.hours[at] for stage in run.stages)) for at in (0, 2))
    return f"{low} to {high}"


def _build_entry(source: Source) -> dict[str, Any]:
    """A source's settings that differ from the defaults, and those that everyone should see."""
    own = source.model_dump(exclude_defaults=True)
    shown = {"problem_field": source.problem_field, "answer_field": source.answer_field} if source.path else {}
    licence = {} if isinstance(source, Benchmark) and source.licence == "unknown" else {"licence": source.licence}
    return {"name": source.name, **own, **shown, **licence}


def _build_head(name: str, pattern: str, lines: Sequence[str]) -> list[str]:
    return [
        f"The profile {name}, written by `compass init` from profiles/{pattern}.yaml. Every value may be changed.",
        "What it was sized to:",
        *(f"  {line}" for line in lines),
        f"`compass profile use {name}` puts it into force; `compass init` with other files or a machine with more writes another.",
    ]


def _summary_lines(
    sources: Sequence[tuple[Source, list[str]]],
    benchmarks: Sequence[tuple[Benchmark, list[str]]],
    rows: Rows,
    policy: Policy,
    computer: Computer,
    values: Mapping[str, Any],
    why_model: str,
) -> list[str]:
    """What the parameters rest on, a label before each fact."""
    facts = []
    for label, read in (("data", sources), ("benchmark", benchmarks)):
        for source, evidence in read:
            facts.append((label, source.path or source.name))
            facts += [("", line.strip()) for line in evidence[1:]]
    said = ", ".join(f"{count} {reason}" for reason, count in rows.dropped.items())
    measured = f"{rows.usable} of {rows.read} pass curation" + (f"; dropped: {said}" if said else "")
    facts.append(("rows", measured if rows.measured else f"{rows.read}; about {rows.usable} should pass curation"))
    if sum(rows.items.values()):
        most = values["evaluate.max_problems"] or math.inf
        asked = sum(min(count, most) for count in rows.items.values())
        width = 100 * 1.96 * math.sqrt(0.25 / asked)
        listed = ", ".join(
            f"{name} {count}" if count <= most else f"{name} {most} of {count}" for name, count in rows.items.items()
        )
        facts.append(("items", f"{listed}: a score is known to within about {width:.0f} points"))
    millions = policy.parameters / 1e6
    about = f", about {millions:,.{0 if millions >= 10 else 2}f} million parameters" if millions else ""
    facts.append(("model", f"{policy.name or 'the tiny policy, which the run pre-trains'}{about} ({why_model})"))
    facts.append(("machine", str(computer)))
    graded = f"{values['grade.max_problems']} of the problems are graded, " if values["grade.max_problems"] else ""
    facts.append(
        (
            "sizes",
            f"{graded}{values['curriculum.problems']} problems per RL stage, {values['rl.data.batch_size']} per iteration, "
            f"{values['rl.rollout.group_size']} responses each of up to {values['rl.rollout.max_response_tokens']} tokens, "
            f"{values['rl.stages.rl-1.steps']} iterations per stage",
        )
    )
    return [line for label, text in facts for line in _wrap(label, text)]


def _list_cautions(policy: Policy, computer: Computer) -> Iterator[str]:
    memory_gb = 22 * policy.parameters / 1e9 + 5  # about what training takes
    if policy.parameters and memory_gb > computer.memory_gb and not computer.gpus:
        yield (
            f"training takes about {memory_gb:.0f} GB of memory and this machine has {computer.memory_gb:.0f}; "
            "take a smaller model or a GPU"
        )
    if policy.kind == "tiny":
        yield TINY_ALONE
    elif not computer.gpus:
        yield "on a CPU this is a trial of the whole path, not an experiment: so few iterations hardly change a model"


def _wrap(label: str, text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=f"{label:10} ", subsequent_indent=" " * (11 if label else 13))


def format_parameters(tree: Mapping[str, Any], reasons: Mapping[str, str], head: Sequence[str]) -> str:
    """A parameter file.

    Args:
        tree: its sections.
        reasons: comments by the dotted key that they are about.
        head: the comment at the top, line by line.
    """
    lines = [*(f"# {line}".rstrip() for line in head), ""]
    path: list[str] = []
    for line in yaml.dump(tree, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10_000).splitlines():
        text = line.lstrip()
        path[(len(line) - len(text)) // 2 :] = [text.partition(":")[0].strip("'")]
        reason = reasons.get(".".join(path))
        lines.append(f"{line} # {reason}" if reason else line)
    return "\n".join(lines) + "\n"


class _Dumper(yaml.SafeDumper):
    """Writes out a mapping that stands in two places of the pattern."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def set_value(tree: dict[str, Any], key: str, value: Any) -> None:
    """Set a value by its dotted key, and make the sections above it where they are absent."""
    *sections, last = key.split(".")
    for name in sections:
        tree = tree.setdefault(name, {})
    tree[last] = value
