"""`compass init` on files: what it guesses, writes, keeps and refuses."""

import csv
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from compass.checks.before_run import find_problems
from compass.cli import main
from compass.settings import load_settings

ROOT = Path(__file__).resolve().parents[2]

EXAMPLE = ["--data", "examples/own_csv/problems.csv", "--benchmark", "examples/own_csv/benchmark.jsonl"]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("dvc.yaml", "params.yaml"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("profiles", "examples/own_csv"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for name in ("compass", "stages"):  # dvc.yaml is fitted to the files that the profile names
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    for name in ("COMPASS_MODEL", "COMPASS_DATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("compass.init.inputs.find_installed_gguf", str)
    return tmp_path


@pytest.fixture
def own(repository: Path) -> Callable[..., str]:
    """`own("mine.csv", problem="text", answer="key", count=30)` writes a file of word problems and returns its name."""

    def write(name: str, problem: str, answer: str, count: int, **more: str) -> str:
        rows = [
            {
                problem: f"A shop sells {n + 3} boxes with {n % 7 + 2} candles in each of them. How many candles does the shop sell?",
                answer: str((n + 3) * (n % 7 + 2)),
                **more,
            }
            for n in range(count)
        ]
        if name.endswith(".csv"):
            with open(repository / name, "w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, list(rows[0]))
                writer.writeheader()
                writer.writerows(rows)
        else:
            (repository / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
        return name

    return write


def test_the_example_becomes_the_profile_in_force(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", *EXAMPLE, "--name", "mine", "--licence", "MIT"]) == 0
    told = capsys.readouterr().out
    assert "rows       42 of 50 pass curation" in told
    assert "problem_field: question (a usual name, and text; in 50 of 50 sampled rows" in told
    assert "items      benchmark 13: a score is known to within about 27 points" in told
    assert "The tiny policy understands only stories like those of its generator" in told
    assert max(map(len, told.splitlines())) <= 110
    settings = load_settings()
    assert (settings.profile, settings.collect.sources[0].licence) == ("mine", "MIT")
    assert (repository / "params.yaml").read_text() == (repository / "profiles/mine.yaml").read_text()
    assert find_problems(repository) == []
    text = (repository / "params.yaml").read_text()
    assert "batch_size: 8 # problems per iteration, at most half of a stage's" in text
    assert "steps: 900 # at most; it stops as soon as `skill` is reached" in text
    assert main(["profile", "use", "tiny"]) == 0  # nothing that no profile has was in params.yaml
    assert main(["profile", "use", "mine"]) == 0


def test_edited_parameters_are_never_lost(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    params = repository / "params.yaml"
    params.write_text(params.read_text().replace("samples: 8", "samples: 3"))
    edited = params.read_text()
    assert main(["init", *EXAMPLE, "--name", "mine"]) == 1
    assert "params.yaml, the parameters in force, would be lost" in capsys.readouterr().err
    assert params.read_text() == edited
    assert main(["init", *EXAMPLE, "--name", "mine", "--force"]) == 0
    assert (repository / "params.yaml.bak").read_text() == edited
    params.write_text(edited.replace("samples: 3", "samples: 5"))
    assert main(["init", *EXAMPLE, "--name", "mine", "--force"]) == 0
    assert "samples: 5" in (repository / "params.yaml.bak1").read_text()


def test_a_profile_of_that_name_is_kept(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = repository / "profiles/mine.yaml"
    mine.write_text("profile: mine\n")
    assert main(["init", *EXAMPLE, "--name", "mine"]) == 1
    assert "profiles/mine.yaml is there already; give another --name, or --force" in capsys.readouterr().err
    assert mine.read_text() == "profile: mine\n"
    assert main(["init", *EXAMPLE, "--name", "mine", "--force"]) == 0
    assert (repository / "profiles/mine.yaml.bak").read_text() == "profile: mine\n"


def test_out_writes_one_file_alone(repository: Path) -> None:
    before = (repository / "params.yaml").read_bytes()
    assert main(["init", *EXAMPLE, "--out", "elsewhere.yaml"]) == 0
    assert load_settings("elsewhere.yaml").profile == "problems"
    assert (repository / "params.yaml").read_bytes() == before
    assert not (repository / "profiles/problems.yaml").exists()


def test_several_files_each_with_their_own_fields(own: Callable[..., str], capsys: pytest.CaptureFixture[str]) -> None:
    data = [own("a.csv", "question", "answer", 27), own("b.jsonl", "prompt", "ground_truth", 8)]
    assert main(["init", "--data", *data, "--benchmark", "examples/own_csv/benchmark.jsonl", "--name", "two"]) == 0
    settings = load_settings()
    assert [(one.problem_field, one.answer_field) for one in settings.collect.sources] == [
        ("question", "answer"),
        ("prompt", "ground_truth"),
    ]


def test_golds_with_a_decimal_comma_get_the_setting(
    repository: Path, own: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"problem": f"A rope of {n * 2 + 1} metres is cut into 4 equal pieces. How long is each of them, in metres?",
         "answer": f"{(n * 2 + 1) // 4},{25 * ((n * 2 + 1) % 4)}"}
        for n in range(30)
    ]  # fmt: skip
    (repository / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    held_out = own("held_out.csv", "problem", "answer", 12)
    assert main(["init", "--data", "mine.jsonl", "--benchmark", held_out, "--out", "own.yaml"]) == 0
    assert "decimal_comma: True (30 of 30 sampled golds" in capsys.readouterr().out
    collect = load_settings(repository / "own.yaml").collect
    assert (collect.sources[0].decimal_comma, collect.benchmarks[0].decimal_comma) == (True, False)


def test_fields_are_named_where_no_guess_is_clear(own: Callable[..., str], capsys: pytest.CaptureFixture[str]) -> None:
    data = own("odd.csv", "alpha", "beta", 30, gamma="12 of the 30 rows hold this remark, and what does it ask?")
    arguments = ["init", "--data", data, "--benchmark", "examples/own_csv/benchmark.jsonl"]
    assert main([*arguments, "--problem-field", "alpa"]) == 1
    assert "'alpa'" in capsys.readouterr().err
    assert main([*arguments, "--problem-field", "alpha", "--answer-field", "beta"]) == 0
    assert "problem_field: alpha (as you said)" in capsys.readouterr().out
    assert load_settings().collect.benchmarks[0].problem_field == "problem"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--data", "nowhere.csv", "--benchmark", "examples/own_csv/benchmark.jsonl"], "nowhere.csv: no such file"),
        (["--data", "examples/own_csv/problems.csv", "--benchmark", "math-50"], "benchmark 'math-50' is not known"),
        (["--data", "examples/own_csv/problems.csv", "--benchmark", "gone.jsonl"], "gone.jsonl: no such file"),
        ([*EXAMPLE, "--model", "models/gone"], "give the commit with --revision, or a local folder"),
        ([*EXAMPLE, "--model", "owner/name", "--revision", "main"], "--revision main: must be a commit (40 hex digits)"),
        ([*EXAMPLE, "--model", "gone.gguf"], "gone.gguf: No such file"),
        (["--data", "examples/own_csv/problems.csv", "examples/own_csv/problems.csv", "--benchmark", "examples/own_csv/benchmark.jsonl"],
         "two files of --data are called 'problems'"),
        (["--data", "unclear.csv", *EXAMPLE[2:]], "found: alpha, beta"),
        (["--data", "unclear.csv", *EXAMPLE[2:]], "name it: --"),
        (["--data", "few.csv", *EXAMPLE[2:]], "training needs at least 5 problems"),
    ],
)  # fmt: skip
def test_a_slip_is_told_and_leaves_the_parameters_alone(
    repository: Path,
    own: Callable[..., str],
    words: list[str],
    told: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    own("few.csv", "question", "answer", 4)
    (repository / "unclear.csv").write_text("alpha,beta\n" + "".join(f"{n},{n * n}\n" for n in range(30)))
    before = (repository / "params.yaml").read_bytes()
    assert main(["init", *words]) == 1
    assert told in capsys.readouterr().err
    assert (repository / "params.yaml").read_bytes() == before


def test_a_model_in_the_environment_is_taken(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gguf = repository / "small.Q4_1.gguf"
    gguf.write_bytes(b"GGUF" + b"\0" * 1000)
    monkeypatch.setenv("COMPASS_MODEL", str(gguf))
    assert main(["init", *EXAMPLE]) == 0
    settings = load_settings()
    assert settings.base.model == "$COMPASS_MODEL"
    assert "boxed" in settings.rl.data.prompt_suffix


def test_whoever_is_there_is_asked_for_the_fields(repository: Path) -> None:
    import pty

    rows = (
        f"What is {n} and {n + 1} together?,{2 * n + 1},How much is {n} more than {n + 1} in all?\n" for n in range(30)
    )
    (repository / "odd.csv").write_text("alpha,beta,gamma\n" + "".join(rows))
    master, slave = pty.openpty()
    code = "import sys\nfrom compass.cli import main\nsys.exit(main(['init','--data','odd.csv','--benchmark','examples/own_csv/benchmark.jsonl']))"
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=slave, stdout=slave, stderr=slave, env={**os.environ, "PYTHONPATH": str(ROOT)}, cwd=repository, close_fds=True,
    )  # fmt: skip
    os.close(slave)
    os.write(master, b"alpha\nbeta\n")
    told = b""
    try:
        while part := os.read(master, 4096):
            told += part
    except OSError:  # Linux's way to say that the other end is closed
        pass
    assert process.wait(timeout=600) == 0, told.decode()
    assert b"Which field holds the problem?" in told
    source = load_settings(repository / "params.yaml").collect.sources[0]
    assert (source.problem_field, source.answer_field) == ("alpha", "beta")
