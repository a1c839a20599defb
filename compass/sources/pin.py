"""Pin the hub datasets of a parameter file to the commits that their branches name now.

    python -m compass.sources.pin profiles/paper.yaml

Rewrites every `revision:` of `collect` that names a branch or tag; comments and layout stay. Needs the network.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from compass.files import write_text
from compass.settings import SettingsError, load_settings
from compass.settings.section import is_commit
from compass.sources.hub import resolve_commit
from compass.sources.read import SourceError


def pin(path: Path) -> dict[str, str]:
    """Write commits in place of the moving revisions of a parameter file; returns commit by hub id.

    Raises:
        SettingsError: the file is not a parameter file.
        SourceError: the hub cannot be reached, or `hub` and `revision` of a source do not stand together in the file.
    """
    collect = load_settings(path).collect
    moving = {s.hub: s.revision for s in (*collect.sources, *collect.benchmarks) if s.hub and not is_commit(s.revision)}
    commits = {hub: resolve_commit(hub, revision) for hub, revision in moving.items()}
    text = path.read_text(encoding="utf-8")
    for hub, commit in commits.items():
        entry = rf"(hub:\s*[\"']?{re.escape(hub)}[\"']?\s*,?\s+revision:\s*[\"']?){re.escape(moving[hub])}\b"
        text, changed = re.subn(entry, rf"\g<1>{commit}", text)
        if not changed:
            raise SourceError(
                f"{path}: write `revision: {moving[hub]}` right behind `hub: {hub}`, so that it can be pinned"
            )
    write_text(path, text)
    return commits


def main(arguments: list[str]) -> None:
    """Pin each file named on the command line."""
    if not arguments:
        sys.exit("usage: python -m compass.sources.pin PARAMETER_FILE...")
    for name in arguments:
        try:
            for hub, commit in pin(Path(name)).items():
                print(f"{name}: {hub} -> {commit}")
        except (SettingsError, SourceError) as error:
            sys.exit(f"pin: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
