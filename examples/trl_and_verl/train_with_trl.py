"""GRPO by TRL with the verifier as its reward.

    pip install trl dist/compass_thinker-*.whl
    python examples/trl_and_verl/train_with_trl.py MODEL PROBLEMS.jsonl     # lines with `problem` and `answer`

MODEL is a folder or a hub id. This script was written for TRL's documented interface and has not been run on a GPU.
"""

import sys

from compass.integrations.trl import accuracy_reward

ASK = "\nPlease reason step by step, and put your final answer within \\boxed{}."


def as_example(row: dict[str, str]) -> dict[str, object]:
    """A problem as TRL wants it: a conversation, and the gold in `solution`."""
    return {"prompt": [{"role": "user", "content": row["problem"] + ASK}], "solution": row["answer"]}


def train(model: str, problems: str) -> None:
    """Train a model on a file of problems, into the folder trl-output."""
    from datasets import load_dataset
    from trl import GRPOConfig, GRPOTrainer

    rows = load_dataset("json", data_files=problems, split="train")
    trainer = GRPOTrainer(
        model=model,
        reward_funcs=accuracy_reward,
        args=GRPOConfig(output_dir="trl-output", num_generations=8, max_completion_length=512),
        train_dataset=rows.map(as_example, remove_columns=rows.column_names),
    )
    trainer.train()


if __name__ == "__main__":
    train(*sys.argv[1:3])
