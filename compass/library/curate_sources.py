"""How `compass curate` reads its files: by a parameter file, or guessed; and the guess as a file to edit."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from compass.library.curate_stages import CurateSettings
    from compass.settings import Source


def print_error(line: str) -> None:
    """Print a line on standard error."""
    print(line, file=sys.stderr)


def source_settings(
    paths: Sequence[Path],
    known: Sequence[Source] = (),
    *,
    skip: bool = False,
    questions: list[str] | None = None,
    named: Mapping[str, str] | None = None,
    say: Callable[[str], None] = print_error,
) -> list[Source]:
    """How to read files: as a parameter file's source of the same file name says, else guessed.

    What was guessed is said with its evidence. All files are looked at before the first that cannot be read is an error.

    Args:
        paths: the files.
        known: a parameter file's sources.
        skip: a file that cannot be read is left out and reported.
        questions: receives what would be an error, for `ask` to raise later.
        named: fields by their setting (`problem_field`, …), which are not guessed in the files that have them.
        say: receives the evidence and warnings.

    Raises:
        SourceError: files cannot be read, their fields cannot be guessed, no file is left, or two sources have one name.
    """
    from compass.sources.read import SourceError
    from compass.sources.recognise import described, present, read_as

    by_file = {Path(source.path).name: source for source in known if source.path}
    sources, asked = [], [] if questions is None else questions
    for path in paths:
        if path.name in by_file:
            sources.append(by_file[path.name].model_copy(update={"path": str(path)}))
            continue
        try:
            source, evidence = described(path) if named is None else read_as(path, present(path, named))
        except SourceError as error:
            if skip:
                say(f"curate: warning: skipped: {error}")
            else:
                asked.append(str(error))
            continue
        sources.append(source)
        say("\n".join(evidence))
    if questions is None:
        ask(asked)
    if not sources and not asked:
        raise SourceError(f"none of the {len(paths)} sources can be read; the warnings above say why")
    names = [source.name for source in sources]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        where = ", ".join(source.path for source in sources if source.name == twice[0])
        raise SourceError(f"two sources are called {twice[0]!r}: {where}; rename a file")
    return sources


def ask(questions: Sequence[str]) -> None:
    """Say all at once what cannot be read without the user.

    Raises:
        SourceError: there is something.
    """
    from compass.sources.read import SourceError

    if len(questions) == 1:
        raise SourceError(questions[0])
    if questions:
        listed = "".join(f"\n{number}. {question}" for number, question in enumerate(questions, 1))
        raise SourceError(f"{len(questions)} files cannot be read without you:{listed}")


def write_params(path: Path, settings: CurateSettings) -> None:
    """Write how the sources and benchmarks are read, and every setting of the later stages, as a parameter file for `--params`.

    Raises:
        UserError: the file is there already, or cannot be written.
    """
    import yaml

    from compass.library.output_folder import check_file
    from compass.sources.read import SourceError

    if path.exists():
        raise SourceError(f"{path}: is there already; give another name with --write-params")
    check_file(path, "--write-params")
    read = {
        kind: [source.model_dump(exclude_defaults=True) for source in getattr(settings.collect, kind)]
        for kind in ("sources", "benchmarks")
    }
    stages = {
        name: getattr(settings, name).model_dump(mode="json") for name in ("curation", "dedup", "denoise", "verify")
    }
    path.write_text(yaml.safe_dump({"collect": read, **stages}, sort_keys=False, allow_unicode=True), encoding="utf-8")
    print(f"wrote {path}: edit it, then: compass curate --params {path}")
