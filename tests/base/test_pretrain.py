"""Pre-training the tiny policy: what it saves, when it stops, and that its measure of skill is right."""

import math

import pytest

from compass.base.pretrain import (
    PretrainError,
    _fresh_problems,
    _Training,
    encode,
    measure_guessing,
    measure_skill,
    pretrain,
)
from compass.settings import Pretrain
from compass.sources.tiny_problems import LEVELS, draw_problem

# Skill no training can miss: what is tested here is the machinery, in seconds.
QUICK = Pretrain(hidden_size=32, layers=1, batch_size=8, skill=1e-30, steps=10, habit_steps=2)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("base")
    seen = []
    facts = pretrain(QUICK, seed=5, out=folder, progress=lambda *values: seen.append(values))
    return folder, facts, seen


def test_it_saves_a_model_that_vllm_and_verl_can_load(trained):
    from safetensors import safe_open
    from transformers import AutoConfig, AutoTokenizer, GenerationConfig

    folder, facts, _ = trained
    config, tokenizer = AutoConfig.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    assert config.model_type == "qwen2"
    assert config.vocab_size == len(tokenizer) == facts["vocabulary"]
    assert config.hidden_size // config.num_attention_heads == 32
    assert config.tie_word_embeddings
    generation = GenerationConfig.from_pretrained(folder)
    assert (generation.eos_token_id, generation.pad_token_id) == (tokenizer.eos_token_id, tokenizer.pad_token_id)
    assert (config.eos_token_id, config.pad_token_id) == (tokenizer.eos_token_id, tokenizer.pad_token_id)
    with safe_open(folder / "model.safetensors", "pt") as weights:
        assert {str(weights.get_tensor(name).dtype) for name in weights.keys()} == {"torch.float32"}  # noqa: SIM118


def test_it_reports_facts_and_progress(trained):
    _, facts, seen = trained
    assert facts["steps"] == len(seen) == 12
    assert [step for step, *_ in seen] == list(range(1, 13))
    assert all(0 <= done <= 1 for *_, done in seen)
    assert facts["tokens"] > 12 * 8 * 40
    assert math.isfinite(facts["loss"])
    assert [done for *_, done in seen] == pytest.approx(
        [0.09, 0.18, 0.27, 0.36, 0.45, 0.54, 0.63, 0.72, 0.81, 0.9, 0.9, 0.95]
    )
    assert facts["tokens_per_second"] == pytest.approx(facts["tokens"] / facts["seconds"])
    assert 0 < facts["skill"] < facts["expected_accuracy"] < 0.05
    assert facts["loss"] == seen[-1][1]
    assert [skill for _, _, skill, _ in seen] == [0.0] * 9 + [facts["skill"]] * 3
    assert 4 < facts["loss"] < 8  # near log(vocabulary) after a few steps


class Rates(_Training):
    """Notes the learning rate of every step, as a share of the first, and trains nothing."""

    def __init__(self, settings, skills=()):
        self.settings, self.progress, self.model, self.tokenizer = settings, self.told, None, None
        self.groups = [{"lr": 0.5}, {"lr": 2.0}]
        self.optimizers = [type("Optimizer", (), {"param_groups": [group]})() for group in self.groups]
        self.rates = [0.5, 2.0]
        self.steps, self.loss, self.skill, self.shares, self.done = 0, 1.0, 0.0, [], []

    def told(self, step, loss, skill, done):
        self.done.append(done)

    def _step(self, pairs):
        assert self.groups[1]["lr"] == 4 * self.groups[0]["lr"]
        self.shares.append(self.groups[0]["lr"] / 0.5)
        self.steps += 1


def test_the_rate_falls_with_the_best_skill_and_training_stops_at_the_skill_asked_for(monkeypatch):
    skills = iter([0.0, 0.05, 0.2, 0.01, 0.4])
    monkeypatch.setattr("compass.base.pretrain.measure_skill", lambda *_: next(skills))
    training = Rates(QUICK.model_copy(update={"skill": 0.4, "steps": 100}))
    assert training.learn_skill(iter(()), []) == 0.4
    expected = [1.0] * 10 + [1.0] * 10 + [0.65] * 10 + [0.3] * 10 + [0.3] * 10
    assert training.shares == pytest.approx(expected)
    assert training.done[9] == pytest.approx(0.09)
    assert training.done[39] == pytest.approx(0.9 * 0.5)  # half of the skill was reached, in 40 of 100 steps
    assert training.done[-1] == 0.9


def test_habits_are_learnt_at_a_rate_that_falls_to_nothing():
    training = Rates(QUICK.model_copy(update={"habit_steps": 4}))
    training.learn_habits(iter(()))
    assert training.shares == pytest.approx([0.3, 0.225, 0.15, 0.075])
    assert training.done == pytest.approx([0.9, 0.925, 0.95, 0.975])


def test_the_same_seed_gives_the_same_weights(trained, tmp_path):
    pretrain(QUICK, seed=5, out=tmp_path)
    assert (tmp_path / "model.safetensors").read_bytes() == (trained[0] / "model.safetensors").read_bytes()


def test_too_few_steps_for_the_skill_is_an_error_that_names_both(tmp_path):
    settings = QUICK.model_copy(update={"skill": 0.9, "steps": 2})
    with pytest.raises(
        PretrainError, match=r"base\.pretrain\.steps: skill is 0\.000 after 2 steps.*base\.pretrain\.skill is 0\.9"
    ):
        pretrain(settings, seed=5, out=tmp_path)


def test_skill_is_the_probability_of_the_worked_solution(trained):
    import random

    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = trained[0]
    model, tokenizer = AutoModelForCausalLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    problems = [draw_problem(random.Random(level), level, held_out=False) for level in LEVELS]
    expected = []
    for problem in problems:
        prompt, response = encode(tokenizer, problem.text, problem.solution)
        with torch.no_grad():
            logits = model(torch.tensor([prompt + response])).logits[0, len(prompt) - 1 : -1]
        chosen = logits.log_softmax(-1).gather(1, torch.tensor(response)[:, None])
        expected.append(chosen.sum().exp().item())
    assert measure_skill(model, tokenizer, problems) == pytest.approx(sum(expected) / len(expected), rel=1e-3)
    assert 0 < measure_guessing(model, tokenizer, problems) < 1e-3


def test_expected_accuracy_is_that_of_the_saved_model_on_twenty_problems_of_each_level(trained):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder, facts, _ = trained
    model, tokenizer = AutoModelForCausalLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    problems = _fresh_problems(5, each_level=20)
    expected = measure_skill(model, tokenizer, problems) + measure_guessing(model, tokenizer, problems)
    assert facts["expected_accuracy"] == pytest.approx(expected, rel=1e-3)


def test_a_prompt_ends_where_the_response_begins_and_that_ends_the_turn(trained):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(trained[0])
    prompt, response = encode(tokenizer, "1+1?", "2")
    assert tokenizer.decode(prompt) == "<|im_start|>user\n1+1?<|im_end|>\n<|im_start|>assistant\n"
    assert tokenizer.decode(response) == "2<|im_end|>"


def test_prompt_and_response_fit_the_tiny_profiles_lengths(trained):
    import random

    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(trained[0])
    rng = random.Random(0)
    pairs = [
        encode(tokenizer, problem.text, problem.solution)
        for problem in (draw_problem(rng, 5, held_out=False) for _ in range(500))
    ]
    assert max(len(response) for _, response in pairs) <= 48
    assert max(len(prompt) for prompt, _ in pairs) <= 112
