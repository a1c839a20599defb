"""The profile of an iteration: which process used what, what the bare parts are given, and the page."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import step_parts
import step_profile


def test_processor_time_between_two_iterations_is_told_by_what_used_it(tmp_path: Path) -> None:
    processes = step_profile.Processes(tmp_path / "metrics.jsonl")
    processes.noted = [
        (0, {"trainer": 1.0}),
        (1, {"trainer": 2.0, "vLLM's engine": 5.0}),
        (1, {"trainer": 3.0, "vLLM's engine": 5.5}),
        (3, {"trainer": 4.0, "vLLM's engine": 9.0}),
    ]
    assert processes.between(1, 3) == {"trainer": 2.0, "vLLM's engine": 4.0}
    assert processes.between(1, 2) == processes.between(1, 3)


@pytest.mark.parametrize(
    ("line", "who"),
    [
        ("ray::ScoringWorker.generate_sequences", "agent loop: prompts, rewards"),
        ("ray::IDLE", "Ray"),
        ("python -u site-packages/ray/_private/log_monitor.py", "Ray"),
        (
            "python -m compass.rl.train verl.yaml",
            "vLLM's engine",
        ),  # forked from the trainer, and not the trainer itself
    ],
)
def test_a_process_is_known_by_its_command_line(line: str, who: str) -> None:
    assert step_profile.whose(line) == who


def test_sequences_are_padded_to_the_longest_and_responses_predicted_from_the_token_before() -> None:
    ids, seen, mask = step_parts.padded([([5, 6], [7, 8]), ([5], [9])])
    assert ids.tolist() == [[5, 6, 7, 8], [5, 9, 0, 0]]
    assert seen.tolist() == [[1, 1, 1, 1], [1, 1, 0, 0]]
    assert mask.tolist() == [[0, 1, 1], [1, 0, 0]]


def test_the_page_has_the_ratio_to_the_parts_scaled_to_the_tokens_of_an_iteration() -> None:
    real = {
        "seconds": {"gen": 2.0, "old_log_prob": 0.1, "update_actor": 1.0, "adv": 0.2, "step": 3.5},
        "cpu": {"trainer": 1.0, "vLLM's engine": 3.0},
        "tokens": 200,
        "start": 31.4,
    }
    part = {"seconds": 0.5, "cpu_seconds": 0.25}
    bare = {"generation": {**part, "tokens": 100}, "log-probabilities": part, "update": part, "responses": 64}
    page = step_profile.table("rl-1", 8, real, bare)
    assert "| generation | 2.00 | 1.00 | 0.50 |" in page
    assert "| what no timer covers | 0.20 | | |" in page
    assert "An iteration takes 1.75 times its parts alone, and 4.00 times their processor time." in page
    assert "took 31 s" in page
