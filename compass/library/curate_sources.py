"""How `compass curate` reads its files: by a parameter file, or guessed; and the guess as a file to edit."""

from __future__ import annotations

import os
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
    """How to read files: as a parameter file's sources of the same file say, else guessed.

    A file is a source's own where their paths are the same, else where no source has its path and one file alone has its name.

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

    sources, asked = [], [] if questions is None else questions
    for path in paths:
        if entries := _find_entries(path, known):
            if len({entry.path for entry in entries}) > 1:
                listed = ", ".join(f"{entry.name} ({entry.path})" for entry in entries)
                asked.append(f"{path}: several sources of --params have files of this name: {listed}; give one's path")
            else:
                sources += [entry.model_copy(update={"path": str(path)}) for entry in entries]
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
        raise SourceError("no source can be read; the warnings above say why")
    names = [source.name for source in sources]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        where = ", ".join(source.path for source in sources if source.name == twice[0])
        raise SourceError(f"two sources are called {twice[0]!r}: {where}; rename a file")
    return sources


def _find_entries(path: Path, known: Sequence[Source]) -> list[Source]:
    """The sources of a parameter file that read a file: those of its path, else those of its name."""
    from compass.sources.remote import path_or_url

    filled = [(path_or_url(os.path.expandvars(source.path)), source) for source in known if source.path]
    same = [source for file, source in filled if _whole(file) == _whole(path)]
    return same or [source for file, source in filled if file.name == path.name]


def _whole(path: Path) -> str:
    return str(path.expanduser().resolve() if isinstance(path, Path) else path)


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
    """Write how the sources and benchmarks are read, and every setting of the stages, as a parameter file for `--params`.

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
    limits = settings.collect.model_dump(mode="json", exclude={"generate", *read})
    written = {"collect": {**read, **limits}, **stages}
    path.write_text(yaml.safe_dump(written, sort_keys=False, allow_unicode=True), encoding="utf-8")
    print(f"wrote {path}: edit it, then: compass curate --params {path}")
