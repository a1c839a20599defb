"""How many reworded problems the search for duplicates in other words finds, by threshold, and how many MinHash finds.

    COMPASS_DATA=folder python benchmarks/semantic_recall.py MODEL

MODEL is the folder of an embedding model. The rows of GSM-Plus that reword a problem of GSM8K ("problem understanding") hold both.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from compass.curation.duplicates import search  # noqa: E402
from compass.curation.semantic import Embed, find_reworded, group_by_numbers, load_model  # noqa: E402
from compass.ledger import Drop  # noqa: E402
from compass.records import table  # noqa: E402
from compass.settings import Dedup, SemanticDedup  # noqa: E402

THRESHOLDS = (0.80, 0.85, 0.90, 0.92, 0.95)


def read_pairs(data: Path) -> list[pa.Table]:
    """Tables of two records, a problem and its rewording."""
    with gzip.open(data / "raw_unseen/gsm_plus_testmini.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [row for row in map(json.loads, file) if row["perturbation_type"] == "problem understanding"]
    both = [((row["seed_question"], row["seed_answer"]), (row["question"], row["answer"])) for row in rows]
    return [
        table(
            [{"id": str(n), "source": "s", "problem": text, "answer": str(gold)} for n, (text, gold) in enumerate(pair)]
        )
        for pair in both
    ]


def joined(pair: pa.Table, settings: SemanticDedup, embed: Embed) -> dict[int, tuple[int, Drop]]:
    """What of a pair duplicates the other."""
    rows = dict(enumerate(pair.to_pylist()))
    return find_reworded(group_by_numbers((row, rows[row]["problem"]) for row in rows), rows, {"s": 0}, settings, embed)


def main() -> None:
    """Print the shares as a Markdown table."""
    if len(sys.argv) != 2 or not (data := os.environ.get("COMPASS_DATA")):
        sys.exit(__doc__)
    pairs = read_pairs(Path(data))
    texts = [text for pair in pairs for text in pair["problem"].to_pylist()]
    vectors = dict(zip(texts, load_model(sys.argv[1])(texts), strict=True))

    def embed(wanted):
        return np.stack([vectors[text] for text in wanted])

    print("| threshold | found |\n|---|---|")
    for threshold in THRESHOLDS:
        settings = SemanticDedup(model=sys.argv[1], threshold=threshold)
        found = sum(bool(joined(pair, settings, embed)) for pair in pairs)
        print(f"| {threshold} | {found / len(pairs):.1%} |")
    words = sum(len(set(search([pair["problem"].to_pylist()], 2, Dedup()).cluster)) == 1 for pair in pairs)
    print(f"\n{len(pairs)} pairs; MinHash joins {words}")


if __name__ == "__main__":
    main()
