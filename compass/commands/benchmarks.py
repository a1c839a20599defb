"""`compass benchmarks` lists the benchmarks that are known by name: whether each is here and the published set, and how to get it."""

from __future__ import annotations

import json as json_lines
import os
import textwrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from compass.evaluation.known_benchmarks import KnownBenchmark


def benchmarks(names: list[str] | None = None, /, *, json: bool = False) -> int:
    """List the known benchmarks: which are here, and how to get the others.

    Exit status: 1 if a benchmark that is here is not the published set, or one that is asked for by name is missing.

    Args:
        names: only these, with their rules, licence and citation.
        json: print JSON.

    Raises:
        BenchmarkError: a name is not known.

    Examples:
        compass benchmarks                          every benchmark, and whether it is here
        compass benchmarks math-500 aime-2024       two of them, with rules, licence and citation
        compass benchmarks --json                   the same for a script
    """
    names = names or []
    from compass.evaluation.benchmarks import BENCHMARKS, find

    chosen = [find(name) for name in names] or list(BENCHMARKS.values())
    facts = [describe(known) for known in chosen]
    if json:
        print(json_lines.dumps(facts, indent=2, ensure_ascii=False))
    else:
        folder = os.environ.get("COMPASS_DATA")
        missing = "" if not folder or os.path.isdir(folder) else ", which is no folder"
        print(
            f"COMPASS_DATA is {folder}{missing}"
            if folder
            else "COMPASS_DATA is not set: no local file is seen; the hub is used"
        )
        for known, fact in zip(chosen, facts, strict=True):
            print(_shown(known, fact, whole=bool(names)))
    states = {fact["state"] for fact in facts}
    return int("wrong" in states or (bool(names) and "missing" in states))


def describe(known: KnownBenchmark) -> dict[str, Any]:
    """The facts of a benchmark: where it was looked for, what was found there, and how to get it.

    Returns:
        `name`, `rows` (expected), `state` (`here`, `here, not hashed before`, `wrong`, `missing`), `where` (the copy that is read, the
        hub's if none is here), `found` (problems) and `sha256` of a copy that is here, `problem` (what is wrong with it), `looked` and `get`.
    """
    from compass.errors import UserError
    from compass.evaluation.benchmarks import SAME, check_benchmark, how_to_get, places
    from compass.settings import Benchmark, Collect
    from compass.sources.collect import collect_benchmarks

    looked = places(known)
    place = next((place for place in looked if place.here is not False), looked[0])
    fact: dict[str, Any] = {
        "name": known.name,
        "rows": known.rows,
        "state": "missing",
        "where": place.address,
        "found": None,
        "sha256": None,
        "problem": None,
        "looked": [place.address for place in looked],
        "get": how_to_get(known),
        "licence": known.licence,
        "rules": known.rules,
        "citation": known.citation,
        "published": known.published,
        "overlaps": known.overlaps,
    }
    if not place.here:
        return fact
    try:
        records = collect_benchmarks([place.source], Collect(sources=[], benchmarks=[])).kept
        checked = check_benchmark(Benchmark(name=known.name), records)
    except UserError as error:
        return fact | {"state": "wrong", "problem": str(error)}
    state = "here" if checked["copy"] == SAME else "here, not hashed before"
    return fact | {"state": state, "found": checked["rows"], "sha256": checked["sha256"]}


def _shown(known: KnownBenchmark, fact: dict[str, Any], *, whole: bool) -> str:
    state = f"{fact['state']}: {fact['where']}"
    if fact["state"] == "missing":
        on_hub = any(copy.source.hub for copy in known.copies)
        state = (
            f"not here, {'read from' if on_hub else 'looked for'} {fact['where']}{' when it is first used' * on_hub}"
        )
    lines = [f"{known.name:19} {known.rows:>5,} problems   {state}"]
    if fact["problem"]:
        lines.append(fact["problem"])
    if fact["sha256"]:
        lines.append(f"content hash {fact['sha256']}" + (", the published one" if fact["state"] == "here" else ""))
    if whole or fact["state"] != "here":
        lines.append(f"get it: {fact['get']}")
    if whole:
        lines += [f"looked for: {place}" for place in fact["looked"]]
        lines += [
            f"{name}: {fact[name]}" for name in ("published", "rules", "overlaps", "licence", "citation") if fact[name]
        ]
    return textwrap.indent("\n".join(lines), "    ").removeprefix("    ")
