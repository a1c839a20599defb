"""`compass verify`: one verdict explained, a file of pairs judged, or how often answers that know only the question are paid."""

from __future__ import annotations

import json as json_lines
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from compass.errors import UserError
from compass.verifier import Mode, Outcome, answer_type, extract_answer, judge, list_candidates, verify_many
from compass.verifier import verify as verdict_of
from compass.verifier.reading.normalise import normalise
from compass.verifier_attack import Attack, Paid, run_attack


def _refuse_option(_: Any, value: str | None) -> None:
    if value and re.fullmatch("--[a-z][a-z-]*(=.*)?", value):
        raise ValueError(f"{value} is no option")


Answer = Annotated[str, Parameter(allow_leading_hyphen=True, validator=_refuse_option)]
"""A gold or an answer, which may be negative."""

_EXIT = {Outcome.EQUAL: 0, Outcome.DIFFERENT: 1, Outcome.UNRECOGNISED: 2}
_ABOUT = {
    "copy": "hand back something of the question: the strict mode must not pay",
    "trick": "hedge, enumerate or speak to the extractor: the strict mode must not pay",
    "guess": "say one plain value: right by chance now and then, a base rate",
}


class PairsError(UserError):
    """A file of pairs that cannot be used; the message names file and line."""

    exit_status = 3  # 1 and 2 are verdicts


class AttackError(UserError):
    """A file of problems that cannot be attacked; the message names it."""

    exit_status = 3


def verify(
    gold: Answer | None = None,
    answer: Answer | None = None,
    /,
    *,
    response: bool = False,
    question: str | None = None,
    file: Path | None = None,
    attack: Path | None = None,
    problems: int = 500,
    processes: int | None = None,
    json: bool = False,
) -> int:
    """Judge whether an answer equals a gold, and say how it was decided.

    Exit status of one pair: 0 equal, 1 different, 2 unrecognised, 3 an input or an option cannot be used. With `--file` and `--attack`: 0.

    Args:
        gold: the reference answer.
        answer: the answer to judge.
        response: ANSWER is a whole response: show what it could answer, and what each mode takes and why.
        question: the problem's text, with --response: its options, and formulas that an answer must not copy.
        file: judge every line of a file: a JSON object with gold and answer (or pred, or response).
        attack: let policies that know only the question answer a file of problems (records, or any file that
            `compass curate` reads), and print for how many each is paid.
        problems: problems for `--attack`, a fixed draw (0: all).
        processes: processes for `--file` (without it, every core).
        json: print JSON.

    Raises:
        PairsError: there is nothing to judge, or the file cannot be used.

    Examples:
        compass verify "1/2" "0.5"                    one pair
        compass verify 9 "It is 3 squared, so 9." --response
        compass verify --file pairs.jsonl --json      every line of a file, a verdict per line
        compass verify --attack problems.jsonl        how often guessing is paid
    """
    if file is not None:
        return _file(file, processes, as_json=json)
    if attack is not None:
        return _attack(attack, problems, as_json=json)
    if gold is None or answer is None:
        raise PairsError("give GOLD and ANSWER, --file PAIRS.jsonl, or --attack PROBLEMS")
    if question is not None and not response:
        raise PairsError("--question: belongs to a whole response; give --response as well")
    return _response(gold, answer, question, as_json=json) if response else _pair(gold, answer, as_json=json)


def _response(gold: str, response: str, question: str | None, *, as_json: bool) -> int:
    """Show what a response could answer, and what each mode takes and why; the exit status is of the lenient mode."""
    judged = {mode: judge(gold=gold, response=response, question=question, mode=mode) for mode in Mode}
    candidates = list_candidates(response)
    if as_json:
        modes = {
            mode: {"answer": one.answer, "evidence": one.evidence, **one.verdict._asdict()}
            for mode, one in judged.items()
        }
        print(json_lines.dumps({"gold": gold, "candidates": candidates, **modes}, ensure_ascii=False))
    else:
        for evidence, value in candidates:
            print(f"candidate  {evidence:12s} {value[:200]}")
        for mode, one in judged.items():
            found = "no answer" if one.answer is None else one.answer[:200]
            print(f"{mode:10s} {one.evidence:12s} {found}: {one.verdict.outcome}, {one.verdict.detail}")
    return _EXIT[judged[Mode.LENIENT].verdict.outcome]


def _pair(gold: str, answer: str, *, as_json: bool) -> int:
    verdict = verdict_of(gold=gold, answer=answer)
    if as_json:
        print(json_lines.dumps({"gold": gold, "answer": answer, **verdict._asdict()}, ensure_ascii=False))
    else:
        print(f"{verdict.outcome}: decided by {verdict.method}, {verdict.detail}")
        for name, text in (("gold", gold), ("answer", answer)):
            print(f"  {name:6s} {answer_type(text):12s} read as {normalise(text)[:200]}")
    return _EXIT[verdict.outcome]


def _file(path: Path, processes: int | None, *, as_json: bool) -> int:
    rows = list(_rows(path))
    verdicts = verify_many([(gold, answer) for gold, answer, _ in rows], processes=processes)
    counts = dict.fromkeys(Outcome, 0)
    wrong = labelled = 0
    for (gold, answer, label), verdict in zip(rows, verdicts, strict=True):
        counts[verdict.outcome] += 1
        if label is not None:
            labelled += 1
            wrong += verdict.equal != label
        if as_json:
            print(json_lines.dumps({"gold": gold, "answer": answer, **verdict._asdict()}, ensure_ascii=False))
    summary = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
    against = f"; {wrong} of {labelled} against their label" if labelled else ""
    print(f"{len(rows)} pair{'s' * (len(rows) != 1)}: {summary}{against}", file=sys.stderr if as_json else sys.stdout)
    return 0


def _rows(path: Path) -> Iterator[tuple[str, str, bool | None]]:
    try:
        with open(path, encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield _row(line, f"{path}:{number}")
    except OSError as error:
        raise PairsError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise PairsError(f"{path}: not UTF-8 at byte {error.start}") from None


def _row(line: str, place: str) -> tuple[str, str, bool | None]:
    try:
        row: Any = json_lines.loads(line)
    except json_lines.JSONDecodeError as error:
        raise PairsError(f"{place}: no JSON object ({error.msg})") from None
    if not isinstance(row, dict) or not isinstance(row.get("gold"), str):
        raise PairsError(f"{place}: needs a text `gold` and one of `answer`, `pred`, `response`")
    if isinstance(row.get("response"), str):
        return row["gold"], extract_answer(row["response"]) or "", row.get("label")
    answer = row.get("answer", row.get("pred"))
    if not isinstance(answer, str):
        raise PairsError(f"{place}: needs a text `answer`, `pred` or `response`, found {type(answer).__name__}")
    return row["gold"], answer, row.get("label")


def _attack(path: Path, count: int, *, as_json: bool) -> int:
    """Print the share of problems that each policy is paid for in both modes."""
    problems = _problems(path, count)
    try:
        found = run_attack(problems)
    except ValueError as error:
        raise AttackError(f"{path}: {error}") from None
    print(json_lines.dumps(_as_json(found)) if as_json else "\n".join(_table(found)))
    return 0


def _problems(path: Path, count: int) -> list[tuple[str, str]]:
    from compass.seeded_draw import draw
    from compass.settings import Collect
    from compass.sources.collect import collect
    from compass.sources.recognise import for_file

    if not path.exists():
        raise AttackError(f"{path}: no such file")
    source = for_file(path)
    kept = collect([source], Collect(sources=[source], benchmarks=[])).kept
    ids, questions, golds = (kept.column(name).to_pylist() for name in ("id", "problem", "answer"))
    rows = dict(zip(ids, zip(questions, golds, strict=True), strict=True))
    if not rows:
        raise AttackError(f"{path}: holds no problem with an answer")
    return [rows[name] for name in draw(rows, count, "0\0attack")]


def _as_json(found: Attack) -> dict:
    return {
        "problems": found.problems,
        "given_away": found.given_away,
        "policies": [
            {"name": paid.policy.name, "kind": paid.policy.kind, "strict": paid.strict, "lenient": paid.lenient}
            for paid in found.results
        ],
    }


def _table(found: Attack) -> list[str]:
    lines = [f"{found.problems} problems; {found.given_away} more left out, because their question writes the answer"]
    for kind, about in _ABOUT.items():
        own = [paid for paid in found.results if paid.policy.kind == kind]
        lines += ["", f"{kind}: {about}", f"  {'policy':38s} {'strict':>8s} {'lenient':>8s}"]
        lines += [
            f"  {paid.policy.name:38s} {paid.strict:8.2%} {paid.lenient:8.2%}" for paid in sorted(own, key=_most_paid)
        ]
    return lines


def _most_paid(paid: Paid) -> tuple[float, float, str]:
    return -paid.strict, -paid.lenient, paid.policy.name
