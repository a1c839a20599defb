"""Near-duplicate search: speed, memory, recall and precision, beside a plain datasketch loop and rensa, in one run.

    pip install rensa
    python benchmarks/dedup.py --data ../shared/data/raw --rows 1000000 --out benchmarks/dedup.md

Rows are real problems (every .jsonl.gz in `--data`), then variants of them whose truth is known: exact copies in other
markup, light rewordings with the same numbers (near-duplicates), and copies with other numbers (different problems).
All three libraries get the same words, n-grams, permutations, bands and threshold. datasketch and rensa run on as many
rows as they manage in reasonable time (`--peer-rows`), and their rates are per row.
"""

from __future__ import annotations

import argparse
import gzip
import json
import multiprocessing
import os
import platform
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from process_usage import Usage

from compass.curation.duplicates import RECALL, find_duplicates
from compass.curation.minhash import bands
from compass.curation.problem_words import ngrams, numbers, tokens, words
from compass.machine import cores
from compass.settings import Dedup

FIELDS = ("problem", "question", "prompt", "input", "nl_statement")
FILLERS = ("Explain.", "Show your work.", "Give a number.", "Think step by step.")


def main() -> None:
    """Run every measurement, each dedup run in a process of its own so that peak memory is its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--peer-rows", type=int, default=20_000)
    parser.add_argument("--pairs-rows", type=int, default=20_000)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--part", choices=("ours", "datasketch", "rensa", "pairs"))
    args = parser.parse_args()
    if args.part:
        print(json.dumps(PARTS[args.part](args)))
        return
    found = {}
    for part in PARTS:
        command = [sys.executable, __file__, *sys.argv[1:], "--part", part]
        print(f"{part} …", file=sys.stderr, flush=True)
        found[part] = json.loads(
            subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1]
        )
    text = report(args, found)
    print(text)
    if args.out:
        args.out.write_text(text)


def ours(args: argparse.Namespace) -> dict[str, float]:
    """This project on all rows."""
    # Texts come from a file, as the stage reads them: Python's copies of them would count as this search's memory.
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "corpus.parquet"
        maker = multiprocessing.get_context("spawn").Process(target=write_corpus, args=(args.data, args.rows, path))
        maker.start()
        maker.join()
        with pq.ParquetFile(
            path
        ) as file:  # group by group, as the stage reads: at once, what is unpacked is there twice
            read = pa.Table.from_batches(file.iter_batches(20_000, use_threads=False))
    column, origin, kind = read["text"], read["origin"].to_numpy(), read["kind"].to_numpy()
    del read
    find_duplicates(column.slice(0, 100), Dedup())  # compile, or load what was compiled before
    with Usage() as usage:
        found = find_duplicates(column, Dedup())
    same = found.cluster == found.cluster[origin]
    return {
        "rows": len(column),
        "seconds": usage.seconds,
        "cpu": usage.cpu,
        "peak_gb": usage.peak_mb / 1e3,
        "before_gb": usage.before_mb / 1e3,
        "duplicates": int(len(column) - len(np.unique(found.cluster))),
        "exact_found": float(same[kind == 1].mean()),
        "near_found": float(same[kind == 2].mean()),
        "numbers_merged": float(same[kind == 3].mean()),
    }


def datasketch_loop(args: argparse.Namespace) -> dict[str, float]:
    """datasketch as its documentation uses it: a MinHash per row, inserted into and queried from MinHashLSH."""
    from datasketch import MinHash, MinHashLSH

    settings = Dedup()
    index = MinHashLSH(num_perm=settings.permutations, params=bands(settings.threshold, settings.permutations, RECALL))

    def sign(row: list[bytes]) -> MinHash:
        made = MinHash(num_perm=settings.permutations, seed=settings.seed)
        made.update_batch(row)
        return made

    return time_peer(index, sign, peer_ngrams(args))


def rensa_loop(args: argparse.Namespace) -> dict[str, float]:
    """rensa as its documentation uses it, with the same bands."""
    from rensa import RMinHash, RMinHashLSH

    settings = Dedup()
    count, rows = bands(settings.threshold, settings.permutations, RECALL)
    index = RMinHashLSH(threshold=settings.threshold, num_perm=count * rows, num_bands=count)

    def sign(row: list[str]) -> RMinHash:
        made = RMinHash(num_perm=count * rows, seed=settings.seed)
        made.update(row)
        return made

    return time_peer(index, sign, [[gram.decode() for gram in row] for row in peer_ngrams(args)])


def time_peer(index: Any, sign: Callable[[Any], Any], grams: list[Any]) -> dict[str, float]:
    """Sign, look up and insert row after row."""
    begin, used = time.perf_counter(), time.process_time()
    candidates = 0
    for number, row in enumerate(grams):
        made = sign(row)
        candidates += len(index.query(made))
        index.insert(number, made)
    spent = {"seconds": time.perf_counter() - begin, "cpu": time.process_time() - used}
    return {"rows": len(grams), "candidates": candidates, **spent}


def pairs(args: argparse.Namespace) -> dict[str, float]:
    """Recall and precision against the true similarity of every pair, without and with `numbers_must_match`."""
    from scipy.sparse import csr_matrix

    texts, _ = corpus(args.data, max(args.pairs_rows, 1), share_real=0.5)
    read = [tokens(text) for text in texts]
    ids: dict[str, int] = {}
    sets = [sorted({ids.setdefault(ngram, len(ids)) for ngram in ngrams(words(one), 3)}) for one in read]
    decisive = np.unique([" ".join(numbers(one)) for one in read], return_inverse=True)[1]
    sizes = np.array([len(row) for row in sets])
    matrix = csr_matrix(
        (np.ones(sizes.sum(), np.int32), np.concatenate(sets).astype(np.int64), np.append(0, np.cumsum(sizes))),
        shape=(len(texts), len(ids)),
    )
    left, right = [], []
    for low in range(0, len(texts), 500):
        shared = (matrix[low : low + 500] @ matrix.T).tocoo()
        one, other = shared.row + low, shared.col
        similar = shared.data >= 0.8 * (sizes[one] + sizes[other] - shared.data)
        similar &= one < other
        left.append(one[similar])
        right.append(other[similar])
    one, other = np.concatenate(left), np.concatenate(right)
    result: dict[str, float] = {"rows": len(texts)}
    for name, settings in (("any", Dedup(numbers_must_match=False)), ("numbers", Dedup())):
        cluster = find_duplicates(texts, settings).cluster
        true = np.ones(len(one), bool) if name == "any" else decisive[one] == decisive[other]
        linked = np.unique(np.concatenate([one[true], other[true]]))
        members = np.flatnonzero(np.bincount(cluster, minlength=len(texts))[cluster] > 1)
        result[f"pairs_{name}"] = int(true.sum())
        result[f"recall_{name}"] = float((cluster[one] == cluster[other])[true].mean())
        # Precision: each row of a cluster has a true duplicate in it; a pair is joined only after confirmation.
        result[f"precision_{name}"] = float(np.isin(members, linked).mean())
    return result


PARTS = {"ours": ours, "datasketch": datasketch_loop, "rensa": rensa_loop, "pairs": pairs}


def peer_ngrams(args: argparse.Namespace) -> list[list[bytes]]:
    """The n-grams that the peers are given; splitting words is not counted against them."""
    texts, _ = corpus(args.data, args.peer_rows)
    return [[ngram.encode() for ngram in ngrams(words(tokens(text)), Dedup().ngram)] for text in texts]


def corpus(data: Path, rows: int, share_real: float = 1.0) -> tuple[list[str], tuple[np.ndarray, np.ndarray]]:
    """`rows` texts, and for each the row it was made from and how: 0 itself, 1 exact, 2 near, 3 other numbers."""
    texts = list(real(data))
    random.Random(0).shuffle(texts)
    texts = texts[: max(1, int(rows * share_real))]
    origin, kind, rng, base = list(range(len(texts))), [0] * len(texts), random.Random(1), len(texts)
    while len(texts) < rows:
        source = len(texts) % base
        text, how = texts[source], rng.choice((1, 2, 3, 3, 3))
        if how == 1:
            text = rng.choice((str.upper, lambda t: f"  {t} ", lambda t: t.replace("$", "")))(text)
        elif how == 2:
            filler = rng.choice(FILLERS)
            text = f"{text} {filler}" if len(text) > 60 * len(filler.split()) else f"{text} So?"
        else:
            text = (
                re.sub(r"\d+", lambda _: str(rng.randint(1, 9_999)), text)
                if re.search(r"\d", text)
                else f"{text} {rng.random()}"
            )
        texts.append(text)
        origin.append(source)
        kind.append(how)
    return texts[:rows], (np.array(origin[:rows]), np.array(kind[:rows]))


def write_corpus(data: Path, rows: int, path: Path) -> None:
    """Write `corpus` as a parquet file."""
    texts, (origin, kind) = corpus(data, rows)
    pq.write_table(
        pa.table({"text": pa.array(texts, type=pa.large_string()), "origin": origin, "kind": kind}),
        path,
        row_group_size=50_000,
    )


def real(data: Path) -> Iterator[str]:
    """The problems of published sources."""
    for path in sorted(data.glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                text = next((row[field] for field in FIELDS if row.get(field)), "")
                yield text if isinstance(text, str) else text[-1]["content"]


def report(args: argparse.Namespace, found: dict[str, dict[str, float]]) -> str:
    """The results as Markdown."""
    import importlib.metadata

    import datasketch

    mine, sketch, other, every = (found[name] for name in ("ours", "datasketch", "rensa", "pairs"))
    rate = mine["rows"] / mine["cpu"]
    rows = [
        ("this project, whole search", mine),
        (f"datasketch {datasketch.__version__}, loop", sketch),
        (f"rensa {importlib.metadata.version('rensa')}, loop", other),
    ]
    lines = [
        "# Near-duplicate search",
        "",
        f"`python benchmarks/dedup.py --rows {args.rows}` on {cores()} cores ({platform.machine()}), load average "
        f"{os.getloadavg()[0]:.1f} at the end. Word trigrams, 128 permutations, Jaccard ≥ 0.8, "
        f"{'×'.join(map(str, bands(0.8, 128, RECALL)))} bands × rows for all.",
        "",
        "| search | rows | seconds | CPU seconds | rows per CPU second | this project is faster by |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        *(
            f"| {name} | {one['rows']:,} | {one['seconds']:.1f} | {one['cpu']:.1f} | {one['rows'] / one['cpu']:,.0f} "
            f"| {rate * one['cpu'] / one['rows']:.2f} |"
            for name, one in rows
        ),
        "",
        "This project's time covers everything from text to clusters: words, n-grams and their hashes, exact duplicates,",
        "datasketch's signatures, bands, exact Jaccard of every candidate, union-find, and the start of the processes. The",
        "peers are given n-grams, one core, and stop at unconfirmed candidates.",
        "",
        f"- Peak memory of all processes {mine['peak_gb']:.2f} GB, of which {mine['before_gb']:.2f} GB were there before (texts and imports).",
        f"- Planted among {int(mine['rows']):,} rows: exact copies found {mine['exact_found']:.4f}, near copies found {mine['near_found']:.4f}, "
        f"copies with other numbers merged {mine['numbers_merged']:.5f}.",
        f"- All pairs of {int(every['rows']):,} rows by their true similarity: recall {every['recall_any']:.4f} of {every['pairs_any']:,} pairs "
        f"(precision {every['precision_any']:.4f}); with `numbers_must_match` recall {every['recall_numbers']:.4f} of {every['pairs_numbers']:,} "
        f"(precision {every['precision_numbers']:.4f}).",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
