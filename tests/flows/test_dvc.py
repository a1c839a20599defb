"""The `dvc` of the environment: runs are checked and wait, everything else is DVC's own."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from compass.line import in_line
from flows.dvc import command, project_root
from flows.dvc_shown import with_defaults
from flows.experiment import LATEST, experiments

ROOT = Path(__file__).resolve().parents[2]
ALL = ["collect", "grade", "rl-1", "rl-2", "rl-3", "evaluate"]


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `dvc` as `make setup` writes it, and `compass`."""
    folder = tmp_path_factory.mktemp("env")
    (folder / ".venv" / "bin").mkdir(parents=True)
    [line] = re.findall(r"^printf .*>\.venv/bin/dvc$", (ROOT / "requirements/setup.sh").read_text(), re.MULTILINE)
    for _ in range(2):  # running setup again writes the same
        subprocess.run(["bash", "-c", line], cwd=folder, check=True)
    script = (folder / ".venv/bin/dvc").read_text()
    assert script.startswith(f"#!{folder}/.venv/bin/python\n")
    bin_ = folder / "bin"
    bin_.mkdir()
    body = script.partition("\n")[2]
    for name, text in (("dvc", body), ("compass", "from compass.cli import entry\nentry()\n")):
        (bin_ / name).write_text(f"#!{sys.executable}\n{text}")
        (bin_ / name).chmod(0o755)
    return bin_


def start(program: Path, *words: str, cwd: Path, **variables: str) -> subprocess.Popen:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [program, *words], cwd=cwd, env=environment, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    )


def call(program: Path, *words: str, cwd: Path, **variables: str) -> tuple[int, str, str]:
    process = start(program, *words, cwd=cwd, **variables)
    out, error = process.communicate(timeout=300)
    return process.returncode, out, error


def test_repro_exp_run_and_compass_run_started_at_once_all_end_right(toy: Path, programs: Path, ran) -> None:
    dvc = programs / "dvc"
    runs = [
        start(dvc, "repro", cwd=toy, TOY_SECONDS="0.3"),
        start(dvc, "exp", "run", "-S", "evaluate.samples=3", cwd=toy),
        start(programs / "compass", "run", "-S", "grade.rollouts=3", cwd=toy),
    ]
    ends = [process.communicate(timeout=300) for process in runs]
    assert [process.returncode for process in runs] == [0, 0, 0], ends
    values = (toy / "params.yaml").read_text()
    assert "  samples: 3\n" in values
    assert "  rollouts: 3\n" in values
    assert "# base and every RL stage" in values
    assert {"collect", "grade", "evaluate"} <= set(ran(toy))
    status = subprocess.run([sys.executable, "-m", "dvc", "status"], cwd=toy, capture_output=True, text=True)
    assert "up to date" in status.stdout
    assert experiments(toy)[0] == "debug-rollouts=3-samples=3"  # the last of them ran with both values


def test_a_wrong_value_is_refused_before_anything_changes(toy: Path, programs: Path, ran) -> None:
    before = (toy / "params.yaml").read_bytes()
    for words in (("exp", "run"), ("exp", "run", "--queue"), ("exp", "run", "--temp")):
        status, _, error = call(programs / "dvc", *words, "-S", "evaluate.samples=many", cwd=toy)
        assert (status, error.startswith("dvc exp run: ")) == (1, True), error
        assert "found 'many'" in error
    assert (toy / "params.yaml").read_bytes() == before
    assert ran(toy) == []


def test_ctrl_c_ends_the_tree_and_says_how_to_go_on(toy: Path, programs: Path, ran) -> None:
    process = start(programs / "dvc", "repro", cwd=toy, TOY_SECONDS="600")
    while not ran(toy):
        assert process.poll() is None
        time.sleep(0.05)
    tree = psutil.Process(process.pid).children(recursive=True)
    began = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert time.monotonic() - began < 20
    assert process.returncode == 130
    assert "Traceback" not in error
    assert error.splitlines()[-1].endswith("Run it again: it begins collect again; the stages before it are done")
    assert [one for one in tree if one.is_running() and one.status() != psutil.STATUS_ZOMBIE] == []
    assert call(programs / "dvc", "repro", "-s", "collect", cwd=toy)[0] == 0


def test_what_writes_the_workspace_waits_and_what_reads_does_not(toy: Path, programs: Path) -> None:
    with in_line(toy, "a long run"):
        assert call(programs / "dvc", "status", "-q", cwd=toy)[0] == 1  # stale, and told at once
        waits = start(programs / "dvc", "checkout", cwd=toy)
        assert waits.stderr is not None
        assert waits.stderr.readline().startswith("waiting for `a long run` (process ")
        assert waits.poll() is None
    waits.communicate(timeout=60)


def test_other_repositories_are_left_alone(tmp_path: Path, toy: Path) -> None:
    (tmp_path / "other" / ".dvc").mkdir(parents=True)
    assert project_root(tmp_path / "other") is None
    assert project_root(tmp_path) is None
    assert project_root(toy / "profiles") == toy


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("repro", "repro"),
        ("--wait-for-lock repro -s grade", "repro"),
        ("exp run -S a=1", "exp:run"),
        ("experiments show", "exp:show"),
        ("-v metrics diff", "metrics:diff"),
        ("", ""),
    ],
)
def test_the_command_among_the_words(words: str, name: str) -> None:
    assert command(words.split()) == name


def test_tables_show_the_headline_unless_columns_are_chosen(toy: Path) -> None:
    (toy / "metrics").mkdir()
    (toy / "metrics" / "headline.json").write_text('{"base": 1, "rl-1": 2, "±": 3}')
    words = with_defaults("exp:show", ["exp", "show"], toy)
    drop, keep = words[words.index("--drop") + 1], words[words.index("--keep") + 1]
    hidden = ("evaluate.samples", "seed", "params.yaml:dedup.seed", "data/grade", "compass/files.py", "Created")
    assert [name for name in hidden if not re.match(drop, name)] == []
    assert all(re.match(keep, name) for name in ("base", "rl-1", "±"))
    assert not re.match(keep, "base.pretrain.steps")
    for chosen in (["--csv"], ["--only-changed"], ["--drop=x"], ["--keep", "y"]):
        given = ["exp", "show", *chosen]
        assert with_defaults("exp:show", given, toy) == given


def test_a_diff_without_revisions_compares_with_the_experiment_before(toy: Path) -> None:
    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=toy, check=True, capture_output=True, text=True).stdout.strip()

    head = git("rev-parse", "HEAD")
    for name in ("debug", "debug-seed=1"):
        git("update-ref", f"refs/exps/{head[:2]}/{head[2:]}/{name}", head)
    (toy / LATEST).parent.mkdir(exist_ok=True)
    (toy / LATEST).write_text("debug-seed=1\n")
    assert with_defaults("metrics:diff", ["metrics", "diff", "--md"], toy) == ["metrics", "diff", "--md", "debug"]
    assert with_defaults("plots:diff", ["plots", "diff", "-o", "out"], toy) == ["plots", "diff", "-o", "out", "debug"]
    given = ["metrics", "diff", "HEAD~1"]
    assert with_defaults("metrics:diff", given, toy) == given
    (toy / "dvc.lock").write_text("schema: '2.0'\n")
    git("add", "dvc.lock")
    git("commit", "-qm", "results")
    assert with_defaults("metrics:diff", ["metrics", "diff"], toy) == ["metrics", "diff"]
