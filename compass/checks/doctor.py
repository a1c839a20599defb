"""Run every check at once, each with a limit, so that the answer is there in seconds."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from compass.checks import machine, network, repository, software
from compass.checks.finding import Finding, Place
from compass.errors import UserError

NETWORK_S = 2.5
"""Seconds that the checks which ask other machines have; one that is not done by then is reported so."""

LIMIT_S = 20.0
"""Seconds that the others have: on a busy machine they are slow, and hang for no other reason."""

Check = Callable[[Place], Iterable[Finding]]

CHECKS: tuple[Check, ...] = (
    software.check_python,
    software.check_packages,
    machine.check_machine,
    machine.check_writing,
    machine.check_limits,
    machine.check_gpus,
    network.check_ray,
    repository.check_services,
    repository.check_processes,
    repository.check_git,
    repository.check_parameters,
    network.check_hub,
    network.check_remotes,
    repository.check_cache,
    repository.check_runs,
    software.check_variables,
)
"""In the order in which they are shown."""


def examine(root: Path, checks: Sequence[Check] = CHECKS, network_s: float = NETWORK_S) -> list[Finding]:
    """Run the checks.

    Args:
        root: the repository's root.
        checks: those to run.
        network_s: seconds for those that ask other machines.

    Returns:
        What they found, in their order. A check that fails itself, or is too slow, is a warning.
    """
    place = Place(root, software.list_installed())
    found: dict[int, list[Finding]] = {}

    def run(number: int, check: Check) -> None:
        try:
            found[number] = list(check(place))
        except UserError as error:
            found[number] = [Finding(_name(check), error.message, error.remedy)]
        except Exception as error:  # a fault in one check must not hide what the others find
            said = f"could not be checked: {type(error).__name__}: {error}"
            found[number] = [Finding(_name(check), said, level="warning")]

    # Daemons: one that hangs in the network must not keep the program from ending.
    threads = [threading.Thread(target=run, args=(number, check), daemon=True) for number, check in enumerate(checks)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for number, (thread, check) in enumerate(zip(threads, checks, strict=True)):
        limit = network_s if check.__module__ == network.__name__ else LIMIT_S
        thread.join(max(0.0, began + limit - time.monotonic()))
        if number not in found:
            remedy = "`compass doctor --seconds 20`"
            found[number] = [Finding(_name(check), f"not known after {limit:g} s", remedy, "warning")]
    return [finding for number in sorted(found) for finding in found[number]]


def _name(check: Check) -> str:
    return check.__name__.removeprefix("check_").replace("_", " ")
