"""The wheel with each extra, in an environment that holds what the extra names and nothing else."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path
from textwrap import indent

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from compass import extras
from compass.cli import COMMANDS
from compass.sampling.engine import engine_version
from tests.test_architecture import NAMES

ROOT = Path(__file__).resolve().parents[2]
UV = [sys.executable, "-m", "uv"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXAMPLE = ROOT / "examples/own_csv"

VERIFIER = r"""
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

CURATE = ["curate", str(EXAMPLE / "problems.csv"), "--benchmark", str(EXAMPLE / "benchmark.jsonl"), "--out", "curated"]
RUNS_WITH = {
    "curate": [
        CURATE,
        ["ledger", "--data", "curated"],
        ["why", "--data", "curated", "How many"],
        ["card", "--data", "curated"],
        ["verify", "1/2", "0.5"],
        ["benchmarks"],
        ["data", "list"],
        ["forgetting", "--out", "forgetting"],
        ["completion", "bash"],
    ],
    "score": [
        CURATE,
        ["score", "answers.jsonl", "--response-field", "response", "--gold-field", "gold"],
        ["table1"],
    ],
}
BEYOND = {"curate": (["table1"], "score"), "score": (["runs", "list"], "pipeline")}
"""A command that each lacks something for, and the extra that has it."""
OPTIONAL = {"lighteval", "math_verify"}
"""Libraries that are used where they are installed."""
ANSWERS = '{"response": "So it is \\\\boxed{1/2}.", "gold": "0.5"}\n'


def required(names: list[str]) -> set[str]:
    """Distributions that these requirements need, with the extras that they name, themselves included."""
    found: set[str] = set()
    waiting = [Requirement(name) for name in names]
    seen = set()
    while waiting:
        one = waiting.pop()
        if (one.name, frozenset(one.extras)) in seen:
            continue
        seen.add((one.name, frozenset(one.extras)))
        if one.name == PROJECT["name"]:
            waiting += [Requirement(name) for extra in one.extras for name in PROJECT["optional-dependencies"][extra]]
            continue
        found.add(one.name)
        try:
            needs = distribution(engine_version()["name"] if one.name == "vllm" else one.name).requires or []
        except PackageNotFoundError:  # the locked environment leaves out what some packages need elsewhere
            continue
        for name in needs:
            needed = Requirement(name)
            if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in {"", *one.extras}):
                waiting.append(needed)
    return found


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built as `make wheel` builds it, from a copy: the build leaves files beside its sources."""
    out = tmp_path_factory.mktemp("dist")
    copy = tmp_path_factory.mktemp("source")
    subprocess.run(["git", "-C", str(ROOT), "checkout-index", "-a", f"--prefix={copy}/"], check=True)
    command = [*UV, "build", "-q", "--wheel", "--no-build-isolation", "--python", sys.executable, "-o", str(out)]
    subprocess.run([*command, str(copy)], check=True)
    return next(out.glob("compass_thinker-*.whl"))


def environment(folder: Path, wheel: Path, extra: str) -> Path:
    """The programs of an environment with the wheel and the files of what an extra needs, linked: no network is needed."""
    subprocess.run([*UV, "venv", "-q", "--python", sys.executable, str(folder)], check=True)
    python = folder / "bin/python"
    subprocess.run([*UV, "pip", "install", "-q", "--no-deps", "--python", str(python), str(wheel)], check=True)
    site = next(folder.glob("lib/python*/site-packages"))
    for name in required(PROJECT["dependencies"] + (PROJECT["optional-dependencies"][extra] if extra else [])):
        needed = distribution(name)
        for top in {file.parts[0] for file in needed.files or [] if file.parts[0] not in ("..", "__pycache__")}:
            if not (site / top).exists():
                (site / top).symlink_to(Path(str(needed.locate_file(top))))
    return folder / "bin"


def test_every_command_and_extra_that_is_named_exists() -> None:
    named = [command for commands in extras.COMMANDS.values() for command in commands]
    assert set(named) <= set(COMMANDS)
    assert len(named) == len(set(named))
    assert {*extras.COMMANDS, *extras.MODULES.values(), "pipeline"} == set(PROJECT["optional-dependencies"])


def test_extras_bring_what_the_package_imports() -> None:
    imported = {name.partition(".")[0] for names in NAMES.values() for name in names}
    outside = imported - {*sys.stdlib_module_names, "compass", "stages", "flows", *OPTIONAL}
    names = required([*PROJECT["dependencies"], f"{PROJECT['name']}[pipeline]"])
    brought = {*map(canonicalize_name, names), engine_version()["name"]}
    providers = packages_distributions()
    missing = {
        name for name in outside if not brought & {canonicalize_name(one) for one in providers.get(name, [name])}
    }
    assert missing <= set(PROJECT["optional-dependencies"])


def test_evaluation_reads_gguf_files() -> None:
    assert required([f"{PROJECT['name']}[evaluate]"]) >= {"accelerate", "gguf"}


@pytest.mark.parametrize(
    ("module", "words", "told"),
    [
        ("cyclopts", [], "compass: the package cyclopts is not installed; "),
        ("numba.core", ["curate", "x.csv"], "'compass-thinker[curate]'"),
        ("scipy", ["score", "x.jsonl"], "'compass-thinker[score]'"),
        ("vllm", ["--debug", "evaluate", "model"], "'compass-thinker[evaluate]'"),
        ("vllm", ["chat", "rl-3"], "'compass-thinker[evaluate]'"),
        ("httpx", ["data", "get", "gsm8k"], "'compass-thinker[hub]'"),
        ("wandb", ["runs", "export"], "'compass-thinker[wandb]'"),
        ("datasets", ["curate", "owner/name"], "'compass-thinker[hub]'"),
        ("aiohttp", ["curate", "problems.csv"], "'compass-thinker[evaluate]'"),
        ("mlflow", ["run"], "'compass-thinker[pipeline]'"),
    ],
)
def test_the_extra_that_is_missing_is_named(module: str, words: list[str], told: str) -> None:
    assert told in extras.name_missing(ModuleNotFoundError("no", name=module), words)


def test_a_missing_module_of_this_project_is_an_error_of_its_own() -> None:
    with pytest.raises(ModuleNotFoundError):
        extras.name_missing(ModuleNotFoundError("no", name="compass.nowhere"), ["run"])


@pytest.mark.slow
def test_the_verifier_works_alone_and_the_command_says_what_it_needs(wheel: Path, tmp_path: Path) -> None:
    programs = environment(tmp_path / "environment", wheel, "")
    script = tmp_path / "use.py"
    script.write_text("if __name__ == '__main__':\n" + indent(VERIFIER, "    "), encoding="utf-8")
    shown = subprocess.run([programs / "python", "-I", script], cwd=tmp_path, capture_output=True, text=True)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout == "[]\n"
    refused = subprocess.run([programs / "compass", "score", "x"], cwd=tmp_path, capture_output=True, text=True)
    assert refused.returncode == 1
    assert refused.stderr == (
        "compass score: the package cyclopts is not installed; "
        "install what is needed: pip install 'compass-thinker[score]'\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize("extra", RUNS_WITH)
def test_an_extra_runs_its_commands(extra: str, wheel: Path, tmp_path: Path) -> None:
    programs = environment(tmp_path / "environment", wheel, extra)
    assert not any((programs.parent / "lib").glob("python*/site-packages/torch"))
    (tmp_path / "answers.jsonl").write_text(ANSWERS)
    for words in RUNS_WITH[extra]:
        done = subprocess.run([programs / "compass", *words], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, f"{words}: {done.stderr}"
    words, needed = BEYOND[extra]
    refused = subprocess.run([programs / "compass", *words], cwd=tmp_path, capture_output=True, text=True)
    assert refused.returncode == 1
    assert f"'compass-thinker[{needed}]'" in refused.stderr
