"""The licence of every locked package, as its own metadata names it: python requirements/licences.py [cpu|gpu]

A package's metadata is read where it is installed; of one that is not, nothing is known, and it is counted at the end.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from importlib.metadata import PackageMetadata, PackageNotFoundError, metadata
from pathlib import Path

LONGEST = 60
"""Characters of a licence; some packages put its whole text into the field for its name."""

ABSENT, UNKNOWN = "not installed here", "not named"


def locked_packages(lock: Path) -> list[tuple[str, str]]:
    """Name and version of every package of a lock file."""
    return re.findall(r"^([\w.-]+)==(\S+)", lock.read_text(encoding="utf-8"), re.MULTILINE)


def read_licence(found: PackageMetadata) -> str:
    """The licence that a package names: its SPDX expression, else its classifiers, else the first line of its field `License`."""
    if expression := found.get("License-Expression"):
        return expression
    classifiers = [
        one.rpartition(" :: ")[2] for one in found.get_all("Classifier") or [] if one.startswith("License ::")
    ]
    named = [one for one in classifiers if one != "OSI Approved"]
    if named:
        return ", ".join(named)
    text = (found.get("License") or "").strip()
    return text.splitlines()[0][:LONGEST] if text else UNKNOWN


def main(device: str = "cpu") -> None:
    """Print a line per package, and how often each licence occurs."""
    licences = {}
    for name, version in locked_packages(Path(__file__).with_name(f"{device}.txt")):
        try:
            licences[name, version] = read_licence(metadata(name))
        except PackageNotFoundError:
            licences[name, version] = ABSENT
    for (name, version), licence in licences.items():
        print(f"{name:36} {version:20} {licence}")
    print()
    for licence, count in Counter(licences.values()).most_common():
        print(f"{count:4} {licence}")


if __name__ == "__main__":
    main(*sys.argv[1:])
