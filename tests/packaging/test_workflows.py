"""What runs on a forge: the commands that the workflows and issue forms name exist, and a release is one version."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from compass.cli import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
FORMS = sorted(path for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")


def steps(path: Path) -> list[dict[str, str]]:
    return [step for job in yaml.safe_load(path.read_text())["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_command_of_a_workflow_exists(path: Path) -> None:
    rules = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    targets = set(re.findall(r"--target (\w+)|AS (\w+)", (ROOT / "Dockerfile").read_text()))
    commands = [line for step in steps(path) for line in step.get("run", "").splitlines()]
    assert commands
    for command in commands:
        assert set(re.findall(r"\bmake ([a-z-]+)", command)) <= rules, command
        assert set(re.findall(r"--target (\w+)", command)) <= {name for pair in targets for name in pair}
        if command.startswith(("./", ".ci/")):
            assert (ROOT / command.split()[0]).stat().st_mode & 0o111, command
    assert all(re.fullmatch(r"actions/[\w-]+@v\d+", step["uses"]) for step in steps(path) if "uses" in step)


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_an_issue_form_asks_with_commands_that_exist(path: Path) -> None:
    form = yaml.safe_load(path.read_text())
    assert {"name", "description", "body"} <= set(form)
    ids = [field["id"] for field in form["body"]]
    assert len(ids) == len(set(ids))
    assert all(field["attributes"]["label"] for field in form["body"])
    assert any(field.get("validations", {}).get("required") for field in form["body"])
    assert set(re.findall(r"`compass (\w+)", path.read_text())) <= set(COMMANDS)


def test_the_version_is_written_in_pyproject_alone() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    for name in (
        "README.md",
        "docs/guides/install.md",
        "Dockerfile",
        "Makefile",
        "CITATION.cff",
        "compass/__init__.py",
    ):
        assert not re.search(rf"(?<![\d.]){re.escape(version)}(?![\d.])", (ROOT / name).read_text()), name


def test_a_release_takes_the_tag_of_its_version_alone() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    [check] = [
        step["run"]
        for step in steps(ROOT / ".github/workflows/release.yml")
        if "GITHUB_REF_NAME" in step.get("run", "")
    ]
    check = check.replace(".venv/bin/compass", f"{sys.executable} -m compass.cli")
    for tag, status in ((f"v{version}", 0), (f"v{version}1", 1)):
        assert (
            subprocess.run(["bash", "-c", check], cwd=ROOT, env=os.environ | {"GITHUB_REF_NAME": tag}).returncode
            == status
        )
