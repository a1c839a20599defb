"""Generation, log-probabilities and update of one iteration, each bare: vLLM and torch alone, without verl, Ray or a queue.

`benchmarks/step_profile.py` runs it in a process of its own, with the environment of a trainer on the CPU:

    python benchmarks/step_parts.py WORK_FOLDER MODEL MICRO_BATCH

It samples every group of the last iteration at once, and passes the responses that its update used through the policy in
micro-batches, padded to their longest sequence, as a training loop written with transformers would. Prints one JSON object: seconds
and processor seconds of each part, the median of three after one to warm up, and the tokens that were sampled.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow.parquet as pq

REPEATS = 3


def timed(part: Callable[[], Any]) -> dict[str, float]:
    """Median seconds and processor seconds of a part."""
    part()
    wall, cpu = [], []
    for _ in range(REPEATS):
        began, used = time.perf_counter(), time.process_time()
        part()
        wall.append(time.perf_counter() - began)
        cpu.append(time.process_time() - used)
    return {"seconds": median(wall), "cpu_seconds": median(cpu)}


def generation(model: Path, prompts: list[list[int]], group: int, longest: int) -> dict[str, float]:
    """Sample `group` responses to each prompt, all at once."""
    from vllm import LLM, SamplingParams
    from vllm.sampling_params import RequestOutputKind

    engine = LLM(
        str(model),
        dtype="float32",
        enforce_eager=True,
        max_model_len=max(map(len, prompts)) + longest,
        max_num_seqs=256,
        max_num_batched_tokens=8192,
        worker_extension_cls="compass.rl.cpu.rollout.CpuRolloutWorker",
    )
    sampling = SamplingParams(
        n=group, max_tokens=longest, logprobs=0, detokenize=False, output_kind=RequestOutputKind.FINAL_ONLY
    )
    sampled: list[int] = []

    def sample() -> None:
        outputs = engine.generate([{"prompt_token_ids": prompt} for prompt in prompts], sampling, use_tqdm=False)
        sampled.append(sum(len(one.token_ids) for output in outputs for one in output.outputs))

    times = timed(sample)
    return {**times, "tokens": sum(sampled[1:]) / REPEATS}


def passes(model: Path, sequences: list[tuple[list[int], list[int]]], micro_batch: int) -> dict[str, dict[str, float]]:
    """Log-probabilities of the responses, and an update from them."""
    import torch
    from transformers import AutoModelForCausalLM

    from compass.rl.cpu.patches import log_probabilities

    policy = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32, attn_implementation="sdpa")
    optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-6)
    batches = [padded(sequences[start : start + micro_batch]) for start in range(0, len(sequences), micro_batch)]
    tokens = sum(int(mask.sum()) for *_, mask in batches)

    def log_probs(batch: tuple[torch.Tensor, ...]) -> torch.Tensor:
        ids, seen, _ = batch
        logits = policy(input_ids=ids, attention_mask=seen, use_cache=False).logits
        return log_probabilities(logits, ids.roll(-1, dims=1))[:, :-1]  # the last predicts nothing

    def look() -> None:
        with torch.no_grad():
            for batch in batches:
                log_probs(batch)

    def update() -> None:
        for batch in batches:
            (-(log_probs(batch) * batch[2]).sum() / tokens).backward()
        torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()

    return {"log-probabilities": timed(look), "update": timed(update)}


def padded(sequences: list[tuple[list[int], list[int]]]) -> tuple[Any, Any, Any]:
    """Ids and attention mask (rows, L), and which of the L - 1 predictions are of a response's tokens."""
    import torch

    longest = max(len(prompt) + len(response) for prompt, response in sequences)
    ids, seen = torch.zeros(2, len(sequences), longest, dtype=torch.int64)
    mask = torch.zeros(len(sequences), longest - 1)
    for row, (prompt, response) in enumerate(sequences):
        end = len(prompt) + len(response)
        ids[row, :end], seen[row, :end] = torch.tensor(prompt + response), 1
        mask[row, len(prompt) - 1 : end - 1] = 1
    return ids, seen, mask


def main(work: Path, model: Path, micro_batch: int) -> None:
    """Time the parts on the last iteration whose rollouts are in `work`."""
    import torch
    from transformers import AutoTokenizer

    from compass.machine import cores
    from compass.rl.cpu import patches

    patches.apply()
    torch.set_num_threads(cores())
    tokenizer = AutoTokenizer.from_pretrained(model)
    problems = {
        row["extra_info"]["id"]: row["prompt"] for row in pq.read_table(work.parent / "train.parquet").to_pylist()
    }
    rows = pq.read_table(max((work / "rollouts").glob("*.parquet"))).to_pylist()
    prompts = {
        name: tokenizer.apply_chat_template(problems[name], add_generation_prompt=True, return_dict=False)
        for name in {row["id"] for row in rows}
    }
    groups = [prompts[row["id"]] for row in rows if row["sample"] == 0]
    sequences = []
    for row in rows:
        if row["used"]:
            ends = [] if row["cut_off"] else [tokenizer.eos_token_id]
            sequences.append(
                (prompts[row["id"]], tokenizer(row["response"], add_special_tokens=False).input_ids + ends)
            )
    longest = max(row["response_tokens"] for row in rows)
    found = {
        "generation": generation(model, groups, 1 + max(row["sample"] for row in rows), longest),
        **passes(model, sequences, micro_batch),
        "responses": len(sequences),
    }
    print(json.dumps(found), flush=True)
    os._exit(0)  # at an orderly end libraries of vLLM's list what they leak


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
