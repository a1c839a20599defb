"""`compass doctor`: is this machine, and this folder, fit to run the pipeline."""

from __future__ import annotations

from json import dumps

MARKS = {"ok": "ok     ", "warning": "WARNING", "problem": "PROBLEM"}
WIDTH = 15
"""Columns of what was looked at; the name of a setting may take more."""


def doctor(*, json: bool = False, seconds: float = 2.5) -> int:
    """Check Python, packages, machine, services, network, repository and parameters, and say how to fix what is wrong.

    It changes nothing, and takes two seconds on an idle machine. Exit status 1 where there is a problem, and 0 where there are only warnings.

    Args:
        json: print the findings as JSON: `check`, `level`, `found` and `remedy` of each.
        seconds: how long to wait for an answer of other machines: the hub, a Ray cluster.

    Examples:
        compass doctor          what works, what does not, and what to do
        compass doctor --json   the same for a script
    """
    from compass.checks.doctor import Place, examine
    from compass.commands.up import find_repository

    findings = []
    for finding in examine(Place(find_repository(), seconds)):
        findings.append(finding)
        if not json:
            print(f"{MARKS[finding.level]}  {finding.where:<{WIDTH}}  {finding.found}", flush=True)
            if finding.remedy:
                print(f"{'':>{len(MARKS['ok']) + WIDTH + 5}}fix: {finding.remedy}")
    problems = sum(finding.level == "problem" for finding in findings)
    if json:
        rows = [{"check": one.where, "level": one.level, "found": one.found, "remedy": one.remedy} for one in findings]
        print(dumps({"healthy": not problems, "findings": rows}, indent=2))
        return int(bool(problems))
    warnings = sum(finding.level == "warning" for finding in findings)
    counts = (f"{count} {noun}{'s' * (count != 1)}" for count, noun in ((problems, "problem"), (warnings, "warning")))
    print(", ".join(counts) if problems or warnings else "all is well")
    return int(bool(problems))
