"""The examples of a warm start: problems with worked solutions that the verifier pays for, as token ids."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from compass.errors import UserError
from compass.files import atomic_path
from compass.prompts.registry import find_prompt
from compass.settings import WarmStart
from compass.verifier import reward

EXAMPLES = pa.schema(
    [("id", pa.string()), ("prompt", pa.list_(pa.int32())), ("response", pa.list_(pa.int32())), ("text", pa.string())]
)
"""Token ids of what the model reads and of what it is to write, the end token included; `text` is the response's."""

_MARK = "compass response"


def write_examples(records: pa.Table, settings: WarmStart, tokenizer: Any, path: Path, *, seed: int) -> dict[str, int]:
    """Write the examples that a warm start trains on.

    Args:
        records: rows that dedup and denoise kept (`RECORD`).
        settings: sources, prompt, longest example.
        tokenizer: the model's.
        path: the parquet to write (`EXAMPLES`).
        seed: of the solutions that become bare answers, and of the rows' order: verl draws the order of training from that with a
            seed of its own, which nothing sets.

    Returns:
        `examples` written, `tokens` in them, and rows left out: `unpaid` (the verifier does not pay for the solution with
        its answer boxed), `too_long`, `without_solution`.

    Raises:
        UserError: a source has no row, or fewer examples than a batch are left.
    """
    chosen = [record for record in records.to_pylist() if record["source"] in settings.sources]
    if missing := sorted(set(settings.sources) - {record["source"] for record in chosen}):
        raise UserError(
            f"base.warm_start.sources: no kept row comes from {missing[0]!r}; there are "
            f"{', '.join(sorted(set(records.column('source').to_pylist()))) or 'none'}"
        )
    counts = {"examples": 0, "tokens": 0, "unpaid": 0, "too_long": 0, "without_solution": 0}
    rows = []
    encode = _Encoder(settings, tokenizer)
    for record, text in _responses(chosen, settings.answer_only, seed, counts):
        prompt, response = encode(record["problem"], text)
        if len(prompt) + len(response) > settings.max_tokens:
            counts["too_long"] += 1
            continue
        rows.append({"id": record["id"], "prompt": prompt, "response": response, "text": text})
        counts["tokens"] += len(prompt) + len(response)
    counts["examples"] = len(rows)
    if len(rows) < settings.batch_size:
        raise UserError(
            f"base.warm_start: {len(rows)} examples are left of {len(chosen)} rows ({counts['without_solution']} have no "
            f"solution, {counts['unpaid']} one that the verifier does not pay for, {counts['too_long']} are longer than "
            f"`max_tokens` = {settings.max_tokens}), fewer than a batch of {settings.batch_size}; choose other `sources`, or "
            "give theirs a `solution_field` or `equation_field` in `collect.sources`"
        )
    random.Random(f"warm-start order/{seed}").shuffle(rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as temporary:
        pq.write_table(pa.Table.from_pylist(rows, EXAMPLES), temporary)
    return counts


def _responses(
    records: Iterable[dict[str, Any]], answer_only: float, seed: int, counts: dict[str, int]
) -> Iterator[tuple[dict[str, Any], str]]:
    """Each record with the response to learn; those that have none are counted."""
    rng = random.Random(f"warm-start/{seed}")
    for record in records:
        # Drawn for rows without a solution too, so that one more solution changes no other row.
        bare = rng.random() < answer_only
        solution, boxed = (record["solution"] or "").strip(), f"\\boxed{{{record['answer'].strip()}}}"
        if not solution:
            counts["without_solution"] += 1
            continue
        whole = solution if "\\boxed" in solution else f"{solution}\n{boxed}"
        response = boxed if bare else whole
        if reward(response, record["answer"], question=record["problem"]) > 0:
            yield record, response
        else:
            counts["unpaid"] += 1


class _Encoder:
    """Problems and responses to token ids, by the prompt and chat template that sampling will use."""

    def __init__(self, settings: WarmStart, tokenizer: Any) -> None:
        self._prompt = find_prompt(settings.model_dump())
        self._tokenizer = tokenizer

    def __call__(self, problem: str, response: str) -> tuple[list[int], list[int]]:
        messages = self._prompt.messages(problem)
        before = self._render(messages, add_generation_prompt=True)
        whole = self._render([*messages, {"role": "assistant", "content": _MARK}], add_generation_prompt=False)
        # What the template puts between its own end and the response (a blank behind `Answer:`) is the model's to write.
        lead = whole[len(before) :].partition(_MARK)[0] if whole.startswith(before) else ""
        ids = self._tokenizer(before, add_special_tokens=False)["input_ids"]
        written = self._tokenizer(lead + response, add_special_tokens=False)["input_ids"]
        return ids, [*written, self._tokenizer.eos_token_id]

    def _render(self, messages: list[dict[str, str]], **options: bool) -> str:
        return self._tokenizer.apply_chat_template(
            messages,
            chat_template=self._prompt.chat_template,
            tokenize=False,
            **options,
            **self._prompt.template_kwargs,
        )
