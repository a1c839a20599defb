"""What `dvc exp show` and the `diff` commands show where the user chose nothing: a table that a terminal has room for."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

SETTINGS = r"(params\.yaml:)?(profile|seed|[a-z]+\..*)"
HASHES = "(compass|stages|data|models|metrics|reports)(/.*)?"
COLUMNS = ("--drop", f"^(Created|{SETTINGS}|{HASHES})$")
"""Without settings, since an experiment's name says what differs, and without the hashes of code and data."""

HEADLINE = Path("metrics/headline.json")
"""Its columns stay, whether they differ or not."""

OWN_COLUMNS = ("--only-changed", "--drop", "--keep", "--csv", "--json", "--param-deps")
DIFFS = ("metrics:diff", "params:diff", "plots:diff")


def with_defaults(verb: str, words: list[str], root: Path) -> list[str]:
    """The words of a command, with the defaults of this project where the user gave none of their kind."""
    if verb == "exp:show" and not any(word.split("=")[0] in OWN_COLUMNS for word in words):
        return [*words, *COLUMNS, "--keep", f"^({'|'.join(map(re.escape, _headline(root)))})$"]
    if verb in DIFFS and not _revisions(words) and (base := baseline(root)):
        print(f"dvc: compared with the experiment {base}; name others to compare those", file=sys.stderr)
        return [*words, base]
    return words


def _headline(root: Path) -> list[str]:
    try:
        return list(json.loads((root / HEADLINE).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return ["base"]


def baseline(root: Path) -> str | None:
    """The experiment that the workspace compares with: the newest but its own.

    None where the commit has a `dvc.lock`, which DVC itself compares with, or where there is no such experiment.
    """
    from flows.experiment import LATEST, experiments

    tracked = subprocess.run(["git", "-C", str(root), "cat-file", "-e", "HEAD:dvc.lock"], capture_output=True)
    if tracked.returncode == 0:
        return None
    own = (root / LATEST).read_text(encoding="utf-8").strip() if (root / LATEST).exists() else None
    return next((name for name in experiments(root) if name != own), None)


def _revisions(words: Sequence[str]) -> list[str]:
    """The revisions among the words: what is left without the command, options and their values."""
    after = list(words[list(words).index("diff") + 1 :])
    takes_value = {"--targets", "-t", "--template", "-o", "--out", "-x", "-y", "--title", "--x-label", "--y-label"}
    found, skip = [], False
    for word in after:
        if skip:
            skip = False
        elif word.startswith("-"):
            skip = word in takes_value
        else:
            found.append(word)
    return found
