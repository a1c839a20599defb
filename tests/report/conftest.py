"""A finished run with results of every kind, hostile text among them."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compass.evaluation.comparisons import compare_models
from compass.evaluation.evaluate import summarise
from compass.evaluation.results import PROBLEMS
from compass.rl.rollouts import ROLLOUTS

HOSTILE = (
    "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">\u202egnp.exe\x07"
)
"""Ends a script, begins one, asks for a file, turns the direction of writing, and rings a bell."""

CHANCE = {"base": 0.3, "rl-1": 0.6, "rl-2": 0.8}
"""How often each model is right."""


def sample_rows(
    problems: int = 12, samples: int = 4, seed: int = 0, *, models: dict[str, float] = CHANCE
) -> list[dict[str, Any]]:
    """Responses of models to two benchmarks; every fifth response of a right answer has another form than asked."""
    draw = random.Random(seed)
    rows = []
    for model, chance in models.items():
        for benchmark in ("easy", "hard"):
            for number in range(problems):
                for sample in range(samples + 1):
                    right = draw.random() < chance - 0.2 * (benchmark == "hard")
                    answer = str(number) if right else str(number + 1 + draw.randrange(3))
                    rows.append(
                        {
                            "model": model, "benchmark": benchmark, "id": f"{benchmark}-{number}", "sample": 0 if sample == samples else sample,
                            "greedy": sample == samples, "response": f"{HOSTILE} so \\boxed{{{answer}}} it is", "answer": answer,
                            "answer_lenient": answer, "correct": right, "correct_lenient": right or draw.random() < 0.1,
                            "outcome": "equal" if right else "different", "method": "text", "leniencies": "", "boxed": True,
                            "looped": False, "bare": number % 3 == 0, "operations": number % 3, "tokens": 20 + number, "finish_reason": "length" if draw.random() < 0.1 else "stop", "setup": model,
                        }
                    )  # fmt: skip
    return rows


def write_json(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


def write_evaluation(
    folder: Path,
    rows: list[dict[str, Any]],
    clusters: dict[str, str] | None = None,
    looks: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """What evaluation writes into a folder; returns the scores."""
    folder.mkdir(parents=True, exist_ok=True)
    samples = pa.Table.from_pylist(rows)
    pq.write_table(samples, folder / "samples.parquet")
    asked = {(row["benchmark"], row["id"]): None for row in rows}
    problems = [
        {"benchmark": benchmark, "id": id_, "problem": f"{HOSTILE} What is {id_}?", "answer": id_.rpartition("-")[2], "alternatives": None,
         "tolerance": None, "level": "1", "cluster": (clusters or {}).get(id_), "similar": ["row-1"] if id_ == "easy-3" else []}
        for benchmark, id_ in asked
    ]  # fmt: skip
    pq.write_table(pa.Table.from_pylist(problems, schema=PROBLEMS), folder / "problems.parquet")
    comparisons = compare_models(
        samples, seed=0, primary=looks["pair"] if looks else None, clusters=clusters, looks=looks
    )
    write_json(folder / "comparisons.json", comparisons)
    write_json(folder / "setups.json", {model: {"engine": {"name": "vllm"}, "seed": 0} for model in CHANCE})
    return summarise(samples, comparisons, {"easy-3"}, clusters)


def copy_run(run: Path, to: Path, rows: list[dict[str, Any]], seed: int) -> None:
    """A run's folder once more, with other responses and another seed."""
    for name in ("data", "metrics", "profiles"):
        shutil.copytree(run / name, to / name)
    write_json(to / "metrics" / "evaluate.json", {"models": write_evaluation(to / "data" / "evaluate", rows)})
    text = (run / "params.yaml").read_text(encoding="utf-8")
    (to / "params.yaml").write_text(text.replace("seed: 0", f"seed: {seed}"), encoding="utf-8")


def write_training(folder: Path, stage: str) -> None:
    """Rewards, verl's metrics, rollouts and a guard's finding of one RL stage."""
    folder.mkdir(parents=True, exist_ok=True)
    rollouts = []
    for step in (1, 2):
        for group in range(3):
            for sample in range(4):
                right = (group + sample + step) % 2 == 0
                rollouts.append(
                    {
                        "step": step, "id": f"train-{group}", "level": group + 1, "group": f"g{group}", "sample": sample, "prompt": f"Find {group}. {HOSTILE}",
                        "response": f"{HOSTILE} \\boxed{{{group}}}", "gold": str(group), "answer": str(group), "right": right, "verdict": "equal",
                        "method": "text", "leaned": "", "reward": 1.0 if right else -1.0, "advantage": None if group == 2 else 0.5,
                        "response_tokens": 10 * step, "cut_off": False, "loop": False, "gap_mean": 0.0, "gap_max": 0.0, "used": group != 2,
                    }
                )  # fmt: skip
    pq.write_table(pa.Table.from_pylist(rollouts, schema=ROLLOUTS), folder / "rollouts.parquet")
    rewards = [
        {name: row[name] for name in ("step", "id", "reward", "right", "response_tokens", "used")} for row in rollouts
    ]
    pq.write_table(pa.Table.from_pylist(rewards), folder / "rewards.parquet")
    (folder / "steps.csv").write_text("step,actor/entropy,actor/grad_norm\n1,0.5,2.5\n2,0.25,1.5\n", encoding="utf-8")
    (folder / "samples").mkdir(exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rollouts[:4], schema=ROLLOUTS), folder / "samples" / "loops-2.parquet")
    finding = {
        "step": 2,
        "guard": "loops",
        "level": "warn",
        "message": f"{stage} repeats itself",
        "samples": "loops-2.parquet",
    }
    write_json(folder / "guards.json", [finding] if stage == "rl-1" else [])


@pytest.fixture
def chained_run(finished_run: Path, pipeline: tuple[Path, list[str]]) -> tuple[Path, str]:
    """A finished run in which the problem easy-3 resembles a row that rl-1 trained on, and that row's id."""
    row = pipeline[1][2]
    for name in ("rewards", "rollouts"):
        path = finished_run / "data" / "rl-1" / f"{name}.parquet"
        table = pq.read_table(path)
        ids = [row if id_ == "train-0" else id_ for id_ in table["id"].to_pylist()]
        pq.write_table(table.set_column(table.schema.get_field_index("id"), "id", pa.array(ids)), path)
    path = finished_run / "data" / "evaluate" / "problems.parquet"
    problems = [one | {"similar": [row] if one["id"] == "easy-3" else []} for one in pq.read_table(path).to_pylist()]
    pq.write_table(pa.Table.from_pylist(problems, schema=PROBLEMS), path)
    return finished_run, row


@pytest.fixture
def finished_run(tmp_path: Path, pipeline: tuple[Path, list[str]]) -> Path:
    """A run's folder: curated rows, two RL stages, three models on two benchmarks."""
    root = pipeline[0].parent
    scores = write_evaluation(root / "data" / "evaluate", sample_rows())
    write_json(root / "metrics" / "evaluate.json", {"models": scores})
    mixes = {"rl-1": {"levels": {"1": 30, "2": 20}, "missing": 0}, "rl-2": {"levels": {"2": 10, "3": 40}, "missing": 5}}
    write_json(root / "metrics" / "curriculum.json", {"stage": "curriculum", "metrics": {"stages": mixes}})
    write_json(root / "metrics" / "grade.json", {"stage": "grade", "metrics": {"tokens": 16.5, "note": HOSTILE}})
    for stage in ("rl-1", "rl-2"):
        write_training(root / "data" / stage, stage)
        write_json(
            root / "metrics" / f"{stage}.json", {"stage": stage, "metrics": {"steps": 2, "reward_last": 0.123456789012}}
        )
    profile = (
        "profile: mine\nseed: 0\nrl: {stages: {rl-1: {init_from: base, steps: 2}, rl-2: {init_from: rl-1, steps: 2}}}\n"
    )
    (root / "profiles").mkdir()
    (root / "profiles" / "mine.yaml").write_text(profile, encoding="utf-8")
    (root / "params.yaml").write_text(profile.replace("rl-1, steps: 2", "rl-1, steps: 9"), encoding="utf-8")
    times = {
        "stage": "evaluate",
        "started": "2026-01-02T03:04:05+00:00",
        "seconds": 3723.4,
        "machine": {"cpu": "a cpu", "cores": 2, "gpus": []},
    }
    write_json(root / "work" / "times" / "evaluate.json", {**times, "packages": {"torch": "2.13.0"}})
    return root
