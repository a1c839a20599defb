"""Pre-training the tiny policy: what it saves, when it stops, and that its measure of skill is right."""

import math

import pytest

from compass.base.pretrain import PretrainError, encode, pretrain, skill_of
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
    assert [step for step, _, _ in seen] == list(range(1, 13))
    assert all(0 <= done <= 1 for _, _, done in seen)
    assert facts["tokens"] > 12 * 8 * 40
    assert math.isfinite(facts["loss"])


def test_the_same_seed_gives_the_same_weights(trained, tmp_path):
    pretrain(QUICK, seed=5, out=tmp_path)
    assert (tmp_path / "model.safetensors").read_bytes() == (trained[0] / "model.safetensors").read_bytes()


def test_too_few_steps_for_the_skill_is_an_error_that_names_both(tmp_path):
    settings = QUICK.model_copy(update={"skill": 0.9, "steps": 2})
    with pytest.raises(PretrainError, match=r"base\.pretrain\.steps.*base\.pretrain\.skill is 0\.9"):
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
    assert skill_of(model, tokenizer, problems) == pytest.approx(sum(expected) / len(expected), rel=1e-3)


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
