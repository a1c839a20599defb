"""What an edit runs again, asked of DVC itself on a copy of the repository whose stages all count as done."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from stages._deps import main as make_deps
from stages._rl_entries import MARKED
from tests.conftest import changed_profile, copy_of_the_repository

SHOWN = (
    "compass/cli.py",
    "compass/commands/*.py",
    "compass/page/*.py",
    "compass/report/*.py",
    "docs/**/*",
    "flows/*.py",
    "README.md",
    "Makefile",
)
"""Files that show results or start things and decide nothing."""


def outputs(folder: Path) -> Iterator[Path]:
    for entry in yaml.safe_load((folder / "dvc.yaml").read_text(encoding="utf-8"))["stages"].values():
        for out in [out for kind in ("outs", "metrics", "plots") for out in entry.get(kind, [])]:
            yield folder / (next(iter(out)) if isinstance(out, dict) else out)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy in which every output exists and `dvc.lock` says that it is up to date."""
    folder = tmp_path_factory.mktemp("repository")
    copy_of_the_repository(folder)
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    for out in outputs(folder):
        path = out if out.suffix == ".json" else out / "result"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(out.name, encoding="utf-8")
    before = Path.cwd()
    os.chdir(folder)
    from dvc.repo import Repo

    with Repo(str(folder)) as repo:
        repo.commit(force=True)
    yield folder
    os.chdir(before)


def stale(folder: Path) -> set[str]:
    """The stages that `dvc status` calls changed."""
    from dvc.repo import Repo

    with Repo(str(folder)) as repo:
        return set(repo.status())


def append(paths: list[Path]) -> dict[Path, bytes]:
    """Add a line to each file; returns the contents as they were."""
    contents = {path: path.read_bytes() for path in paths}
    for path, content in contents.items():
        path.write_bytes(content + b"\n# an edit that changes no result\n")
    return contents


def test_an_edit_of_what_only_shows_reruns_at_most_the_report(repository: Path) -> None:
    assert stale(repository) == set()
    shown = [path for pattern in SHOWN for path in sorted(repository.glob(pattern)) if path.is_file()]
    assert {repository / "compass/commands/verify.py", repository / "compass/report/history.py"} <= set(shown)
    contents = append(shown)
    assert stale(repository) == {"report"}
    for path, content in contents.items():
        path.write_bytes(content)
    assert stale(repository) == set()


@pytest.mark.parametrize(
    ("edited", "rerun"),
    [
        ("compass/curation/denoise.py", {"denoise"}),
        ("compass/curriculum/curriculum.py", {"curriculum"}),
        ("stages/evaluate.py", {"evaluate"}),
        ("compass/tracking/stage_run.py", set()),
    ],
)
def test_an_edit_of_what_decides_reruns_the_stages_that_use_it(repository: Path, edited: str, rerun: set[str]) -> None:
    contents = append([repository / edited])
    assert stale(repository) == rerun
    for path, content in contents.items():
        path.write_bytes(content)


def test_a_file_or_mark_that_a_parameter_names_reruns_the_stages_that_read_it(repository: Path) -> None:
    from dvc.repo import Repo

    named = {
        "collect.sources.1": {"name": "own", "path": "mine/rows.csv"},
        "collect.benchmarks.0": {"name": "held-out", "path": str(repository / "mine/items.jsonl")},
        "base.pretrain": None,
        "base.model": "mine/model.gguf",
        "grade.model": "mine/grader",
    }
    files = {
        "mine/rows.csv": {"collect"},
        "mine/items.jsonl": {"collect"},
        "mine/model.gguf": {"base"},
        "mine/grader/config.json": {"grade"},
        "mine/labels.jsonl": set(MARKED),
    }
    for name in files:
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text("one", encoding="utf-8")

    def write_parameters(**curation: object) -> None:
        values = changed_profile("tiny", {**named, **({"curation": curation} if curation else {})})
        (repository / "params.yaml").write_text(yaml.safe_dump(values), encoding="utf-8")

    write_parameters(labels="mine/labels.jsonl")
    make_deps(repository)
    with Repo(str(repository)) as repo:
        repo.commit(force=True)
    assert stale(repository) == set()
    for name, rerun in files.items():
        (repository / name).write_text("another", encoding="utf-8")
        assert stale(repository) == rerun
        (repository / name).write_text("one", encoding="utf-8")
    write_parameters(labels="mine/labels.jsonl", warn_share=0.5)
    assert stale(repository) == set(MARKED)
    write_parameters()
    make_deps(repository)
    assert stale(repository) == set(MARKED), "marks that were taken back"
