"""The sizes fit the problems, the model and the machine, whatever these are."""

import dataclasses
import re
from itertools import product
from pathlib import Path

import pytest
import yaml

from compass.curriculum.curriculum import select_problems
from compass.errors import UserError
from compass.init.inputs import Computer, Policy, Rows, find_policy
from compass.init.profile import plan
from compass.init.sizes import choose_sizes
from compass.settings import Benchmark, Settings, Source
from compass.settings.load import check_values

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Source(name="mine", path="mine.csv", problem_field="question", licence="MIT")
BENCHMARK = Benchmark(name="held-out", path="bench.jsonl")

LAPTOP = Computer(cores=2, memory_gb=16, gpus=0)
WORKSTATION = Computer(cores=32, memory_gb=256, gpus=0)
ONE_GPU = Computer(cores=16, memory_gb=128, gpus=1)
EIGHT_GPUS = Computer(cores=96, memory_gb=1000, gpus=8)

TINY = find_policy("")
SMALL = Policy("gguf", "small.gguf", 135_000_000, 0)
BIG = Policy("hub", "owner/big-7B", 7_000_000_000, 0)
SHORT = Policy("folder", "short", 135_000_000, 512)
UNKNOWN = Policy("hub", "owner/model", 0, 0)


def rows(usable: int, items: int = 13, chars: int = 120, solution: int = 0) -> Rows:
    problems = ["x" * chars] * 3
    return Rows(round(usable * 1.2), usable, True, {}, {"held-out": items}, problems, solution, ["en"])


def write(given: Rows, policy: Policy, computer: Computer) -> tuple[str, str]:
    """The parameter file, and what the user is shown, in one line."""
    sources, benchmarks, revision = [(SOURCE, [])], [(BENCHMARK, [])], "0" * 40
    text, lines = plan(
        "mine", sources, benchmarks, given, policy, computer, revision=revision, profiles=ROOT / "profiles"
    )
    return text, " ".join(" ".join(lines).split())


def settings(given: Rows, policy: Policy, computer: Computer) -> Settings:
    return check_values(yaml.safe_load(write(given, policy, computer)[0]))


@pytest.mark.parametrize(
    ("usable", "policy", "computer"),
    [
        *product((5, 6, 7, 10, 22, 42, 200, 5_000, 200_000), (TINY, SMALL), (LAPTOP,)),
        *product((5, 42, 1_000, 30_000), (SMALL, BIG, SHORT, UNKNOWN), (LAPTOP, WORKSTATION, ONE_GPU, EIGHT_GPUS)),
    ],
)
def test_every_stage_can_fill_its_batches(usable: int, policy: Policy, computer: Computer) -> None:
    made = settings(rows(usable), policy, computer)
    graded = made.grade.max_problems or usable
    levels = {str(n): 1 + n * 5 // graded for n in range(graded)}
    chosen = select_problems(levels, made.curriculum.mixes, made.curriculum.problems, made.seed)
    for name, stage in made.rl.stages.items():
        assert len(chosen[name].ids) >= stage.data.batch_size
        assert chosen[name].missing == 0 or usable < 10
        assert stage.steps >= 2


def test_a_benchmark_that_is_asked_in_part_says_how_much_is_left_out() -> None:
    _, shown = write(rows(200, items=40), SMALL, LAPTOP)
    assert "items held-out 25 of 40: a score is known to within about 20 points" in shown
    _, shown = write(rows(200, items=40), TINY, ONE_GPU)
    assert "items held-out 40: a score" in shown


@pytest.mark.parametrize(
    ("usable", "dropped", "why"), [(0, {}, ""), (4, {}, ""), (2, {"image": 5, "link": 2}, ": image 5, link 2")]
)
def test_too_few_problems_are_refused_with_why_rows_were_dropped(
    usable: int, dropped: dict[str, int], why: str
) -> None:
    few = dataclasses.replace(rows(usable), dropped=dropped)
    with pytest.raises(
        UserError, match=rf"{usable} of \d rows are left after curation{why}; training needs at least 5"
    ):
        choose_sizes(few, SMALL, LAPTOP)


def test_prompts_hold_the_longest_problem_and_no_model_gets_more_than_it_takes() -> None:
    assert settings(rows(42, chars=900), SMALL, LAPTOP).rl.stages["rl-1"].data.max_prompt_tokens == 352
    short = settings(rows(42, chars=9_000), SHORT, LAPTOP)
    assert short.grade.sampling.max_model_len == short.evaluate.sampling.max_model_len == 512
    stage = short.rl.stages["rl-1"]
    assert stage.data.max_prompt_tokens + stage.rollout.max_response_tokens == 512


def test_a_large_benchmark_is_asked_in_part_on_a_cpu_alone() -> None:
    assert settings(rows(42, items=13), SMALL, LAPTOP).evaluate.max_problems == 0
    few = settings(rows(42, items=3_000), SMALL, LAPTOP).evaluate
    assert few.samples == 2
    assert 8 <= few.max_problems < 100
    assert settings(rows(42, items=3_000), SMALL, ONE_GPU).evaluate.max_problems == 0


def test_the_expected_time_grows_with_the_model_and_falls_with_the_cores() -> None:
    def minutes(policy: Policy, computer: Computer) -> int:
        found = re.search(r"expect \d+ to (\d+) minutes", write(rows(42), policy, computer)[1])
        return int(found[1]) if found else 0

    small = find_policy("HuggingFaceTB/SmolLM2-135M-Instruct")
    assert 2 < minutes(TINY, LAPTOP) < minutes(small, LAPTOP) < 60
    assert minutes(small, WORKSTATION) < minutes(small, LAPTOP)
    assert minutes(UNKNOWN, LAPTOP) == minutes(BIG, ONE_GPU) == 0


@pytest.mark.parametrize(("policy", "fits"), [(BIG, False), (SMALL, True)])
def test_a_model_that_does_not_fit_into_memory_is_reported(policy: Policy, fits: bool) -> None:
    assert ("of memory and this machine has 16" in write(rows(42), policy, LAPTOP)[1]) is not fits


@pytest.mark.parametrize(
    ("model", "parameters"),
    [
        ("owner/Qwen2.5-Math-1.5B", 1_500_000_000), ("owner/SmolLM2-135M-Instruct", 135_000_000),
        ("owner/model-v2", 0),
        ("owner/Llama-3.1-8B-Instruct", 8_000_000_000),
        ("m-1.5B.Q4_1.gguf", 1_500_000_000), ("m-Q8_0.gguf", 1600), ("gone.gguf", 0),
    ],
)  # fmt: skip
def test_a_size_follows_from_a_hub_ids_name_and_from_a_gguf_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, parameters: int
) -> None:
    monkeypatch.chdir(tmp_path)
    if model.startswith("m"):
        Path(model).write_bytes(b"x" * 1000)
    assert find_policy(model).parameters == parameters
