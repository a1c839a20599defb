"""The rollouts of RL stages, found and made readable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pyarrow.parquet import read_schema

from compass.errors import UserError
from compass.page.blocks import Responses, Table, response
from compass.report.outputs import read_table
from compass.report.printable import printable, shorten
from compass.rl.paths import find_newest

TRAINED = "curriculum/kept.parquet"
"""The problems that RL stages train on, in a pipeline's data folder."""

LONGEST = 2000
"""Characters of a response that are shown."""


def rollout_files(data: Path) -> dict[str, Path]:
    """RL stage to the file of its rollouts, where it kept some; grading keeps rollouts as well, of another kind."""
    return {path.parent.name: path for path in data.glob("*/rollouts.parquet") if "used" in read_schema(path).names}


def kept_steps(path: Path) -> list[int]:
    """The iterations of which a file holds rollouts."""
    return sorted(set(read_table(path, ["step"])["step"].to_pylist()))


def find_rollouts(data: Path, stage: str) -> list[Path]:
    """The files with a stage's rollouts: its output, or one file per iteration while it runs.

    Raises:
        UserError: there are none; the message names the stages that have some.
    """
    outputs = rollout_files(data)
    if stage in outputs:
        return [outputs[stage]]
    newest = find_newest(data.parent, stage)
    if newest and (running := sorted(newest.rollouts.glob("*.parquet"))):
        return running
    raise UserError(
        f"no rollouts of {stage!r} in {data}; there are some of: {', '.join(sorted(outputs)) or 'none'}. A stage that trains has some after "
        "its first iteration that keeps them (`rl.record.rollouts_every`)"
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


def steps_table(rows: list[dict[str, Any]]) -> Table:
    """A row per iteration whose rollouts are kept."""
    head = ["step", "responses", "trained on", "right", "reward", "cut off", "repeats", "tokens", "log-prob difference"]
    table = []
    for step in sorted({row["step"] for row in rows}):
        here = [row for row in rows if row["step"] == step]
        used, right, cut_off, loop, reward, tokens = (
            sum(row[name] for row in here) / len(here)
            for name in ("used", "right", "cut_off", "loop", "reward", "response_tokens")
        )
        gaps = [row["gap_max"] for row in here if row["gap_max"] is not None]
        shares = [f"{share:.0%}" for share in (cut_off, loop)]
        gap = f"{max(gaps):.1e}" if gaps else "-"
        table.append([step, len(here), f"{used:.0%}", f"{right:.0%}", f"{reward:+.2f}", *shares, f"{tokens:.0f}", gap])
    return Table(head, table)


def show_groups(rows: Iterable[Mapping[str, Any]], problems: Mapping[str, str]) -> Responses:
    """Responses to read, each under the problem of its group, or under its prompt where `problems` lacks its id."""
    groups: dict[tuple[int, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["step"], row["group"]), []).append(row)
    shown = []
    for (step, _), own in groups.items():
        fate = "" if own[0]["used"] else " · not used by the update"
        about = f"iteration {step} · {own[0]['id']} · level {own[0]['level']}{fate}"
        shown.append(show_group(about, own, problems, LONGEST))
    return Responses("", problems=shown)


def show_group(
    about: str, rows: Sequence[Mapping[str, Any]], problems: Mapping[str, str], longest: int
) -> dict[str, Any]:
    """Rollouts of one problem as `Responses` holds them, with at most so many characters of each text; `about` says which they are."""
    first = rows[0]
    return {
        "about": about,
        "problem": shorten(problems.get(first["id"], first["prompt"] or ""), longest),
        "gold": first["gold"],
        "responses": [show_rollout(row, longest) for row in rows],
    }


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
        None
        if row["gap_mean"] is None
        else f"log-probabilities differ by {row['gap_mean']:.1e}, at most {row['gap_max']:.1e}",
    ]
    text = shorten(row["response"] or "", longest)
    return response(f"sample {row['sample']}", text, right=row["right"], answer=row["answer"], facts=facts)


def problem_lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """A problem's responses over training, one line each."""
    for row in rows:
        shown = show_rollout(row, LONGEST)
        verdict = f"{'RIGHT' if row['right'] else 'WRONG'}  answer {printable(row['answer'] or 'none', 60)}"
        yield f"iteration {row['step']}: {verdict} ({', '.join(shown['facts'])}): {printable(row['response'], 90)}"
