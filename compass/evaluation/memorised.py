"""Whether a model knows a benchmark by heart: it is shown the beginning of each problem, without a chat template, and goes on.

After Wu et al. 2025 (arXiv 2507.10532), who found that Qwen2.5 completes more than half of MATH-500's problems word by word from their first 60% and none of a
benchmark that is younger than the model. As there, the continuation is greedy, and it counts how much of the hidden end it repeats and whether it goes on to the
right answer of a problem whose end it never saw. Unlike there, a beginning ends between two words, and an end of fewer than `LEAST_WORDS` words is left out: it
can be guessed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from compass.evaluation.accuracy import accuracy_interval, mean

SHARES = (80, 60, 40)
"""Percent of a problem's text that is shown, those of the paper."""

LEAST_WORDS = 5
"""Words of an end that is asked for."""

MEMORISED = pa.schema(
    [
        ("model", pa.string()),
        ("benchmark", pa.string()),
        ("id", pa.string()),
        ("shown", pa.int64()),
        ("end", pa.string()),
        ("continuation", pa.string()),
        ("completed", pa.bool_()),
        ("rouge_l", pa.float64()),
        ("answered", pa.bool_()),
        ("setup", pa.string()),
    ]
)
"""Columns of `memorised.parquet`, one row per model, problem and share.

`shown`: percent of the text that was shown. `end`: what was hidden. `continuation`: what the model wrote. `completed`: it begins with all words of the end.
`rouge_l`: the longest common subsequence of the end's words and as many of the continuation, as a share of the end. `answered`: it gives the problem's answer
(the verifier's lenient mode).
"""


def split_problem(problem: str, shown: int) -> tuple[str, str]:
    """A problem's beginning, `shown` percent of its characters up to the end of a word, and its end; the end is empty where it would be too short."""
    place = len(problem) * shown // 100
    while place < len(problem) and not problem[place].isspace():
        place += 1
    beginning, end = problem[:place], problem[place:].strip()
    return (beginning, end) if beginning.strip() and len(end.split()) >= LEAST_WORDS else (problem, "")


def overlap(end: str, continuation: str) -> tuple[bool, float]:
    """Whether a continuation begins with all words of the end, and ROUGE-L with as many of its words as the end has, 0..1."""
    wanted = end.split()
    written = continuation.split()[: len(wanted)]
    before = [0] * (len(written) + 1)
    for word in wanted:
        row = [0]
        for place, other in enumerate(written):
            row.append(before[place] + 1 if word == other else max(before[place + 1], row[-1]))
        before = row
    return written == wanted, before[-1] / len(wanted)


def probe_model(
    name: str,
    model: Any,
    benchmarks: Mapping[str, pa.Table],
    sampling: Any,
    *,
    shares: Sequence[int] = SHARES,
    **options: Any,
) -> pa.Table:
    """Show a model the beginnings of every benchmark's problems, and compare how it goes on.

    Args:
        name: the model's name in the results.
        model: a `Model` or `Server`.
        benchmarks: name to `RECORD` rows.
        sampling: `Sampling`; the prompt is `plain`, and responses are greedy.
        shares: percent of the text that is shown.
        options: `seed`, `folder` (of resumable work) and `engines`, as of `sample_responses`.

    Returns:
        Rows of `MEMORISED`.

    Raises:
        SamplingError: the model cannot be used, or some responses are not known.
    """
    from compass.evaluation.evaluate import check_sampled
    from compass.golds import golds
    from compass.sampling.engines import setup_facts
    from compass.sampling.response import PROMPT_TOO_LONG
    from compass.sampling.resume import DIGESTS, sample_responses
    from compass.sampling.score import score_responses
    from compass.sampling.store import setup_digest

    items = pa.concat_tables(benchmarks.values())
    texts = dict(zip(items.column("id").to_pylist(), items.column("problem").to_pylist(), strict=True))
    source = dict(zip(items.column("id").to_pylist(), items.column("source").to_pylist(), strict=True))
    setup = setup_digest(setup_facts(model, sampling, seed=options["seed"], cache=options["folder"] / DIGESTS))
    rows: list[dict[str, Any]] = []
    for shown in shares:
        split = {id_: split_problem(text, shown) for id_, text in texts.items()}
        asked = {id_: beginning for id_, (beginning, end) in split.items() if end}
        what = f"{name}, {shown}% of each problem shown,"
        responses = sample_responses(asked, model=model, sampling=sampling, n=0, greedy=True, what=what, **options)
        check_sampled(what.rstrip(","), responses)
        responses = responses.filter(pc.not_equal(responses.column("finish_reason"), PROMPT_TOO_LONG))
        scored = score_responses(responses, golds(items), texts) if responses.num_rows else responses
        for row in scored.to_pylist():
            completed, rouge = overlap(split[row["id"]][1], row["response"])
            rows.append(
                {
                    "model": name, "benchmark": source[row["id"]], "id": row["id"], "shown": shown, "end": split[row["id"]][1],
                    "continuation": row["response"], "completed": completed, "rouge_l": rouge, "answered": row["correct_lenient"], "setup": setup,
                }
            )  # fmt: skip
    return pa.Table.from_pylist(rows, schema=MEMORISED)


def summarise_memorised(rows: pa.Table) -> list[dict[str, Any]]:
    """For each model, benchmark and share: `problems`, the shares `completed` (with `ci95`), `rouge_l` and `answered`, 0..1."""
    groups: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    for row in rows.to_pylist():
        groups.setdefault((row["model"], row["benchmark"], row["shown"]), []).append(row)
    return [
        {
            "model": model, "benchmark": benchmark, "shown": shown, "problems": len(own), "completed": mean([float(row["completed"]) for row in own]),
            "ci95": list(accuracy_interval([float(row["completed"]) for row in own], 1)),
            "rouge_l": mean([row["rouge_l"] for row in own]), "answered": mean([float(row["answered"]) for row in own]),
        }
        for (model, benchmark, shown), own in groups.items()
    ]  # fmt: skip


def completed_problems(rows: pa.Table | None) -> set[str]:
    """The ids of problems that a model completed, from whatever share."""
    return set() if rows is None else set(rows.filter(rows["completed"])["id"].to_pylist())
