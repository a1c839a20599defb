"""What checks look at, what they found, and how it is shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from compass.errors import did_you_mean

Level = Literal["ok", "warning", "problem"]


@dataclass(frozen=True)
class Finding:
    """One result of a check."""

    where: str
    """The setting, with dots between its parts, the file, or what was looked at, in a word or two."""

    found: str
    """What is there."""

    remedy: str = ""
    """What to do; empty where nothing has to be done or `found` says it."""

    level: Level = "problem"
    """`ok`; `warning`: works, with a drawback; `problem`: something will fail."""

    variable: str = ""
    """The environment variable that is not set, where that is what was found."""

    def __str__(self) -> str:
        return f"{self.where}: {self.found}" + (f"\n     {self.remedy}" if self.remedy else "")


def merge_stages(problems: Sequence[Finding], stages: Sequence[str]) -> list[Finding]:
    """Problems of RL stages (`rl.stages.NAME…`), given once, for the shared recipe, where every stage has the same."""
    told: list[Finding] = []
    for problem in problems:
        _, _, setting = problem.where.removeprefix("rl.stages.").partition(".")
        same = [replace(problem, where=f"rl.stages.{other}.{setting}") for other in stages]
        if len(stages) > 1 and setting and all(one in problems for one in same):
            problem = replace(problem, where=f"rl.{setting}")
        if problem not in told:
            told.append(problem)
    return told


def format_findings(problems: Iterable[Finding]) -> str:
    """All problems as one message, numbered."""
    numbered = [f"  {number}. {problem}" for number, problem in enumerate(problems, start=1)]
    count = "1 problem" if len(numbered) == 1 else f"{len(numbered)} problems"
    return "\n".join([f"{count} found before the start; nothing ran, and every output is as it was", *numbered])


def find_nearest_file(path: Path) -> str:
    """`did you mean X? ` with the file beside `path` whose name is nearest, or what of its folders is missing."""
    above = next((folder for folder in path.parents if folder.is_dir()), None)
    if above is None:
        return ""
    if above != path.parent:
        return f"there is no folder {above / path.relative_to(above).parts[0]}; "
    try:
        return did_you_mean(path.name, sorted(other.name for other in above.iterdir()))
    except OSError:
        return ""
