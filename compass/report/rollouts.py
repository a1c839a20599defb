"""The rollouts of RL stages, found and made readable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pyarrow.parquet import read_schema

from compass.errors import UserError
from compass.page.blocks import response
from compass.report.outputs import read_table
from compass.report.printable import printable, shorten

TRAINED = "curriculum/kept.parquet"
"""The problems that RL stages train on, in a pipeline's data folder."""

LONGEST = 2000
"""Characters of a response that are shown."""


def find_rollouts(data: Path, stage: str) -> list[Path]:
    """The files with a stage's rollouts: its output, or one file per iteration while it runs.

    Raises:
        UserError: there are none; the message names the stages that have some.
    """
    # grading keeps rollouts as well, of another kind
    outputs = {path.parent.name: path for path in data.glob("*/rollouts.parquet") if "used" in read_schema(path).names}
    if stage in outputs:
        return [outputs[stage]]
    running = sorted((data.parent / "work" / stage).glob("*/rollouts/*.parquet"))
    if running:
        newest = max(running, key=lambda path: path.stat().st_mtime).parent
        return [path for path in running if path.parent == newest]
    raise UserError(
        f"no rollouts of {stage!r} in {data}; there are some of: {', '.join(sorted(outputs)) or 'none'}. `rl.record.rollouts_every` says "
        "which iterations keep theirs"
    )


def read_rollouts(files: Iterable[Path]) -> list[dict[str, Any]]:
    """Rows of `compass.rl.rollouts.ROLLOUTS`, as dicts."""
    return [row for path in files for row in read_table(path).to_pylist()]


def read_problems(data: Path, ids: Iterable[str]) -> dict[str, str]:
    """The text of problems by id, of those of the training set in a pipeline's data folder.

    A prompt holds the problem too, between the marks of a chat template, of which a decoded one leaves bare words such as "user".
    """
    path, wanted = data / TRAINED, sorted(set(ids))
    if not wanted or not path.exists():
        return {}
    rows = read_table(path, ["id", "problem"], ids=wanted)
    return dict(zip(*(rows.column(name).to_pylist() for name in ("id", "problem")), strict=True))


def choose_rollouts(
    rows: list[dict[str, Any]],
    *,
    step: int | None = None,
    id_: str | None = None,
    level: int | None = None,
    right: bool | None = None,
) -> list[dict[str, Any]]:
    """The rows of an iteration, of a problem, of a level, and those that are right or wrong; None leaves a choice open.

    Raises:
        UserError: the iteration's rollouts are not kept.
    """
    kept = sorted({row["step"] for row in rows})
    if step is not None and step not in kept:
        raise UserError(f"iteration {step} has no rollouts here; kept are {', '.join(map(str, kept)) or 'none'}")
    wanted = {"step": step, "id": id_, "level": level, "right": right}
    return [row for row in rows if all(value is None or row[name] == value for name, value in wanted.items())]


def step_lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    """One line per iteration whose rollouts are kept."""
    yield f"{'step':>5} {'responses':>10} {'trained on':>11} {'right':>6} {'reward':>7} {'cut off':>8} {'repeats':>8} {'tokens':>7} {'log-prob difference':>20}"
    for step in sorted({row["step"] for row in rows}):
        here = [row for row in rows if row["step"] == step]
        gaps = [row["gap_max"] for row in here if row["gap_max"] is not None]
        shares = [sum(row[name] for row in here) / len(here) for name in ("used", "right", "cut_off", "loop")]
        used, right, cut_off, loop = (f"{share:.0%}" for share in shares)
        tokens = sum(row["response_tokens"] for row in here) / len(here)
        gap = f"{max(gaps):.1e}" if gaps else "-"
        reward = sum(row["reward"] for row in here) / len(here)
        yield f"{step:>5} {len(here):>10,} {used:>11} {right:>6} {reward:>+7.2f} {cut_off:>8} {loop:>8} {tokens:>7.0f} {gap:>20}"


def rollout_lines(rows: Iterable[Mapping[str, Any]], problems: Mapping[str, str]) -> Iterator[str]:
    """Responses to read, each under the problem of its group, or under its prompt where `problems` lacks its id."""
    group = None
    for row in rows:
        if (row["step"], row["group"]) != group:
            group = (row["step"], row["group"])
            fate = "" if row["used"] else "  not used by the update"
            yield ""
            yield f"iteration {row['step']}  {row['id']}  level {row['level']}  gold {printable(row['gold'], 100)}{fate}"
            yield f"  problem   {printable(problems.get(row['id'], row['prompt']), LONGEST)}"
        yield ""
        yield f"  sample {row['sample']}  {_verdict(row)}"
        yield f"  {_numbers(row)}"
        yield from (f"  | {line}" for line in _lines(row["response"]))


def show_rollout(row: Mapping[str, Any], longest: int) -> dict[str, Any]:
    """A rollout as pages draw it, with at most so many characters of its text."""
    facts = [
        row["verdict"],
        row["method"],
        f"leaning on {row['leaned']}" if row["leaned"] else None,
        None if row["reward"] is None else f"reward {row['reward']:+.5g}",
        None if row["advantage"] is None else f"advantage {row['advantage']:+.5g}",
        f"{row['response_tokens']:,} tokens",
        "cut off" if row["cut_off"] else None,
        "ends in a loop" if row["loop"] else None,
    ]
    text = shorten(row["response"] or "", longest)
    return response(f"sample {row['sample']}", text, right=row["right"], answer=row["answer"], facts=facts)


def problem_lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """A problem's responses over training, one line each."""
    for row in rows:
        advantage = "" if row["advantage"] is None else f", advantage {row['advantage']:+.2f}"
        yield f"iteration {row['step']}: {_verdict(row)}{advantage}: {printable(row['response'], 90)}"


def _verdict(row: Mapping[str, Any]) -> str:
    leaned = f"leaning on {row['leaned']}" if row["leaned"] else ""
    how = ", ".join(word for word in (row["verdict"], row["method"], leaned) if word)
    answer = printable(row["answer"], 60) if row["answer"] else "none"
    return f"{'RIGHT' if row['right'] else 'WRONG'}  answer {answer}" + (f" ({how})" if how else "")


def _numbers(row: Mapping[str, Any]) -> str:
    parts = [f"reward {row['reward']:+g}", f"{row['response_tokens']} tokens"]
    if row["advantage"] is not None:
        parts.insert(1, f"advantage {row['advantage']:+.2f}")
    if row["gap_mean"] is not None:
        parts.append(
            f"log-probabilities of rollout and trainer differ by {row['gap_mean']:.1e} on average, {row['gap_max']:.1e} at most"
        )
    parts += [word for word, is_so in (("cut off", row["cut_off"]), ("ends in a loop", row["loop"])) if is_so]
    return ", ".join(parts)


def _lines(text: str) -> list[str]:
    lines = [printable(line, LONGEST) for line in text[:LONGEST].splitlines()] or [""]
    return [*lines, "…"] if len(text) > LONGEST else lines
