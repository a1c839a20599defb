"""Every command that README.md, docs/ or a command's help shows is run, or named in a table with the reason why not.

`documented_commands.yaml` is that table. A page's commands run one after another in one folder, as a reader would run them.
`COMPASS_DEBUG_RUN` names a repository in which profile `debug` is finished, to start from a copy; without it the pipeline runs first.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
import yaml

from compass.cli import COMMANDS, build_app
from compass.command_help import examples
from tests.conftest import copy_of_the_repository

ROOT = Path(__file__).resolve().parents[1]
TABLE = yaml.safe_load((ROOT / "tests/documented_commands.yaml").read_text(encoding="utf-8"))
SHELL = ("bash", "console", "sh", "shell")
PROGRAM = re.compile(
    r"(?:\$ )?(?:[A-Z_]+=\S+ )*(?:compass|cp|docker|dvc|export|git|make|mkdocs|mlflow|pip|prefect|python|ray|source|ssh|uv) \S|(?:compass|dvc) *$"
)
OUTPUTS = ("data", "metrics", "models", "plots", "reports", "work", "dvc.lock", ".dvc/cache")
LONGEST_S = 1500


@dataclass(frozen=True)
class Documented:
    """One command line and where it stands."""

    page: str
    line: str

    def row(self, name: str) -> list | None:
        """The first row of a list of the table that is about this command."""
        for row in TABLE[name]:
            pattern, _, page = (row if isinstance(row, str) else row[0]).partition("::")
            if page in ("", self.page.rpartition("/")[2]) and re.search(pattern, self.line):
                return row if isinstance(row, list) else [row]
        return None

    @property
    def as_run(self) -> str:
        """The command with the test's files and ids in the place of the reader's."""
        line = self.line
        for pattern, instead in TABLE["stand_ins"]:
            line = re.sub(pattern, instead, line)
        return line


def shell_lines(text: str) -> Iterator[str]:
    """The command lines of a page: of fenced shell blocks, and of indented ones that begin with a program."""
    text = re.sub(r" \\\n\s*", " ", text)  # a command over several lines
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        if language in SHELL:
            yield from block.splitlines()
    plain = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    yield from re.findall(r"^(?: {4,}|\t)(.+)$", plain, re.MULTILINE)


def documented() -> list[Documented]:
    """Every command of the pages, and of the examples in help."""
    found = []
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for line in shell_lines(path.read_text(encoding="utf-8")):
            command = re.split(r"\s+# ", line.strip())[0].strip().removeprefix("$ ")
            if PROGRAM.match(command) and not re.search(r"^\S+ {4,}", command):  # a tree of files looks alike
                found.append(Documented(path.relative_to(ROOT).as_posix(), command))
    app = build_app()
    for name in COMMANDS:
        for one in (app[name], *(app[name][key] for key in app[name] if not key.startswith("-"))):
            for line in examples(one.default_command).splitlines():
                if line.strip():
                    found.append(Documented(f"compass {name} --help", re.split(r"\s{2,}", line.strip())[0]))
    return list(dict.fromkeys(found))


ALL = documented()
RUN = [one for one in ALL if not one.row("not_run")]
FAST = [one for one in RUN if one.row("fast")]
PAGES = sorted({one.page for one in RUN if not one.row("fast")})


def test_the_commands_are_found() -> None:
    lines = {one.line for one in ALL}
    assert {"make pipeline", "compass run", "dvc exp show", 'compass verify "1/2" "0.5"'} <= lines
    assert {one.page for one in ALL} >= {
        "README.md",
        "docs/guides/own_data.md",
        "docs/reference/rl.md",
        "compass why --help",
    }
    assert set(COMMANDS) <= {one.line.split()[1] for one in ALL if one.line.startswith("compass ")} | {"completion"}


def test_no_reason_for_not_running_is_about_nothing() -> None:
    for row in TABLE["not_run"]:
        assert any(one.row("not_run") == row for one in ALL), f"{row}: no page has such a command; remove the row"
        assert len(row[-1]) > 10, f"{row}: needs a reason"


def readers_copy(folder: Path) -> Path:
    """A copy of the repository with what stands for the reader's files."""
    write_readers_files(copy_of_the_repository(folder))
    (folder / ".ready").touch()
    return folder


def write_readers_files(folder: Path) -> None:
    """The files that pages only name: problems, benchmarks, pairs, responses, another verifier."""
    example = folder / "examples/own_csv"
    for name in ("mine.csv", "b.csv"):
        shutil.copy(example / "problems.csv", folder / name)
    for name in ("bench.jsonl", "problems.jsonl", "held_out.jsonl"):
        shutil.copy(example / "benchmark.jsonl", folder / name)
    rows = [json.loads(line) for line in (example / "benchmark.jsonl").read_text(encoding="utf-8").splitlines()]
    (folder / "held_out.csv").write_text(
        "text,key\n" + "".join(f"{json.dumps(row['problem'])},{row['answer']}\n" for row in rows), encoding="utf-8"
    )
    lines = [
        {"problem": f"A shop sells {n} pens a day for {n + 3} days. How many?", "answer": str(n * (n + 3))}
        for n in range(5, 60)
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "a.jsonl").write_text(text, encoding="utf-8")
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    shutil.copy(folder / "a.jsonl", folder / "b.jsonl")
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pylist(lines), folder / "b.parquet")
    (folder / "labels.jsonl").write_text('{"id": "8c4aec2152759cf0", "digest": "5f2b0c9e3d1a7f46", "right": true}\n')
    (folder / "pairs.jsonl").write_text('{"gold": "1/2", "answer": "0.5"}\n{"gold": "2", "answer": "3"}\n')
    plain = '{"response": "It is \\\\boxed{4}.", "answer": "4"}\n'
    (folder / "answers.jsonl.gz").write_bytes(gzip.compress(plain.encode()))
    item = {"choices": [{"message": {"content": "\\boxed{4}"}}], "item": {"gold": "4", "question": "What is 2 + 2?"}}
    (folder / "answers.jsonl").write_text(json.dumps(item) + "\n")
    for name, values in (("small.jsonl", (4, 5)), ("large.jsonl", (4, 4))):
        rows = [
            {"id": id_, "question": f"Step {id_}?", "response": f"It is \\boxed{{{value}}}.", "answer": "4"}
            for id_, value in enumerate(values)
        ]
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    golds = [{"id": id_, "gold": "4", "question": "What is 2 + 2?"} for id_ in range(2)]
    (folder / "golds.jsonl").write_text("".join(json.dumps(row) + "\n" for row in golds))
    (folder / "my_grader.py").write_text(
        "def is_right(gold: str, response: str) -> bool:\n    return gold in response\n"
    )


def environment(folder: Path) -> dict[str, str]:
    """This environment, with the copy's modules before any other, ports of its own, and make's set-up done."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("MLFLOW_", "COMPASS_"))}
    binaries = Path(sys.executable).parent
    return {
        **inherited,
        "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(folder),
        "MAKEFLAGS": f"BIN={binaries} READY=.ready",
        "COMPASS_PREFECT_PORT": "6150",
        "COMPASS_MLFLOW_PORT": "6151",
        "COMPASS_LIVE_PORT": "6152",
    }


def complaint(one: Documented, folder: Path) -> str | None:
    """Run a command; says what went wrong, None where it ended as it should."""
    allowed = row[1] if (row := Documented(one.page, one.as_run).row("status")) else [0]
    with subprocess.Popen(
        ["bash", "-c", one.as_run],
        cwd=folder,
        env=environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as started:
        try:
            out, err = started.communicate(timeout=LONGEST_S)
        except subprocess.TimeoutExpired:
            for process in reversed(psutil.Process(started.pid).children(recursive=True)):
                process.kill()
            started.kill()
            return f"{one.page}: {one.as_run}\n  did not end in {LONGEST_S} s"
    if started.returncode in allowed and "Traceback" not in err:
        return None
    return f"{one.page}: {one.as_run}\n  status {started.returncode}\n{(out + err)[-1500:]}"


@pytest.mark.parametrize("page", dict.fromkeys(one.page for one in FAST))
def test_the_commands_that_need_no_run_end_well(page: str, tmp_path: Path) -> None:
    folder = readers_copy(tmp_path)
    assert [said for one in FAST if one.page == page and (said := complaint(one, folder))] == []


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository with a finished run of profile `debug`, committed."""
    folder = readers_copy(tmp_path_factory.mktemp("finished") / "repository")

    def run(*words: str) -> None:
        done = subprocess.run(words, cwd=folder, env=environment(folder), capture_output=True, text=True)
        assert done.returncode == 0, (words, (done.stdout + done.stderr)[-4000:])

    shutil.rmtree(folder / ".dvc", ignore_errors=True)
    run("git", "init", "-q")
    run("dvc", "init", "-q")
    shutil.copy(ROOT / ".dvc/config", folder / ".dvc/config")
    run("compass", "profile", "use", "debug", "--force")
    if given := os.environ.get("COMPASS_DEBUG_RUN"):
        for name in OUTPUTS:
            if (source := Path(given) / name).is_dir():
                shutil.copytree(source, folder / name, symlinks=True, dirs_exist_ok=True)
            elif source.exists():
                shutil.copy2(source, folder / name)
        stages = list(yaml.safe_load((folder / "dvc.yaml").read_text(encoding="utf-8"))["stages"])
        run("dvc", "commit", "-f", "-q", *stages[:-1])  # by code of before, which made the same outputs
    run("compass", "run")
    for name in ("one", "two", "mine"):
        for part in ("data", "metrics"):
            shutil.copytree(folder / part, folder / "exports" / name / part)
        shutil.copy(folder / "params.yaml", folder / "exports" / name)
    run("git", "add", "-A")
    run("git", "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "A finished run")
    return folder


def end_servers(folder: Path) -> None:
    """End what `compass up` started there."""
    subprocess.run(["compass", "down", "--force"], cwd=folder, env=environment(folder), capture_output=True)


@pytest.mark.documented
@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_end_well(page: str, finished: Path, tmp_path: Path) -> None:
    folder = tmp_path / "repository"
    shutil.copytree(finished, folder, symlinks=True)
    (tmp_path / "remote").mkdir()
    wrong = []
    try:
        for one in RUN:
            if one.page == page and page.endswith("--help") and one.line.startswith("compass up"):
                end_servers(folder)  # each example of a command's help stands alone
            if one.page == page and (said := complaint(one, folder)):
                wrong.append(said)
    finally:
        end_servers(folder)
    assert not wrong, "\n\n".join(wrong)
