"""The folder that `compass curate` writes: checked before a run, built beside it, and swapped in once it is whole; and single files, checked.

A run builds `OUT.partial`, names `OUT` `OUT.previous`, and takes its place. So `OUT` holds the last run that ended, whatever ends
this one; what a killed run leaves is removed by the next, which also gives a folder its name back that was killed between the two renames.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from compass.errors import UserError
from compass.locks import try_lock

PARTIAL, PREVIOUS = ".partial", ".previous"
"""What a run adds to the name of its folder while it builds it, and to the last run's while it takes its place."""

MARK, SUMMARY = "curate.json", "summary.json"
"""Written first and last, as `compass.report.outputs` reads them: a folder with the first is one of this command."""

_OWN = re.compile(
    r"(curate|croissant|summary)\.json|card[^/]*|(collect|dedup|denoise|verify|select)(/(kept|dropped|benchmarks)\.parquet)?|(.*/)?\.[^/]*\.part"
)


class OutputError(UserError):
    """A folder or file that cannot be written; the message names it, says what is in the way and what to do. Nothing was touched."""


def check_out(out: Path, inputs: Sequence[Path] = ()) -> None:
    """Refuse a folder that a run could not make, or whose content it did not write, before anything runs.

    Args:
        out: the folder to write.
        inputs: files and folders that the run reads.

    Raises:
        OutputError: see there.
    """
    place = _real(out)
    for path in inputs:
        read = Path(os.path.realpath(path))  # `resolve` raises for a circle of links
        if read == place or (place.is_dir() and place in read.parents) or (read.is_dir() and read in place.parents):
            raise OutputError(f"{out}: lies in {path}, which is read, or holds it; give a folder elsewhere with --out")
    _check_own(place, out)
    for suffix in (PARTIAL, PREVIOUS):
        _check_own(place.with_name(place.name + suffix), place.with_name(place.name + suffix))
    above = next(folder for folder in place.parents if os.path.lexists(folder))
    if not above.is_dir():
        raise OutputError(f"{out}: {above} is a file, so no folder can be made in it; give another folder with --out")
    if not os.access(above, os.W_OK | os.X_OK):
        raise OutputError(f"{out}: {above} may not be written; give another folder with --out")


def check_file(path: Path, option: str) -> None:
    """Refuse a file that could not be written, before anything is read.

    Args:
        path: the file.
        option: by which the user named it.

    Raises:
        OutputError: see there.
    """
    folder = path.absolute().parent
    if path.is_dir():
        raise OutputError(f"{option} {path}: is a folder; name a file")
    if not folder.is_dir():
        raise OutputError(f"{option} {path}: the folder {path.parent} does not exist; make it first")
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise OutputError(f"{option} {path}: cannot be written ({error.strerror}); give another file") from None


@contextmanager
def replacing(out: Path) -> Iterator[Path]:
    """An empty folder beside `out`, locked, that takes its place when the block ends; after an error it is removed.

    Args:
        out: the folder to write; checked with `check_out`.

    Raises:
        OutputError: as `check_out`; or another run is writing `out`.
    """
    check_out(out)
    place = _real(out)
    partial, previous = (place.with_name(place.name + suffix) for suffix in (PARTIAL, PREVIOUS))
    made = [folder for folder in place.parents if not folder.exists()]
    with ExitStack() as held:
        _lock(partial, out, held)
        _restore(previous, place)
        _remove(previous)
        _empty(partial)
        # Whoever finds the folder after a kill knows whose it is; the run's settings replace it.
        (partial / MARK).write_text("{}\n", encoding="utf-8")
        try:
            yield partial
            if place.exists():
                _lock(place, out, held)
            _swap(partial, place, previous)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            raise OutputError(f"{out}: the disk is full; free some space and run it again. It is as it was") from None
        finally:
            _restore(previous, place)
            for leftover in (partial, previous):
                _remove(leftover)
            for folder in made:
                if folder.exists() and not any(folder.iterdir()):
                    folder.rmdir()


def _real(out: Path) -> Path:
    """The folder itself, where `out` is a link to it."""
    if out.is_symlink() and not out.exists():
        raise OutputError(f"{out}: a link to {os.readlink(out)}, which is not there; remove it or give another folder")
    return Path(os.path.realpath(out))


def _check_own(folder: Path, shown: Path) -> None:
    """Raise unless the folder is absent, empty, or holds nothing but what this command writes."""
    if not os.path.lexists(folder):
        return
    if not folder.is_dir():
        raise OutputError(f"{shown}: is a file; give the name of a folder with --out")
    if os.path.ismount(folder) or folder == Path.cwd() or folder in Path.cwd().parents:
        what = "a mount point" if os.path.ismount(folder) else "the folder that this command runs in, or holds it"
        raise OutputError(f"{shown}: {what}, which cannot be replaced; give a folder inside it with --out")
    try:
        foreign = next(_foreign(folder), None)
    except PermissionError as error:
        raise OutputError(f"{error.filename}: may not be read; give another folder with --out") from None
    if foreign:
        raise OutputError(
            f"{shown / foreign}: not written by `compass curate`, which would replace {shown}; move it away, or give "
            "another folder with --out"
        )


def _foreign(folder: Path) -> Iterator[Path]:
    """What stands in a folder and is not of this command."""
    if not (folder / MARK).is_file():
        yield from (path.relative_to(folder) for path in sorted(folder.iterdir()))
        return
    try:
        listed = set(json.loads((folder / SUMMARY).read_text(encoding="utf-8"))["files"])
    except (OSError, ValueError, KeyError, TypeError):
        listed = set()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if name not in listed and not _OWN.fullmatch(name):
            yield Path(name)


def _lock(folder: Path, out: Path, held: ExitStack) -> None:
    """Hold the folder's lock until `held` is closed; the folder is made where it is absent."""
    while True:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"{folder}: cannot be made ({error.strerror}); give another folder with --out") from None
        try:
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            continue  # removed in between by the run that held it
        held.callback(os.close, handle)
        if not try_lock(handle):
            raise OutputError(
                f"{out}: another run of `compass curate` is writing it; wait for its end, or give another folder"
            )
        if folder.exists() and os.path.samestat(os.fstat(handle), folder.stat()):
            return


def _empty(folder: Path) -> None:
    """Remove what stands in a folder, its summary and its mark last: what a kill leaves of it is then still known as this command's."""
    for path in sorted(folder.iterdir(), key=lambda path: (path.name == MARK, path.name == SUMMARY)):
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def _remove(folder: Path) -> None:
    """Remove a folder that is of no use any more; one that cannot be removed stays, and the next run looks at it."""
    with suppress(OSError):
        _empty(folder)
        folder.rmdir()


def _restore(previous: Path, place: Path) -> None:
    """Give the last run's folder its name back where a run ended between the two renames of `_swap`."""
    if previous.exists() and not place.exists():
        previous.rename(place)


def _swap(partial: Path, place: Path, previous: Path) -> None:
    """Put the one folder in the other's place, which is named `previous` until then."""
    if place.exists() and any(place.iterdir()):
        place.rename(previous)
    partial.rename(place)
