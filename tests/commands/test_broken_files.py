"""A parameter file, graph or lock file that is no YAML mapping: every command says so in a line, or does not need it."""

from pathlib import Path

import pytest

from compass.cli import COMMANDS, main
from tests.conftest import copy_of_the_repository

BROKEN = {
    "tab": b"profile: tiny\n\tseed: 1\n",
    "open brace": b"a: [1\nb: {",
    "list": b"- 1\n- 2\n",
    "empty": b"",
    "binary": bytes(range(256)),
}

READS = {
    "params.yaml": (
        "run", "run rl-1", "status", "watch --once", "doctor", "plan", "profile list", "profile use tiny", "rl show rl-1",
        "study run debug-kl",
    ),
    "dvc.yaml": ("run", "run rl-1", "status", "doctor", "profile use tiny", "study run debug-kl"),
    "dvc.lock": ("run", "run rl-1", "status", "study run debug-kl"),
}  # fmt: skip
"""The commands that need the file."""

OTHERS = (
    "init --data nowhere.csv", "rollouts rl-1", "report", "runs list", "runs compare a b", "runs sync", "profile diff tiny debug",
    "study show debug-kl", "curate nowhere.csv --out out", "why abc", "ledger", "card", "benchmarks", "evaluate base --benchmarks nowhere.jsonl",
    "table1", "forgetting", "memorised base --benchmarks nowhere.jsonl", "score nowhere.jsonl", "verify 1 2", "label", "down", "completion bash", "plan evaluation --benchmarks aime-2024",
)  # fmt: skip
"""Commands that need none of them, or another file first."""

STARTS = ("up", "chat", "data")
"""Commands that start servers, load a model or ask the network: they are tried where these are."""

SHOWS = ("status", "watch")
"""Commands that show the fault in their answer, and end well."""

NO_FAULT = {("dvc.yaml", "empty"), ("dvc.lock", "empty")}
"""An empty graph or lock file is as none: commands work with it."""

REFUSED = [
    (name, words, content)
    for name, commands in READS.items()
    for words in commands
    for content in BROKEN
    if (name, content) not in NO_FAULT
]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_of_the_repository(tmp_path_factory.mktemp("broken"))


@pytest.fixture
def answer(repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Runs a command while a file is broken: its status, and what it printed."""

    def run(name: str, content: bytes, words: str) -> tuple[int, str]:
        monkeypatch.chdir(repository)
        monkeypatch.setenv("COMPASS_TRACKING", "off")
        path = repository / name
        before = path.read_bytes() if path.exists() else None
        path.write_bytes(content)
        try:
            status = main(words.split())
        finally:
            path.unlink() if before is None else path.write_bytes(before)
        return status, "".join(capsys.readouterr())

    return run


def test_every_command_is_tried() -> None:
    tried = {words.split()[0] for commands in (*READS.values(), OTHERS) for words in commands}
    assert tried | set(STARTS) >= set(COMMANDS)


@pytest.mark.parametrize(("name", "words", "content"), REFUSED)
def test_a_command_that_needs_a_broken_file_names_it_in_one_line(answer, name: str, words: str, content: str) -> None:
    status, printed = answer(name, BROKEN[content], words)
    assert "Traceback" not in printed
    assert (status == 0) is (words.split()[0] in SHOWS)
    said = " ".join(printed.split())  # `watch` wraps its lines
    assert said.count("not readable as YAML") == 1
    assert name in said


@pytest.mark.parametrize("words", OTHERS)
def test_any_other_command_does_not_fail_over_a_broken_file(answer, words: str) -> None:
    for name in READS:
        for content in (BROKEN["open brace"], BROKEN["list"]):
            status, printed = answer(name, content, words)
            assert status in (0, 1, 2)
            assert "Traceback" not in printed
