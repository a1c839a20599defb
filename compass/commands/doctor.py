"""`compass doctor`: is this machine, and this folder, fit to run the pipeline."""

from __future__ import annotations

import sys

MARKS = {"ok": "ok     ", "warning": "WARNING", "problem": "PROBLEM"}


def doctor(*, json: bool = False, seconds: float = 2.5) -> int:
    """Check Python, packages, machine, services, network, repository and parameters, and say how to fix what is wrong.

    It changes nothing, and takes two seconds on an idle machine. Exit status 1 where there is a problem, and 0 where there are only warnings.

    Args:
        json: print the findings as JSON: `check`, `level`, `found` and `remedy` of each.

        seconds: how long to wait for what is asked of other machines: the hub, remotes, a Ray cluster.

    Examples:
        compass doctor          what works, what does not, and what to do
        compass doctor --json   the same for a script
    """
    from compass.checks.doctor import examine
    from compass.commands.up import find_repository

    findings = examine(find_repository(), network_s=seconds)
    problems = sum(finding.level == "problem" for finding in findings)
    if json:
        import json as writer

        rows = [{"check": one.where, "level": one.level, "found": one.found, "remedy": one.remedy} for one in findings]
        print(writer.dumps({"healthy": not problems, "findings": rows}, indent=2))
        return int(bool(problems))
    width = max(len(finding.where) for finding in findings)
    for finding in findings:
        print(f"{MARKS[finding.level]}  {finding.where:<{width}}  {finding.found}")
        if finding.remedy:
            print(f"{'':>{len(MARKS['ok']) + width + 5}}fix: {finding.remedy}")
    warnings = sum(finding.level == "warning" for finding in findings)
    sys.stdout.flush()
    counts = (f"{count} {noun}{'s' * (count != 1)}" for count, noun in ((problems, "problem"), (warnings, "warning")))
    print(", ".join(counts) if problems or warnings else "all is well")
    return int(bool(problems))
