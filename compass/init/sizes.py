"""The sizes of a run: from the number of problems, their lengths, the model and the machine; each with its reason.

The rules. Levels are five equal parts of the graded problems, so that a stage which takes half of its problems from one level
can have 0.4 of all without borrowing. A batch is at most half of a stage's problems, so that an iteration does not see all
of them. Where a CPU trains, iterations, samples and lengths are cut to what ends in about half an hour.
"""

from __future__ import annotations

import math
from typing import Any

from compass.errors import UserError
from compass.init.inputs import TEMPLATE_TOKENS, Computer, Policy, Rows
from compass.plan.hardware import sampling_speed

FEWEST = 5
"""Usable problems below which three stages have nothing to choose from."""

BUDGET_S = 300.0
"""Seconds on a CPU that grading may take, and evaluation as well."""

MODELS = 4
"""Models that are evaluated: the base and three stages."""


def choose_sizes(rows: Rows, policy: Policy, computer: Computer) -> tuple[dict[str, Any], dict[str, str]]:
    """Values by their keys in the parameter file, for these rows, this policy and this machine, and the reasons of some.

    Raises:
        UserError: there are too few problems to train on.
    """
    if rows.usable < FEWEST:
        why = f": {', '.join(f'{reason} {count}' for reason, count in rows.dropped.items())}" if rows.dropped else ""
        raise UserError(
            f"{rows.usable} of {rows.read} rows are left after curation{why}; training needs at least {FEWEST} problems. "
            "`compass curate` says why each row was dropped; to score models without training use `compass evaluate`"
        )
    gpu, tiny = computer.gpus > 0, policy.kind == "tiny"
    prompt, response = _choose_lengths(rows, policy, gpu=gpu)
    most = 64 if gpu else 32 if tiny else 8
    problems = max(2, min(int(0.4 * rows.usable), 4096 if gpu else 768 if tiny else 64))
    batch = min(most, _round_to_power(max(2, problems // 2)))
    problems -= problems % batch
    group = 8 if gpu or tiny else 4
    passes = 3 if gpu else 4 if tiny else 1
    steps = max(2, min(math.ceil(passes * problems / batch), 40 if gpu else 20 if tiny else 4))
    speed = sampling_speed(policy.parameters or 1_500_000_000, computer.cores)
    graded, rollouts = _choose_graded(rows.usable, response, speed, gpu=gpu)
    if graded:
        problems = max(batch, min(problems, int(0.4 * graded) // batch * batch))
    samples, asked = _choose_evaluated(rows, response, speed, gpu=gpu)
    values: dict[str, Any] = {
        "denoise.languages": rows.languages,
        "grade.rollouts": rollouts,
        "grade.max_problems": graded,
        "curriculum.problems": problems,
        "curriculum.use_source_level": False,
        "rl.data.batch_size": batch,
        "rl.optimizer.mini_batch_size": batch if not gpu else max(1, batch // 2),
        "rl.data.max_prompt_tokens": prompt,
        "rl.rollout.group_size": group,
        "rl.rollout.max_response_tokens": response,
        "rl.checkpoint.save_every": min(5, steps),
        "rl.record.rollouts_every": min(5, steps),
        "evaluate.samples": samples,
        "evaluate.max_problems": asked,
        **{f"{section}.sampling.max_tokens": response for section in ("grade", "evaluate")},
        **{f"{section}.sampling.max_model_len": prompt + response for section in ("grade", "evaluate")},
        **{f"rl.stages.rl-{n}.steps": steps for n in (1, 2, 3)},
    }
    if not gpu and not tiny:
        values["rl.resources.micro_batch_size"] = min(8, batch * group)
    if gpu:
        values["rl.resources.gpus"] = computer.gpus
        values["rl.resources.micro_batch_tokens"] = max(4096, prompt + response)
    if rows.usable < 500 or not gpu:
        values["rl.rollout.dynamic_sampling"] = tiny and rows.usable >= 500
    left = (
        f"{rows.usable} of {rows.read} rows {'are left after curation' if rows.measured else 'are expected to be left'}"
    )
    counted = "its tokenizer" if policy.folder else "their characters"
    reasons = {
        "denoise.languages": "the languages of your problems; rows in others are dropped",
        "grade.max_problems": "as many as are graded in about five minutes here" if graded else "0: all",
        "curriculum.problems": f"{left}{f', {graded} of these are graded' if graded else ''}; a stage can take 0.4 of them without borrowing from other levels",
        "rl.data.batch_size": "problems per iteration, at most half of a stage's",
        "rl.optimizer.mini_batch_size": "must divide rl.data.batch_size",
        "rl.data.max_prompt_tokens": f"your longest problem, by {counted}, and room for the chat template",
        "rl.rollout.max_response_tokens": _explain_response(rows, gpu=gpu, tiny=tiny),
        "rl.rollout.dynamic_sampling": "with few problems, or a model that solves few, batches would not fill",
        "rl.stages": "more iterations: raise `steps`; a stage that is done is then trained anew",
        "evaluate.samples": f"{sum(rows.items.values())} benchmark items; more samples narrow the intervals",
        "evaluate.max_problems": "as many of each benchmark as are sampled in about five minutes here"
        if asked
        else "0: all",
    }
    return values, reasons


def _choose_lengths(rows: Rows, policy: Policy, *, gpu: bool) -> tuple[int, int]:
    """Tokens of the longest prompt and of the longest response."""
    longest = max(policy.tokens(rows.problems), default=0)
    response = 1024 if gpu else 48 if policy.kind == "tiny" else 192
    if rows.solution_chars and policy.kind != "tiny":
        response = min(max(_round_up(rows.solution_chars // 2, 64), 128), 4096 if gpu else 256)
    prompt = _round_up(longest + TEMPLATE_TOKENS, 32)
    if policy.positions:
        response = min(response, policy.positions // 2)
        prompt = min(prompt, policy.positions - response)
    return prompt, response


def _explain_response(rows: Rows, *, gpu: bool, tiny: bool) -> str:
    if tiny:
        return "what the tiny policy was taught to write"
    if rows.solution_chars:
        return "room for your solutions; a response that is cut off is usually wrong"
    return "a response that is cut off is usually wrong" + (
        "" if gpu else "; kept short for a CPU, raise it with patience"
    )


def _choose_graded(usable: int, response: int, speed: float, *, gpu: bool) -> tuple[int, int]:
    """How many problems are graded (0: all), and with how many rollouts each."""
    rollouts = 8 if gpu or usable * 8 * response / speed < BUDGET_S / 2 else 4
    if gpu:
        return (8192 if usable > 8192 else 0), rollouts
    most = max(32, int(BUDGET_S * speed / (rollouts * response)))
    return (most if usable > most else 0), rollouts


def _choose_evaluated(rows: Rows, response: int, speed: float, *, gpu: bool) -> tuple[int, int]:
    """Samples per benchmark item, and items per benchmark (0: all)."""
    items = sum(rows.items.values())
    if gpu:
        return 8, 0
    seconds = MODELS * response / speed
    samples = int(BUDGET_S / max(seconds * items, 1e-9))
    if samples >= 2:
        return min(8, samples), 0
    return 2, max(8, int(BUDGET_S / (3 * seconds * len(rows.items))))


def _round_to_power(number: int) -> int:
    return 1 << (number.bit_length() - 1)


def _round_up(number: int, step: int) -> int:
    return -(-number // step) * step
