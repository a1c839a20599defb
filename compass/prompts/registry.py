"""The prompts that settings can name. Whoever changes what one says raises its version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from compass.prompts.prompt import PROBLEM, Prompt

SHOTS = (
    (
        "A baker fills 6 trays with 14 rolls each and sells 59 rolls before noon. How many rolls are left?",
        r"The trays hold $6 \cdot 14 = 84$ rolls. After the sale $84 - 59 = 25$ rolls are left. The answer is $\boxed{25}$.",
    ),
    (
        r"Find all real numbers $x$ with $2x^2 - 3x - 9 = 0$.",
        r"We factor: $2x^2 - 3x - 9 = (2x + 3)(x - 3)$. So $2x + 3 = 0$ or $x - 3 = 0$, which gives $x = -\frac{3}{2}$ or "
        r"$x = 3$. The answer is $\boxed{-\frac{3}{2}, 3}$.",
    ),
    (
        "Two different numbers are drawn at random from 1, 2, 3, 4, 5 and 6. What is the probability that their sum is 7?",
        r"There are $\binom{6}{2} = 15$ equally likely pairs. The pairs with sum 7 are $\{1,6\}$, $\{2,5\}$ and $\{3,4\}$, three "
        r"in all. The probability is $\frac{3}{15} = \frac{1}{5}$. The answer is $\boxed{\frac{1}{5}}$.",
    ),
    (
        "A right triangle has legs of length 9 and 12. What is the radius of its inscribed circle?",
        r"The hypotenuse is $\sqrt{9^2 + 12^2} = \sqrt{225} = 15$. The inscribed circle of a right triangle has the radius "
        r"$\frac{9 + 12 - 15}{2} = 3$. The answer is $\boxed{3}$.",
    ),
)
"""Question and answer of each example."""


BOXED = r"Please reason step by step, and put your final answer within \boxed{}."

_CONVERSATION = (
    "A conversation between User and Assistant. The user asks a question, and the Assistant solves it. The assistant first "
    "thinks about the reasoning process in the mind and then provides the user with the answer. The reasoning process and answer "
    "are enclosed within <think> </think> and <answer> </answer> tags, respectively, i.e., <think> reasoning process here "
    "</think> <answer> answer here </answer>."
)

_ORZ_CONVERSATION = (
    "A conversation between User and Assistant. The User asks a question, and the Assistant solves it. The Assistant first "
    "thinks about the reasoning process in the mind and then provides the User with the answer. The reasoning process is enclosed "
    "within <think> </think> and answer is enclosed within <answer> </answer> tags, respectively, i.e., <think> reasoning "
    "process here </think> <answer> answer here </answer>."
)

_ORZ_TASK = (
    "You must put your answer inside <answer> </answer> tags, i.e., <answer> answer here </answer>. And your final answer will "
    "be extracted automatically by the \\boxed{} tag.\nThis is the problem:\n{problem}"
)

_LLAMA = r"""Solve the following math problem efficiently and clearly:

- For simple problems (2 steps or fewer):
Provide a concise solution with minimal explanation.

- For complex problems (3 steps or more):
Use this step-by-step format:

## Step 1: [Concise description]
[Brief explanation and calculations]

## Step 2: [Concise description]
[Brief explanation and calculations]

...

Regardless of the approach, always conclude with:

Therefore, the final answer is: $\boxed{answer}$. I hope it is correct.

Where [answer] is just the final number or expression that solves the problem.

Problem: {problem}"""

_ALL = (
    Prompt("default", 1, "the settings `system_prompt` and `prompt_suffix`"),
    Prompt("boxed", 1, "DeepSeek-R1 model card, usage recommendations", user=f"{{problem}}\n{BOXED}"),
    Prompt("qwen-math", 1, "QwenLM/Qwen2.5-Math, evaluation/utils.py, `qwen25-math-cot`", system=BOXED),
    Prompt("llama", 1, "meta-llama/Llama-3.1-8B-Instruct-evals, task MATH", user=_LLAMA),
    Prompt(
        "r1-zero",
        1,
        "DeepSeek-R1, arXiv 2501.12948, table 1",
        user=f"{_CONVERSATION} User: {{problem}}\nAssistant:",
        template="plain",
    ),
    Prompt(
        "open-reasoner-zero",
        1,
        "Open-Reasoner-Zero, playground/zero_setting_base.py",
        user=f"{_ORZ_CONVERSATION} User: {_ORZ_TASK}\nAssistant: <think>",
        template="plain",
    ),
    Prompt(
        "oat-zero",
        1,
        "sail-sg/understand-r1-zero, template `r1`",
        user=f"{_ORZ_CONVERSATION}\nUser: {{problem}}\nAssistant: <think>",
        template="plain",
    ),
    Prompt(
        "question-answer",
        1,
        "GAIR's Abel; SimpleRL-Zoo (arXiv 2503.18892) takes it as its simple prompt",
        user="Question:\n{problem}\nAnswer:\nLet's think step by step.\n",
        template="plain",
        stop=("\nQuestion:",),
    ),
    Prompt(
        "few-shot",
        1,
        "own examples, in the layout of lm-evaluation-harness",
        shots=SHOTS,
        template="question-answer",
        stop=("\nQuestion:",),
    ),
    Prompt("plain", 1, "the problem alone, as sail-sg/understand-r1-zero's template `no`", template="plain"),
)

PROMPTS = {prompt.name: prompt for prompt in _ALL}
"""Prompt by name. `default` says what the settings give."""


def find_prompt(settings: Mapping[str, Any]) -> Prompt:
    """The prompt that settings name.

    Args:
        settings: `prompt`, `chat_template`, `chat_template_kwargs`, `system_prompt` and `prompt_suffix`, as sections of `params.yaml` hold them.
    """
    prompt = replace(PROMPTS[settings["prompt"]], template_kwargs=settings["chat_template_kwargs"])
    if prompt.name == "default":
        suffix = settings["prompt_suffix"]
        user = f"{PROBLEM} {suffix}" if suffix else PROBLEM
        prompt = replace(prompt, user=user, system=settings["system_prompt"])
    return replace(prompt, template=settings["chat_template"]) if settings["chat_template"] else prompt
