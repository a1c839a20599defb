"""`compass data`: public data sets and benchmarks, downloaded to where profiles look for them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cyclopts import App

from compass.errors import UserError, did_you_mean

if TYPE_CHECKING:
    from compass.settings import Source

app = App(name="data", help="Download public data sets and benchmarks to where profiles look for them.")


class DataError(UserError):
    """A name that stands for no data, or a folder that is not given; the message says what to do."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Something to get: how it is called, its licence, where it goes, and what brings it there; `path` is None for the hub's own cache."""

    name: str
    licence: str
    path: Path | None
    get: Callable[[], object]


@app.command
def get(names: list[str], /, *, out: Path | None = None, mirror: str = "") -> int:
    """Download data sets and benchmarks, or all that a profile reads.

    A download that was cut off goes on where it was. Each file is checked by its size and SHA-256, a benchmark by its content; one that is
    here already is left as it is. Read each licence before you publish what you train on it.

    Exit status: 1 if something could not be had; the rest is there.

    Args:
        names: a profile or parameter file (all that it reads), or names that `compass data list` lists.
        out: the folder (without it, $COMPASS_DATA).
        mirror: a folder or URL that has the files by host and path, as `wget --mirror` leaves them.

    Raises:
        UserError: a name is not known, or there is no folder.

    Examples:
        compass data get small                          all that the profile reads and is not here
        compass data get gsm8k-train math-500 --out data-sets   a set and a benchmark, into a folder
        compass data get small --mirror /path/to/mirror         from files that lie on this machine
    """
    from compass.commands.progress import draw_progress

    folder = _folder(out)
    failed = 0
    found: list[Wanted] = []
    for name in dict.fromkeys(names):
        found += find_wanted(name, folder, mirror)
    for one in {one.name: one for one in found}.values():
        try:
            if one.path is not None and one.path.exists():
                print(f"{one.name}: is here, {one.path}")
                continue
            with draw_progress(one.name):
                one.get()
            where = f"{one.path} ({one.path.stat().st_size / 1e6:.1f} MB)" if one.path else "the hub's cache"
            print(f"{one.name}: {where}; licence: {one.licence}")
        except UserError as error:
            failed += 1
            print(f"{one.name}: {error}", file=sys.stderr)
    if out is not None or not os.environ.get("COMPASS_DATA"):
        print(f"export COMPASS_DATA={folder.resolve()}")
    return int(failed > 0)


@app.command(name="list")
def list_(*, json: bool = False) -> int:
    """List what can be downloaded: name, rows, size, licence, and whether it is here.

    Args:
        json: print a list of objects.

    Examples:
        compass data list
    """
    import json as json_lines

    from compass.evaluation.known_benchmarks import KNOWN_BENCHMARKS
    from compass.sources.published_files import PUBLISHED_SETS

    folder = Path(os.environ.get("COMPASS_DATA") or os.devnull)
    rows = [
        {
            "name": one.name,
            "kind": "training",
            "rows": one.rows,
            "bytes": sum(file.size for file in one.files),
            "licence": one.licence,
            "here": (folder / one.path).exists(),
        }
        for one in PUBLISHED_SETS
    ]
    rows += [
        {
            "name": known.name,
            "kind": "benchmark",
            "rows": known.rows,
            "bytes": None,
            "licence": known.licence,
            "here": any(path.exists() for path in _benchmark_files(known.name, folder)),
        }
        for known in KNOWN_BENCHMARKS
    ]
    if json:
        print(json_lines.dumps(rows, indent=2))
        return 0
    for row in rows:
        size = f"{row['bytes'] / 1e6:5.1f} MB" if row["bytes"] else f"{'':8}"
        print(
            f"{row['name']:20} {row['kind']:9} {row['rows']:>6,} rows {size}  {'here' if row['here'] else '-':4}  {row['licence']}"
        )
    return 0


def find_wanted(name: str, folder: Path, mirror: str) -> list[Wanted]:
    """What a name stands for: a profile's sources and benchmarks, a published set, or a benchmark.

    Raises:
        UserError: it stands for nothing, or the profile cannot be read.
    """
    from compass.evaluation.known_benchmarks import KNOWN_BENCHMARKS
    from compass.sources.published_files import PUBLISHED_SETS

    sets = {one.name: one for one in PUBLISHED_SETS}
    benchmarks = {known.name for known in KNOWN_BENCHMARKS}
    if name in sets:
        return [_of_set(name, folder, mirror)]
    if name in benchmarks:
        return [_of_benchmark(name, folder, mirror)]
    profile = Path(name) if name.endswith((".yaml", ".yml")) else Path("profiles") / f"{name}.yaml"
    if profile.is_file():
        return _of_profile(profile, folder, mirror)
    profiles = {path.stem for path in Path("profiles").glob("*.yaml")}
    near = did_you_mean(name, [*sets, *benchmarks, *profiles], "`compass data get {}`")
    raise DataError(f"no data set, benchmark or profile is called {name!r}; {near}`compass data list` lists them")


def _of_set(name: str, folder: Path, mirror: str) -> Wanted:
    from compass.sources.download import download_set
    from compass.sources.published_files import PUBLISHED_SETS

    (one,) = [one for one in PUBLISHED_SETS if one.name == name]
    return Wanted(name=name, licence=one.licence, path=folder / one.path, get=lambda: download_set(one, folder, mirror))


def _of_benchmark(name: str, folder: Path, mirror: str) -> Wanted:
    """A benchmark's first public copy whose content is known, else its first; one that is here in any copy is not got again."""
    from compass.evaluation.benchmarks import find

    known = find(name)
    here = [path for path in _benchmark_files(name, folder) if path.exists()]
    public = sorted((copy for copy in known.copies if copy.url), key=lambda copy: not copy.sha256)
    target = _below(folder, public[0].source.path or public[0].downloaded)

    def bring() -> None:
        from compass.evaluation.benchmarks import BenchmarkError, check_benchmark
        from compass.settings import Benchmark, Collect
        from compass.sources.collect import collect_benchmarks
        from compass.sources.download import download_file
        from compass.sources.published_files import Published

        copy = public[0]
        download_file(Published(copy.url), target, folder, mirror)
        source = copy.source.model_copy(update={"path": str(target), "hub": "", "revision": ""})
        try:
            records = collect_benchmarks([source], Collect(sources=[], benchmarks=[])).kept
            check_benchmark(Benchmark(name=name, path=str(target)), records)
        except UserError as error:
            target.unlink()
            detail = (
                str(error) if not isinstance(error, BenchmarkError) else str(error).partition(". Get the published")[0]
            )
            raise DataError(f"{copy.url}: is not the published set, and was not kept: {detail}") from None

    return Wanted(name=name, licence=known.licence, path=here[0] if here else target, get=bring)


def _of_profile(profile: Path, folder: Path, mirror: str) -> list[Wanted]:
    from compass.evaluation.known_benchmarks import KNOWN_BENCHMARKS
    from compass.settings import load_settings
    from compass.sources.published_files import PUBLISHED_SETS

    collect = load_settings(profile).collect
    by_path = {f"$COMPASS_DATA/{one.path}": one.name for one in PUBLISHED_SETS}
    known = {one.name for one in KNOWN_BENCHMARKS}
    found = []
    for source in [*collect.sources, *collect.benchmarks]:
        if source.path in by_path:
            found.append(_of_set(by_path[source.path], folder, mirror))
        elif source.hub:
            found.append(_of_hub(source))
        elif "$COMPASS_DATA" in source.path:
            found.append(_without_address(source, folder))
        elif not source.path and source.name in known:
            found.append(_of_benchmark(source.name, folder, mirror))
    if not found:
        print(f"{profile}: reads nothing that can be downloaded")
    return found


def _of_hub(source: Source) -> Wanted:
    """A dataset of the hub, whose own library keeps it in its cache."""

    def bring() -> None:
        from compass.sources.hub import hub_rows, resolve_commit

        if source.stream:
            raise DataError("is read from the hub as it is needed (`stream: true`), and not downloaded")
        next(hub_rows(source, resolve_commit(source.hub, source.revision)), None)

    return Wanted(name=source.name, licence=source.licence, path=None, get=bring)


def _without_address(source: Source, folder: Path) -> Wanted:
    def refuse() -> None:
        raise DataError(f"{source.path} has no public address here; docs/reference/sources.md says what the file holds")

    return Wanted(name=source.name, licence=source.licence, path=_below(folder, source.path), get=refuse)


def _benchmark_files(name: str, folder: Path) -> Sequence[Path]:
    """Where copies of a benchmark may lie, in the order in which they are looked for."""
    from compass.evaluation.benchmarks import find

    return [_below(folder, path) for copy in find(name).copies if (path := copy.source.path or copy.downloaded)]


def _below(folder: Path, path: str) -> Path:
    return folder / path.removeprefix("$COMPASS_DATA/")


def _folder(out: Path | None) -> Path:
    named = out or (Path(os.environ["COMPASS_DATA"]) if os.environ.get("COMPASS_DATA") else None)
    if named is None:
        raise DataError("COMPASS_DATA is not set; give --out FOLDER, or `export COMPASS_DATA=folder` first")
    if named.exists() and not named.is_dir():
        raise DataError(f"{named}: is a file; name a folder")
    return named
