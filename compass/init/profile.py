"""The parameter file of a first run: every value, why it was chosen, and what the user is shown."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from compass.init.inputs import Computer, Policy, Rows
from compass.init.sizes import Sizes, choose_sizes
from compass.settings import Benchmark, Source
from compass.settings.load import read_values

TINY_ALONE = (
    "The tiny policy understands only stories like those of its generator (examples/own_csv/problems.csv imitates them). "
    "With any other problems the run shows that everything works, and its scores stay near 0: give --model for a real one."
)

WIDTH = 110
"""Columns of what is printed."""

REASON_WIDTH = 128
"""Columns up to which a reason is written after its value; a longer one is written above it."""


@dataclass(frozen=True)
class Plan:
    """A parameter file and what it rests on."""

    text: str
    sizes: Sizes
    lines: list[str]
    """What the user is shown."""


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
) -> Plan:
    """The parameter file of a first run.

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
    sizes = choose_sizes(rows, policy, computer)
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
    for key, value in sizes.values.items():
        set_value(tree, key, value)
    if computer.gpus:
        tree["rl"]["resources"].pop("micro_batch_size", None)
    tree["report"]["title"] = f"Compass-Thinker pipeline, {name}"
    reasons = {f"base{'.pretrain' if policy.kind == 'tiny' else '.model'}": why_model, **sizes.reasons}
    for kind, read in (("sources", sources), ("benchmarks", benchmarks)):
        for number, (source, _) in enumerate(read):
            if source.licence == "unknown" and kind == "sources":
                reasons[f"collect.sources.{number}.licence"] = "write the licence of your data here"
    lines = _summary_lines(sources, benchmarks, rows, policy, computer, sizes, why_model)
    text = format_parameters(tree, reasons, _build_head(name, pattern, lines))
    return Plan(text, sizes, lines)


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
    sizes: Sizes,
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
    if items := sum(rows.items.values()):
        width = 100 * 1.96 * math.sqrt(0.25 / items)
        listed = ", ".join(f"{name} {count}" for name, count in rows.items.items())
        facts.append(("items", f"{listed}: a score is known to within about {width:.0f} points"))
    millions = policy.parameters / 1e6
    about = f", about {millions:,.{0 if millions >= 10 else 2}f} million parameters" if millions else ""
    facts.append(("model", f"{policy.name or 'the tiny policy, which the run pre-trains'}{about} ({why_model})"))
    facts.append(("machine", str(computer)))
    values = sizes.values
    facts.append(
        (
            "sizes",
            f"{values['curriculum.problems']} problems per RL stage, {values['rl.data.batch_size']} per iteration, "
            f"{values['rl.rollout.group_size']} responses each of up to {values['rl.rollout.max_response_tokens']} tokens, "
            f"{values['rl.stages.rl-1.steps']} iterations per stage",
        )
    )
    if sizes.minutes:
        facts.append(("expect", f"about {sizes.minutes} minutes on this machine when it is idle"))
    facts += [("caution", text) for text in _list_cautions(policy, computer, sizes)]
    return [line for label, text in facts for line in _wrap_comment(label, text)]


def _list_cautions(policy: Policy, computer: Computer, sizes: Sizes) -> Iterator[str]:
    if sizes.memory_gb > computer.memory_gb and not computer.gpus:
        yield (
            f"training takes about {sizes.memory_gb:.0f} GB of memory and this machine has {computer.memory_gb:.0f}; "
            "take a smaller model or a GPU"
        )
    if policy.kind == "tiny":
        yield TINY_ALONE
    elif not computer.gpus:
        yield "on a CPU this is a trial of the whole path, not an experiment: so few iterations hardly change a model"


def _wrap_comment(label: str, text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=f"{label:10} ", subsequent_indent=" " * (11 if label else 13))


def format_parameters(tree: Mapping[str, Any], reasons: Mapping[str, str], head: Sequence[str]) -> str:
    """A parameter file.

    Args:
        tree: its sections.
        reasons: comments by the dotted key that they are about.
        head: the comment at the top, line by line.
    """
    lines = [*(f"# {line}".rstrip() for line in head)]
    for key, value in tree.items():
        if isinstance(value, dict) and value:
            lines.append("")
        lines += _format_value(key, value, key, reasons, "")
    return "\n".join(lines) + "\n"


def set_value(tree: dict[str, Any], key: str, value: Any) -> None:
    """Set a value by its dotted key, and make the sections above it where they are absent."""
    *sections, last = key.split(".")
    for name in sections:
        tree = tree.setdefault(name, {})
    tree[last] = value


def _format_value(key: str, value: Any, path: str, reasons: Mapping[str, str], pad: str) -> Iterator[str]:
    if isinstance(value, dict) and value and not _is_leaf(value):
        yield from _add_reason(f"{pad}{_format_flow(key)}:", reasons.get(path, ""), pad)
        for name, inner in value.items():
            yield from _format_value(name, inner, f"{path}.{name}", reasons, pad + "  ")
    elif isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        yield from _add_reason(f"{pad}{key}:", reasons.get(path, ""), pad)
        for number, one in enumerate(value):
            inside = [
                line
                for name, inner in one.items()
                for line in _format_value(name, inner, f"{path}.{number}.{name}", reasons, "")
            ]
            yield from (f"{pad}  {'- ' if at == 0 else '  '}{line}" for at, line in enumerate(inside))
    else:
        yield from _add_reason(f"{pad}{_format_flow(key)}: {_format_flow(value)}", reasons.get(path, ""), pad)


def _add_reason(line: str, reason: str, pad: str) -> Iterator[str]:
    if not reason:
        yield line
    elif len(line) + len(reason) + 3 <= REASON_WIDTH:
        yield f"{line} # {reason}"
    else:
        yield f"{pad}# {reason}"
        yield line


def _is_leaf(value: Mapping[str, Any]) -> bool:
    """Whether a section is written in one line: a level mix, a stage's few values."""
    plain = all(not isinstance(one, dict | list) for one in value.values())
    return plain and (set(value) <= set("12345") or "init_from" in value)


def _format_flow(value: Any) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=10_000, sort_keys=False)
    return text.removesuffix("\n").removesuffix("\n...").replace("\n", " ")
