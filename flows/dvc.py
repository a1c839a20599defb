"""The `dvc` of this environment: DVC, whose runs are checked first and wait for each other.

`make setup` puts it at `.venv/bin/dvc`, because what people type, read in DVC's documentation and have in their scripts is
`dvc repro`; a command of our own beside it would leave the plain one as it is: failing with "busy" while another run goes
on, and removing outputs before a mistyped setting is found. What changes, in this repository alone:

- `repro` and `exp run` go through `flows.run`, as `compass run` and Prefect's flows do;
- what else writes into the workspace (`checkout`, `pull`, `exp apply`, ...) waits until no run is going on;
- `exp run --queue` and `--temp` work in copies: their values are checked, and their stages wait one by one (`COMPASS_LINE=off`
  lets them run beside others, on a machine that has room);
- `exp show` shows what differs and the headline scores, and `diff` compares with the last experiment where the commit has
  no results of its own; any option of theirs that selects columns or revisions is obeyed instead.

Every other command, and all of them in other repositories, are DVC's own. `python -m dvc` always is.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from compass.errors import UserError

WRITES = frozenset(
    [
        "add",
        "checkout",
        "commit",
        "import",
        "import-url",
        "import-db",
        "move",
        "mv",
        "pull",
        "remove",
        "rm",
        "unprotect",
        "update",
        "gc",
        "exp:apply",
        "exp:save",
        "stage:add",
        "freeze",
        "unfreeze",
    ]
)
"""Commands that write what a run reads or writes; `exp:apply` is `dvc exp apply`."""

GROUPS = {
    "exp": "exp",
    "experiments": "exp",
    "stage": "stage",
    "metrics": "metrics",
    "params": "params",
    "plots": "plots",
}
"""Commands with commands of their own."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `dvc`; returns its exit status."""
    from compass import environment

    words = list(sys.argv[1:] if arguments is None else arguments)
    root = project_root(Path.cwd())
    environment.apply(root)
    if root is None or _asks_for_help(words):
        return raw(words)
    try:
        return _in_project(words, root)
    except UserError as error:
        print(f"dvc {command(words).replace(':', ' ')}: {error}", file=sys.stderr)
        return error.exit_status
    except KeyboardInterrupt:
        return 130


def _in_project(words: list[str], root: Path) -> int:
    from flows.dvc_shown import with_defaults
    from flows.plots_page import PAGE, write_plots_page

    verb = command(words)
    if verb in ("repro", "exp:run") and Path.cwd() == root:
        return _run(verb, words, root)
    if verb in WRITES or (verb in ("repro", "exp:run") and not _only_tells(words)):
        return _hold_and_become(words, root)
    if verb.startswith("plots:") and not (root / PAGE).exists():
        write_plots_page(root / PAGE)
    return raw(with_defaults(verb, words, root))


def raw(words: Sequence[str]) -> int:
    """DVC itself, in this process."""
    from dvc.cli import main as dvc

    return dvc(list(words))


def project_root(folder: Path) -> Path | None:
    """The root of the repository that `folder` is in, where it is one of this project's; else None."""
    for place in (folder, *folder.parents):
        if (place / ".dvc").is_dir():
            parameters = place / "params.yaml"
            try:
                ours = (place / "dvc.yaml").is_file() and "\nprofile:" in "\n" + parameters.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError):
                ours = False
            return place if ours else None
    return None


def command(words: Sequence[str]) -> str:
    """The command among the words: `repro`, or `exp:run` for `exp run`; "" where there is none."""
    plain = [word for word in words if not word.startswith("-")]
    if len(plain) > 1 and plain[0] in GROUPS:
        return f"{GROUPS[plain[0]]}:{plain[1]}"
    return plain[0] if plain else ""


def _asks_for_help(words: Sequence[str]) -> bool:
    return bool({"-h", "--help", "--version", "-V", "--cd"} & set(words))


def _only_tells(words: Sequence[str]) -> bool:
    return "--dry" in words


def _run(verb: str, words: list[str], root: Path) -> int:
    """`repro` and `exp run` from the repository's root."""
    from flows.overrides import parse_parameters
    from flows.run import RunRequest, check_request
    from flows.terminal import run_in_terminal

    given, other = _parser().parse_known_args(_after(verb, words))
    program = f"dvc {verb.replace(':', ' ')}"
    if given.dry:
        return raw(words)
    if given.queue or given.temp or given.run_all:
        for word in given.set_param:
            if not _is_sweep(word):
                check_request(RunRequest(overrides=parse_parameters([word])), root)
        return raw(words)
    targets = [word for word in other if not word.startswith("-")]
    flags = tuple(word for word in other if word.startswith("-"))
    # A target that is a file, a pattern or one of several is DVC's to understand.
    simple = len(targets) < 2 and not flags
    request = RunRequest(
        targets[0] if targets and simple else None,
        "only" if given.single_item else "downstream" if given.downstream else "upto",
        given.force,
        parse_parameters(given.set_param),
        given.name,
        given.message,
        extra=() if simple else tuple(other),
    )
    started_by = "dvc exp" if verb == "exp:run" else "terminal"
    status, _ = run_in_terminal(request, root, program=program, started_by=started_by)
    return status


def _after(verb: str, words: list[str]) -> list[str]:
    """The words after the command, without the options that stand before it."""
    last = verb.rpartition(":")[2]
    return words[words.index(last) + 1 :]


def _parser() -> argparse.ArgumentParser:
    """The options of `repro` and `exp run` that matter here; the others are handed on."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("-s", "--single-item", action="store_true")
    parser.add_argument("--downstream", action="store_true")
    parser.add_argument("-f", "--force", action="store_true")
    parser.add_argument("--dry", action="store_true")
    parser.add_argument("-S", "--set-param", action="append", default=[])
    parser.add_argument("-n", "--name")
    parser.add_argument("-m", "--message")
    parser.add_argument("--queue", action="store_true")
    parser.add_argument("--temp", action="store_true")
    parser.add_argument("--run-all", action="store_true")
    return parser


def _is_sweep(word: str) -> bool:
    """Whether a value stands for several, as `seed=1,2` and `seed=range(1, 4)` do for `--queue`."""
    value = word.partition("=")[2].strip()
    return ("," in value and value[:1] not in "[{\"'") or value.startswith(("range(", "choice(", "glob("))


def _hold_and_become(words: list[str], root: Path) -> int:
    """Wait in line and become DVC, which holds the lock until it ends."""
    import shlex

    from compass.line import HELD, take_lock
    from compass.processes import process_key

    file = take_lock(root, shlex.join(["dvc", *words]))
    if file is not None:
        os.set_inheritable(file, True)
        os.environ[HELD] = process_key()
    os.execv(sys.executable, [sys.executable, "-m", "dvc", "--wait-for-lock", *words])


if __name__ == "__main__":
    sys.exit(main())
