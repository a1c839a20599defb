"""`compass verify GOLD ANSWER` explains one verdict; `compass verify --file PAIRS.jsonl` judges a file of pairs; `compass verify --attack
PROBLEMS` says how often answers that know only the question are paid."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from compass.errors import UserError
from compass.verifier import Outcome, answer_type, extract_answer, verify, verify_many
from compass.verifier.reading.normalise import normalise

_EXIT = {Outcome.EQUAL: 0, Outcome.DIFFERENT: 1, Outcome.UNRECOGNISED: 2}


class PairsError(UserError):
    """A file of pairs that cannot be used; the message names file and line."""

    exit_status = 3  # 1 and 2 are verdicts


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.description = (
        "Judge whether an answer equals a gold. Exit code: 0 equal, 1 different, 2 unrecognised, 3 bad input."
    )
    parser.add_argument("gold", nargs="?", help="the reference answer")
    parser.add_argument("answer", nargs="?", help="the answer to judge")
    parser.add_argument(
        "--response", action="store_true", help="ANSWER is a whole response: take its final answer first"
    )
    parser.add_argument(
        "--file",
        type=Path,
        metavar="PAIRS.jsonl",
        help="judge every line: an object with gold and answer (or pred, or response)",
    )
    parser.add_argument(
        "--attack",
        type=Path,
        metavar="PROBLEMS",
        help="let policies that know only the question answer a file of problems (records, or any file `compass curate` "
        "reads), and print for how many each is paid",
    )
    parser.add_argument("--problems", type=int, default=500, help="problems for --attack, a fixed draw (0: all)")
    parser.add_argument("--processes", type=int, help="processes for --file (default: every core)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """Print a verdict, or the counts of a file's verdicts; returns the outcome of a pair, 0 for a file.

    Raises:
        PairsError: there is nothing to judge, or the file cannot be used.
    """
    if args.file is not None:
        return _file(args)
    if args.attack is not None:
        from compass.commands.verify_attack import run_attack  # reads sources, which one pair does not need

        return run_attack(args.attack, args.problems, as_json=args.json)
    if args.gold is None or args.answer is None:
        raise PairsError("give GOLD and ANSWER, --file PAIRS.jsonl, or --attack PROBLEMS")
    return _pair(args)


def _pair(args: argparse.Namespace) -> int:
    answer = extract_answer(args.answer) if args.response else args.answer
    if answer is None:
        print("unrecognised: the response gives no final answer")
        return _EXIT[Outcome.UNRECOGNISED]
    verdict = verify(gold=args.gold, answer=answer)
    if args.json:
        print(json.dumps({"gold": args.gold, "answer": answer, **verdict._asdict()}, ensure_ascii=False))
    else:
        print(f"{verdict.outcome}: decided by {verdict.method}, {verdict.detail}")
        for name, text in (("gold", args.gold), ("answer", answer)):
            print(f"  {name:6s} {answer_type(text):12s} read as {normalise(text)[:200]}")
    return _EXIT[verdict.outcome]


def _file(args: argparse.Namespace) -> int:
    rows = list(_rows(args.file))
    verdicts = verify_many([(gold, answer) for gold, answer, _ in rows], processes=args.processes)
    counts = dict.fromkeys(Outcome, 0)
    wrong = labelled = 0
    for (gold, answer, label), verdict in zip(rows, verdicts, strict=True):
        counts[verdict.outcome] += 1
        if label is not None:
            labelled += 1
            wrong += verdict.equal != label
        if args.json:
            print(json.dumps({"gold": gold, "answer": answer, **verdict._asdict()}, ensure_ascii=False))
    summary = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
    against = f"; {wrong} of {labelled} against their label" if labelled else ""
    print(f"{len(rows)} pairs: {summary}{against}", file=sys.stderr if args.json else sys.stdout)
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
        row: Any = json.loads(line)
    except json.JSONDecodeError as error:
        raise PairsError(f"{place}: no JSON object ({error.msg})") from None
    if not isinstance(row, dict) or not isinstance(row.get("gold"), str):
        raise PairsError(f"{place}: needs a text `gold` and one of `answer`, `pred`, `response`")
    if isinstance(row.get("response"), str):
        return row["gold"], extract_answer(row["response"]) or "", row.get("label")
    answer = row.get("answer", row.get("pred"))
    if not isinstance(answer, str):
        raise PairsError(f"{place}: needs a text `answer`, `pred` or `response`, found {type(answer).__name__}")
    return row["gold"], answer, row.get("label")
