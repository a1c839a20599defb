"""How `compass curate` does on labelled rows of whole published files: good rows lost, kept rows that are unfit, precision per reason.

    COMPASS_DATA=folder python benchmarks/published_files.py [--split held] [--list]

Labels are in `tests/data/published_files_labels.csv`: the file, the number of the row in it, and what a reader called it: `fit`,
`wrong_gold` (fit, but for an answer that only solving the problem shows to be wrong: no loss where it goes, and not held against the
filters where it stays), `?` (readers may differ), or why it is unfit.
`sample` is `random` (5 rows per file), `second` (10 further rows of each English file), `candidate` (a wide pattern) or `unseen` (31
rows of each of twenty further sets, `unseen/NAME` in the folder; a row's number counts over all files of the set). Each file's fields are guessed on the whole file; of its rows only those with a label are judged, each alone, so that none is a duplicate.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from compass.curation import noise  # noqa: E402
from compass.curation.verify_golds import verify_golds  # noqa: E402
from compass.records import RECORD, table  # noqa: E402
from compass.settings import Collect, Denoise, Source, Verify  # noqa: E402
from compass.sources.collect import collect  # noqa: E402
from compass.sources.read import data_files, file_rows  # noqa: E402
from compass.sources.recognise import described, read_as  # noqa: E402

LABELS = ROOT / "tests/data/published_files_labels.csv"
NAMED = {
    "putnam_informal": {"problem_field": "informal_statement", "answer_field": "informal_solution"},
    "gsm_ic": {"problem_field": "new_question"},
    "mathq_courses": {"problem_field": "Original Problem", "answer_field": "Solution"},
}
"""Fields that `compass curate` asks for."""

WITHOUT_GOLDS = {
    name: Source(name=name, path="-", problem_field=problem, answer_field="", solution_field=proof)
    for name, problem, proof in (
        ("minif2f_informal", "informal_statement", "informal_proof"),
        ("proofnet", "nl_statement", "nl_proof"),
    )
}
"""Statements with proofs alone, which `compass curate` refuses."""


def find_set(data: Path, name: str) -> Path:
    """The file of a set below the folder of the sources; of one in `unseen` its folder, or the only file in that."""
    folder = data / "unseen" / name
    if not folder.is_dir():
        found = next(data.glob(f"raw*/{name}.jsonl.gz"), None)
        return found or sys.exit(f"{data}: neither raw*/{name}.jsonl.gz nor unseen/{name} is there")
    files = data_files(folder)
    return files[0] if len(files) == 1 else folder


def judge_rows(path: Path, name: str, numbers: list[int]) -> dict[int, str]:
    """The reason for which each of some rows of a file or folder is dropped, or `kept`."""
    source = WITHOUT_GOLDS.get(name)
    if source is None:
        source = (read_as(path, NAMED[name]) if name in NAMED else described(path))[0]
    rows = [row for file in data_files(path) for _, row in file_rows(file)]
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as chosen:
        chosen.writelines(json.dumps(rows[number]) + "\n" for number in numbers)
        chosen.flush()
        alone = source.model_copy(update={"name": name, "path": chosen.name, "id_field": ""})
        read = collect([alone], Collect(sources=[], benchmarks=[]))
    fates = {int(row["source_id"]): row["reason"] for row in read.dropped.to_pylist()}
    left = []
    for row in read.kept.to_pylist():
        drop = noise.check(row, Denoise())
        fates[int(row["source_id"])] = str(drop.reason) if drop else "kept"
        left += [] if drop else [row]
    _, dropped = verify_golds(table(left, RECORD), Verify())
    fates |= {int(row["source_id"]): row["reason"] for row in dropped.to_pylist()}
    return {number: fates[place] for place, number in enumerate(numbers)}


def main() -> None:
    """Print the tables; with `--list`, each good row that is lost and each unfit one that is kept."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--split", choices=["dev", "held"], help="only the rows of this split")
    parser.add_argument("--list", action="store_true", help="list the disagreements of the split dev")
    arguments = parser.parse_args()
    data = Path(os.environ.get("COMPASS_DATA") or sys.exit("COMPASS_DATA is not set: the folder of the sources"))
    with open(LABELS, encoding="utf-8", newline="") as file:
        labels = [row for row in csv.DictReader(file) if arguments.split in (None, row["split"])]
    if not (data / "unseen").is_dir():
        labels = [label for label in labels if label["sample"] != "unseen"]
        print(
            f"{data}/unseen is not there: without its rows; docs/measurements/noise_measured.md says where the sets are\n"
        )
    by_file = defaultdict(list)
    for label in labels:
        by_file[label["file"]].append(int(label["row"]))
    fates = {}
    for name, numbers in by_file.items():
        judged = judge_rows(find_set(data, name), name, numbers)
        fates |= {(name, number): fate for number, fate in judged.items()}
    counts, drops, right = Counter(), Counter(), Counter()
    for label in labels:
        fate, sound = fates[label["file"], int(label["row"])], label["label"] == "fit"
        if label["label"] == "?" or (label["label"] == "wrong_gold" and fate == "kept"):
            continue
        for sample in ("all", label["sample"]):
            counts[sample, "sound"] += sound
            counts[sample, "lost"] += sound and fate != "kept"
            counts[sample, "kept"] += fate == "kept"
            counts[sample, "unfit"] += fate == "kept" and not sound
        if fate != "kept":
            drops[fate] += 1
            right[fate] += not sound
        if arguments.list and label["split"] == "dev" and sound != (fate == "kept"):
            print(f"{label['file']}:{label['row']} {label['label']}, {fate}")
    for sample in ("random", "second", "unseen", "all"):
        lost, sound, unfit, kept = (counts[sample, name] for name in ("lost", "sound", "unfit", "kept"))
        print(f"{sample}: good rows lost {lost} of {sound}; kept rows that should have gone {unfit} of {kept}")
    print("\n| reason | dropped | right to drop |\n|---|---|---|")
    for reason, count in drops.most_common():
        print(f"| `{reason}` | {count} | {right[reason]} |")


if __name__ == "__main__":
    main()
