"""Change one small thing in the code and see whether the fast tests notice: how much the tests pin down.

    python benchmarks/mutation.py --seed 1 --count 200
    python benchmarks/mutation.py --seed 1 --count 60 --path compass/grading --scope folder

Draws a seeded sample of the mutations of benchmarks/mutants.py (the same seed on the same code gives the same sample) and runs, in a
scratch copy of the working tree, the fast tests that run the changed function: with `--scope folder` those in the folder of tests that
mirrors the file, else all, those of the folder first. Which test file runs which function is found once with coverage, child processes
included, and kept in work/mutation/coverage.json; after an edit only changed test files are measured again. A function that no
measurement saw, and code that runs on import, is tested by every test file that imports the file.

Mutants are made by mutmut's operators, but not run by mutmut (3.8.1): it changes nothing outside of functions and no decorated
function, where tables of words, settings and properties stand (9% of the mutations of `compass`); it does not see which functions a
child process runs, and takes these for untested; its rewritten files fail the tests of the source itself, such as those on imports
and dependencies; and it draws no sample of its 1.4 mutants per line.

A mutant is noticed when a test fails; a run past its time limit, or past 8 GiB of memory, is noticed too, and marked `hang`.
Survivors that change nothing are named in benchmarks/equivalent_mutants.yaml (file, before, after, why) and marked `equivalent`.
Ends with a table by folder; OUT is JSON. A run that was killed continues when called again with the same arguments and unchanged files.
"""

import argparse
import concurrent.futures
import contextlib
import hashlib
import json
import os
import queue
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import mutants
import yaml
from coverage import CoverageData
from tqdm import tqdm

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "work" / "mutation"
EQUIVALENTS = Path(__file__).with_name("equivalent_mutants.yaml")
PACKAGES = ("compass", "flows", "stages")
MEMORY = 8 << 30
PYTEST = ["-m", "pytest", "-m", "not slow", "-q", "-x", "-p", "no:cacheprovider", "--assert=plain", "--tb=no", "-rfE"]
COVERAGE = """
[run]
source = {sources}
parallel = true
data_file = {data}
patch = subprocess
sigterm = true
disable_warnings = no-data-collected,module-not-measured,module-not-imported,couldnt-parse,no-sysmon
"""


class Copy:
    """A scratch copy of the working tree, git's ignored files left out, that subprocesses of the tests import as well."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "house"
        for name in _files():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.root / name)
        for words in (["init", "-q"], ["add", "-A"]):  # some tests ask git for the files of the repository
            subprocess.run(["git", *words], cwd=self.root, check=True)
        # Checked by content: a mutant of the same size within the same second must not run the old bytecode.
        compiling = ["-m", "compileall", "-q", "--invalidation-mode", "checked-hash", *PACKAGES]
        subprocess.run([sys.executable, *compiling], cwd=self.root, check=False)
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV"))},
            "PYTHONPATH": str(self.root),
            "PYTHONDONTWRITEBYTECODE": "1",
            "OMP_WAIT_POLICY": "PASSIVE",  # as in the Makefile: waiting threads must not spin beside other workers
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # starting takes half as long
        }

    def test(self, files: list[str], limit: float, prefix: tuple[str, ...] = ()) -> tuple[str, str]:
        """Runs test files in this order: ("passed" | "failed" | "hang", the first failed test or pytest's last line)."""
        command = [sys.executable, *prefix, *PYTEST, f"--basetemp={self.root.parent}/t", *files]
        process = subprocess.Popen(
            command,
            cwd=self.root,
            env=self.environment,
            start_new_session=True,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        resource.prlimit(process.pid, resource.RLIMIT_DATA, (MEMORY, MEMORY))
        try:
            output, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            return "hang", f"ran past {limit:.0f} s"
        finally:
            _end(process)
        lines = output.strip().splitlines() or ["no output"]
        failed = [line.split(" - ")[0] for line in lines if line.startswith(("FAILED ", "ERROR "))]
        if process.returncode in (0, 5):  # 5: every test of the file is slow
            return "passed", lines[-1]
        return "failed", failed[0].split(" ", 1)[1] if failed else lines[-1]


def _end(process: subprocess.Popen) -> None:
    """Ends the process and what it started; a mutant may leave children that hang."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _files() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    return sorted(name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file())


def _digest(names: list[str]) -> str:
    made = hashlib.sha256()
    for name in names:
        made.update(name.encode() + b"\0" + (ROOT / name).read_bytes() + b"\0")
    return made.hexdigest()[:16]


Item = TypeVar("Item")


def share(
    items: list[Item], copies: list[Copy], work: Callable[[Item, Copy], dict], what: str, unit: str
) -> Iterator[tuple[Item, dict]]:
    """(item, its result) as each is done, with one worker per copy and a bar that shows the time left."""
    free: queue.Queue[Copy] = queue.Queue()
    for copy in copies:
        free.put(copy)

    def one(item: Item) -> dict:
        copy = free.get()
        try:
            return work(item, copy)
        finally:
            free.put(copy)

    pool = concurrent.futures.ThreadPoolExecutor(len(copies))
    try:
        waiting = {pool.submit(one, item): item for item in items}
        for done in tqdm(
            concurrent.futures.as_completed(waiting), what, total=len(items), unit=unit, disable=not items
        ):
            yield waiting[done], done.result()
    finally:
        pool.shutdown(cancel_futures=True)


class CoverageMap:
    """Which test files run which functions: {test file: {"digest", "seconds", "runs": {source: [function, ...]}}}."""

    def __init__(self) -> None:
        self.path = WORK / "coverage.json"
        self.entries = self._read()

    def _read(self) -> dict[str, dict]:
        return json.loads(self.path.read_text()) if self.path.exists() else {}

    def measure(self, tests: list[str], copies: list[Copy]) -> None:
        """Measures the test files that changed, or that ran a file which is no more; all must pass on the unchanged code."""
        support = [name for name in _files() if name.startswith("tests/") and name.endswith("conftest.py")]
        digests = {test: _digest([test, *support]) for test in tests}
        stale = [test for test in tests if not self._is_fresh(test, digests[test])]
        measured = share(stale, copies, self._measure, "what each test file runs", "file")
        for test, entry in measured:
            self.entries = self._read() | {test: {"digest": digests[test], **entry}}  # another run may have added to it
            WORK.mkdir(parents=True, exist_ok=True)
            self.path.write_text(json.dumps(self.entries))

    def _measure(self, test: str, copy: Copy) -> dict:
        data = copy.root.parent / "coverage"
        shutil.rmtree(data, ignore_errors=True)
        data.mkdir()
        settings = data / "rc"
        settings.write_text(COVERAGE.format(sources=",".join(PACKAGES), data=data / "data"))
        for _ in range(2):  # once more where a busy machine was too slow for a test with a deadline
            begun = time.monotonic()
            outcome, last = copy.test([test], 1200, ("-m", "coverage", "run", f"--rcfile={settings}"))
            if outcome == "passed":
                return {"seconds": time.monotonic() - begun, "runs": _functions_run(data, copy.root)}
        raise SystemExit(f"{test} does not pass on unchanged code: {last}")

    def _is_fresh(self, test: str, digest: str) -> bool:
        entry = self.entries.get(test)
        return entry is not None and entry["digest"] == digest and all((ROOT / file).exists() for file in entry["runs"])

    def tests_of(self, file: str, function: str, tests: list[str]) -> list[str]:
        """The tests among `tests` that run `function` of `file`, or that import the file where no measurement tells."""
        importing = [test for test in tests if file in self.entries[test]["runs"]]
        running = [test for test in importing if function in self.entries[test]["runs"][file]]
        return running if function and running else importing

    def limit(self, tests: list[str]) -> float:
        return 40 + 4 * sum(self.entries[test]["seconds"] for test in tests)


def _functions_run(data: Path, root: Path) -> dict[str, list[str]]:
    lines: dict[str, set[int]] = defaultdict(set)
    for path in data.glob("data*"):
        read = CoverageData(basename=str(path))
        read.read()
        for file in read.measured_files():
            if file.startswith(f"{root}/") and file.endswith(".py"):  # not the templates of pages
                lines[file.removeprefix(f"{root}/")].update(read.lines(file) or [])
    return {
        file: sorted({mutants.function_at((root / file).read_text(), line) for line in seen})
        for file, seen in lines.items()
        if seen or not (root / file).read_text().strip()
    }


def mirrors(file: str, tests: list[str]) -> list[str]:
    """The test files in the folder that mirrors `file`'s package, the one of the same name first."""
    parts = Path(file).with_suffix("").parts
    inside = parts[1:] if parts[0] == "compass" else parts
    name = f"test_{inside[-1]}.py"
    chosen = [test for test in tests if test.startswith(f"tests/{inside[0]}/") or Path(test).name == name]
    return sorted(chosen, key=lambda test: Path(test).name != name)


def draw(paths: list[str], seed: int, count: int) -> list[mutants.Mutant]:
    """A seeded sample without repetition; fewer where there are not as many."""
    inside = [name for name in _files() if any(Path(name).is_relative_to(path.rstrip("/")) for path in paths)]
    files = [name for name in inside if name.endswith(".py") and name.startswith(PACKAGES)]
    if not files:
        sys.exit(f"no Python file of {', '.join(PACKAGES)} is in {' '.join(paths)}")
    mutations = [mutants.Mutations(name, (ROOT / name).read_text()) for name in tqdm(files, "mutations", unit="file")]
    places = [(mutation, number) for mutation in mutations for number in range(len(mutation))]
    random.Random(seed).shuffle(places)
    sample = []
    for mutation, number in places:
        if len(sample) == count:
            break
        if mutant := mutation.make(number):
            sample.append(mutant)
    print(f"{len(sample)} of {len(places)} mutations, seed {seed}")
    return sample


def judge(mutant: mutants.Mutant, copy: Copy, coverage: CoverageMap, tests: list[str], scope: str) -> dict:
    """Runs the tests on one mutant: a row of the result."""
    begun = time.monotonic()
    original = (copy.root / mutant.file).read_text()
    function = mutants.function_at(original, mutant.line)
    near = mirrors(mutant.file, tests)
    chosen = coverage.tests_of(mutant.file, function, near if scope == "folder" else tests)
    chosen.sort(key=lambda test: (test not in near[:1], test not in near, coverage.entries[test]["seconds"]))
    outcome, by = "survived", "no test runs it"
    if chosen:
        (copy.root / mutant.file).write_text(mutant.code)
        try:
            result, by = copy.test(chosen, coverage.limit(chosen))
        finally:
            (copy.root / mutant.file).write_text(original)
        outcome = {"passed": "survived", "failed": "noticed"}.get(result, result)
    row = {"file": mutant.file, "line": mutant.line, "function": function, "operator": mutant.operator}
    row |= {"before": mutant.before, "after": mutant.after, "outcome": outcome, "by": by}
    return row | {"seconds": round(time.monotonic() - begun, 1)}


def run(
    sample: list[mutants.Mutant], coverage: CoverageMap, tests: list[str], copies: list[Copy], scope: str, journal: Path
) -> list[dict]:
    """Judges the sample with one worker per copy; rows already in `journal` are kept."""
    known = (
        {row["number"]: row for row in map(json.loads, journal.read_text().splitlines())} if journal.exists() else {}
    )
    rest = [(number, mutant) for number, mutant in enumerate(sample) if number not in known]
    judged = share(rest, copies, lambda one, copy: judge(one[1], copy, coverage, tests, scope), "mutants", "mutant")
    for (number, _), row in judged:
        known[number] = {"number": number, **row}
        with journal.open("a") as file:
            file.write(json.dumps(known[number]) + "\n")
    return [known[number] for number in range(len(sample))]


def name_equivalents(rows: list[dict]) -> None:
    """Marks the survivors that benchmarks/equivalent_mutants.yaml explains."""
    reasons = {
        (one["file"], one["before"], one["after"]): one["why"] for one in yaml.safe_load(EQUIVALENTS.read_text())
    }
    for row in rows:
        why = reasons.get((row["file"], row["before"], row["after"]))
        if why and row["outcome"] == "survived":
            row |= {"outcome": "equivalent", "by": why}


def summary(rows: list[dict]) -> dict[str, Counter]:
    """Outcomes by folder, with all rows under "all" at the end."""
    folders: dict[str, Counter] = defaultdict(Counter)
    for row in sorted(rows, key=lambda row: row["file"]):
        parts = Path(row["file"]).parts
        folders["/".join(parts[: 2 if len(parts) > 2 else 1])][row["outcome"]] += 1
    return {**folders, "all": sum(folders.values(), Counter())}


def show(rows: list[dict]) -> None:
    """Prints the survivors and the table by folder."""
    for row in rows:
        if row["outcome"] == "survived":
            print(f"{row['file']}:{row['line']} {row['function']} ({row['operator']}) {row['by']}")
            print(f"  - {row['before']}\n  + {row['after']}")
    print(f"\n{'folder':24}{'mutants':>8}{'noticed':>9}{'':>6}{'hang':>6}{'equivalent':>12}{'survived':>10}")
    for folder, counts in summary(rows).items():
        noticed = counts["noticed"] + counts["hang"]
        share = f"{noticed / counts.total():.0%}"
        kinds = f"{counts['hang']:6}{counts['equivalent']:12}{counts['survived']:10}"
        print(f"{folder:24}{counts.total():8}{noticed:9}{share:>6}{kinds}")


def main() -> None:
    """Draws, judges and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=200, help="mutants in the sample (default %(default)s)")
    parser.add_argument("--path", nargs="+", default=["compass"], help="files or folders to change (default: compass)")
    parser.add_argument("--scope", choices=("all", "folder"), default="all", help="the tests that may notice")
    parser.add_argument("--jobs", type=int, default=2, help="mutants tested at the same time (default %(default)s)")
    parser.add_argument("--out", type=Path, help="default work/mutation/SEED-COUNT-PATH-SCOPE.json")
    given = parser.parse_args()

    sample = draw(given.path, given.seed, given.count)
    name = f"{given.seed}-{given.count}-{'-'.join(given.path).replace('/', '-')}-{given.scope}"
    out, journal = given.out or WORK / f"{name}.json", WORK / f"{name}.{_digest(_files())}.jsonl"
    tests = [name for name in _files() if name.startswith("tests/") and Path(name).match("test_*.py")]
    if given.scope == "folder":
        wanted = {test for mutant in sample for test in mirrors(mutant.file, tests)}
        tests = [test for test in tests if test in wanted]
    WORK.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="mutation-", ignore_cleanup_errors=True) as scratch:
        folders = [Path(scratch) / str(number) for number in range(max(1, min(given.jobs, len(sample))))]
        copies = [Copy(folder) for folder in folders]
        coverage = CoverageMap()
        coverage.measure(tests, copies)
        rows = run(sample, coverage, tests, copies, given.scope, journal)
    name_equivalents(rows)
    command = "python benchmarks/mutation.py " + " ".join(sys.argv[1:])
    result = {"command": command, "by_folder": summary(rows), "mutants": rows}
    out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    show(rows)
    print(f"\n{out}")


if __name__ == "__main__":
    main()
