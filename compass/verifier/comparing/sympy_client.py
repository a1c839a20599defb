"""The last tier: sympy, in a process of its own that ends where its work exceeds the budget.

One such process serves all threads of this one, in turn; a forked child starts its own. Nothing here uses signals.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from compass.verifier.tree import Node, Number
from compass.verifier.verdict import Finding

SECONDS = float(os.environ.get("COMPASS_SYMPY_SECONDS", "0.1"))
"""Work that sympy may do for one comparison, as the processor time that it takes on a common machine; the environment
variable `COMPASS_SYMPY_SECONDS` changes it. Sympy's process counts the work, so a busy machine takes longer and finds the
same."""
_SCRIPT = Path(__file__).with_name("sympy_worker.py")


class _Client:
    """The process and the lock that lets one thread speak to it at a time."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.process: subprocess.Popen[str] | None = None
        self.ready = False

    def start(self) -> None:
        """Start the process, if it does not run, and do not wait until it is ready."""
        with self.lock:
            self._started()

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request and wait for its answer; a process that has died is started again once."""
        with self.lock:
            for _ in range(2):
                process = self._running()
                assert process.stdin is not None
                assert process.stdout is not None
                try:
                    process.stdin.write(json.dumps(request) + "\n")
                    process.stdin.flush()
                    line = process.stdout.readline()
                except BrokenPipeError:
                    line = ""
                except BaseException:  # interrupted: the answer that still comes would be taken for the next question's
                    self.close()
                    raise
                if line:
                    return json.loads(line)
                self.close()
            raise RuntimeError(
                "sympy's process ended twice without an answer; run compass/verifier/comparing/sympy_worker.py by hand to see why"
            )

    def _started(self) -> subprocess.Popen[str]:
        if self.process is None or self.process.poll() is not None:
            self.ready = False
            environment = os.environ | {"OMP_NUM_THREADS": "1"}
            self.process = subprocess.Popen(
                [sys.executable, "-I", str(_SCRIPT)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True,
            )  # fmt: skip
        return self.process

    def _running(self) -> subprocess.Popen[str]:
        process = self._started()
        assert process.stdout is not None
        if not self.ready and not process.stdout.readline():
            raise RuntimeError(f"sympy's process did not start: run `{sys.executable} {_SCRIPT}` to see why")
        self.ready = True
        return process

    def close(self) -> None:
        """End the process."""
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            process.wait()


_client = _Client()


def _after_fork() -> None:
    """A forked child leaves its parent's process alone and starts its own."""
    global _client
    _client = _Client()


os.register_at_fork(after_in_child=_after_fork)


def start() -> None:
    """Start sympy's process in the background, if it does not run."""
    _client.start()


def as_json(part: Any) -> Any:
    """A tree as lists of its kind and fields, fractions as text; a number's literal is left out."""
    match part:
        case Number(value):
            return ["num", f"{value.p}/{value.q}"]
        case Node():
            return [part.kind, *(as_json(getattr(part, field)) for field in part.__match_args__)]
        case tuple():
            return [as_json(item) for item in part]
    return part


def compare(gold: Node, answer: Node) -> Finding:
    """Ask sympy whether two expressions are equal.

    Returns:
        A finding by the method `sympy`; undecided when sympy has used up its budget, fails, or cannot tell.
    """
    reply = _client.ask({"left": as_json(gold), "right": as_json(answer), "seconds": SECONDS})
    return Finding(reply["same"], "sympy", reply["why"])
