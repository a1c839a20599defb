"""The wheel of the verifier: what is in it, and that it works where nothing else is installed."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import Distribution, distribution
from pathlib import Path
from textwrap import indent

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "packaging/verifier"
UV = [sys.executable, "-m", "uv"]
PROJECT = tomllib.loads((FOLDER / "pyproject.toml").read_text(encoding="utf-8"))
WHOLE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

USE = r"""
import sys
from compass.verifier import judge, verify, verify_many, warm
from compass.integrations.lm_eval import process_results
from compass.integrations.math_verify import parse
from compass.integrations.trl import accuracy_reward
from compass.integrations.verl import compute_score
warm()
assert verify(gold=r"\frac12", answer="0.5").equal
assert verify(gold=r"\int_0^2 x\,dx", answer="2").method == "sympy"
assert judge(gold="12", response=r"So there are \boxed{12} ways.").equal
assert [verdict.equal for verdict in verify_many([("1/2", "0.5"), ("1", "2")] * 1_500, processes=2)] == [True, False] * 1_500
assert parse(r"The answer is \boxed{3}.") == ["3"]
assert accuracy_reward([r"\boxed{3}"], ["3"]) == [1.0]
assert compute_score("", r"\boxed{3}", "4")["score"] == -1.0
assert process_results({"answer": "3"}, [r"\boxed{3}"]) == {"compass_accuracy": 1.0}
print(sorted({name.partition(".")[0] for name in sys.modules} & {"torch", "numpy", "pydantic", "verl", "trl", "sympy"}))
"""


def folders() -> set[str]:
    """Packages of the verifier and the integrations, as the repository has them."""
    found = (path.parent for top in ("verifier", "integrations") for path in (ROOT / "compass" / top).rglob("*.py"))
    return {folder.relative_to(ROOT).as_posix().replace("/", ".") for folder in found}


def test_every_package_of_the_verifier_is_named() -> None:
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == folders()


def test_the_wheel_and_the_project_say_the_same() -> None:
    for field in ("version", "requires-python", "license", "dependencies"):
        assert PROJECT["project"][field] == WHOLE["project"][field]


def required(names: list[str]) -> dict[str, Distribution]:
    """Distributions that these names need, themselves included, without extras."""
    found: dict[str, Distribution] = {}
    for name in names:
        bare = re.split(r"[\s<>=!~;\[(]", name, maxsplit=1)[0]
        if "extra ==" not in name and bare not in found:
            found[bare] = distribution(bare)
            found |= required(found[bare].requires or [])
    return found


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built as `make wheel` builds it."""
    out = tmp_path_factory.mktemp("dist")
    command = [*UV, "build", "-q", "--wheel", "--no-build-isolation", "--python", sys.executable, "-o", str(out)]
    subprocess.run([*command, str(FOLDER)], check=True)
    return next(out.glob("compass_verifier-*.whl"))


@pytest.mark.slow
def test_the_wheel_holds_the_verifier_alone(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "compass/verifier/py.typed" in names
    allowed = r"compass/(?:verifier/.*|integrations/.*|__init__\.py|braces\.py|machine\.py)|compass_verifier-.*"
    assert [name for name in names if not re.fullmatch(allowed, name)] == []


@pytest.mark.slow
def test_the_wheel_works_with_its_dependencies_alone(wheel: Path, tmp_path: Path) -> None:
    """Only the files of sympy, python-flint and what these need are within reach, so no network is needed."""
    environment = tmp_path / "environment"
    subprocess.run([*UV, "venv", "-q", "--python", sys.executable, str(environment)], check=True)
    python = environment / "bin/python"
    subprocess.run([*UV, "pip", "install", "-q", "--no-deps", "--python", str(python), str(wheel)], check=True)
    site = next(environment.glob("lib/python*/site-packages"))
    for needed in required(PROJECT["project"]["dependencies"]).values():
        for top in {file.parts[0] for file in needed.files or [] if file.parts[0] not in ("..", "__pycache__")}:
            (site / top).symlink_to(Path(str(needed.locate_file(top))))
    script = tmp_path / "use.py"
    script.write_text("if __name__ == '__main__':\n" + indent(USE, "    "), encoding="utf-8")
    shown = subprocess.run([str(python), "-I", str(script)], cwd=tmp_path, capture_output=True, text=True)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout == "[]\n"
