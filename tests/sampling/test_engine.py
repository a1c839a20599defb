"""The real engine on a random model: what is sampled is reproducible, and each model samples with its own weights."""

from pathlib import Path

import pytest

from compass.sampling.engine import Engine
from compass.sampling.model_source import SamplingError, find_model
from compass.sampling.response import PROMPT_TOO_LONG
from compass.settings import Sampling

pytestmark = pytest.mark.slow

SAMPLING = Sampling(max_tokens=12, max_model_len=96, dtype="float32")
PROBLEMS = {f"p{number}": f"What is {number} + 1?" for number in range(20)}


def texts(responses):
    return {(found.id, found.sample, found.greedy): found.text for found in responses}


@pytest.fixture(scope="module")
def engines(random_model, tmp_path_factory):
    """What two models of one architecture sample, one after the other in one process."""
    found = []
    for seed in (0, 1):
        model = find_model(str(random_model(tmp_path_factory.mktemp("model"), seed)))
        with Engine(model, SAMPLING) as engine:
            found.append(
                {
                    "model": model,
                    "all": engine.sample(PROBLEMS, n=4, greedy=True, seed=0),
                    "again": engine.sample(PROBLEMS, n=4, greedy=True, seed=0),
                    "other seed": engine.sample(PROBLEMS, n=4, greedy=True, seed=1),
                    "some": engine.sample({"p7": PROBLEMS["p7"]}, n=4, greedy=False, seed=0),
                    "long": engine.sample({"p0": PROBLEMS["p0"], "long": "7" * 200}, n=2, greedy=True, seed=0),
                }
            )
    return found


def test_every_problem_has_its_samples_and_a_greedy_response(engines):
    kinds = [(found.id, found.sample, found.greedy) for found in engines[0]["all"]]
    assert kinds == [
        (name, *kind) for name in PROBLEMS for kind in [(0, False), (1, False), (2, False), (3, False), (0, True)]
    ]


def test_tokens_and_finish_reasons(engines):
    for found in engines[0]["all"]:
        assert 1 <= found.tokens <= 12
        assert found.finish_reason in ("stop", "length")
        assert (found.finish_reason == "stop") or found.tokens == 12
        assert "<|im_end|>" not in found.text
    assert {found.finish_reason for found in engines[0]["all"]} == {"stop", "length"}


def test_the_same_seed_samples_the_same_and_another_seed_does_not(engines):
    assert texts(engines[0]["all"]) == texts(engines[0]["again"])
    first, other = texts(engines[0]["all"]), texts(engines[0]["other seed"])
    assert sum(first[key] != other[key] for key in first if not key[2]) > 60
    assert all(first[key] == other[key] for key in first if key[2])


def test_samples_of_one_problem_differ(engines):
    assert len({found.text for found in engines[0]["all"] if found.id == "p3" and not found.greedy}) > 1


def test_what_is_sampled_does_not_depend_on_the_other_problems(engines):
    alone = texts(engines[0]["some"])
    assert alone == {key: text for key, text in texts(engines[0]["all"]).items() if key in alone}


def test_a_prompt_that_is_too_long_is_reported_and_not_cut(engines):
    found = engines[0]["long"]
    assert [response.finish_reason == PROMPT_TOO_LONG for response in found] == [False] * 3 + [True] * 3
    assert [(response.tokens, response.text) for response in found[3:]] == [(0, "")] * 3


def test_each_model_decodes_greedily_as_transformers_does_with_its_weights(engines):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    for found in engines:
        tokenizer = AutoTokenizer.from_pretrained(found["model"].path)
        model = AutoModelForCausalLM.from_pretrained(found["model"].path, dtype=torch.float32)
        expected = {}
        for name, problem in PROBLEMS.items():
            prompt = tokenizer.apply_chat_template(
                [{"role": "user", "content": problem}],
                add_generation_prompt=True,
                return_tensors="pt",
                return_dict=False,
            )
            out = model.generate(prompt, max_new_tokens=12, do_sample=False)[0, prompt.shape[1] :]
            expected[name] = tokenizer.decode(out, skip_special_tokens=True)
        assert {response.id: response.text for response in found["all"] if response.greedy} == expected


def test_two_models_sample_differently(engines):
    assert texts(engines[0]["all"]) != texts(engines[1]["all"])


def test_a_tokenizer_without_a_chat_template_is_named(random_model, tmp_path):
    folder = random_model(tmp_path, 0)
    (folder / "chat_template.jinja").unlink()
    with pytest.raises(SamplingError, match="has no chat template"):
        Engine(find_model(str(folder)), SAMPLING)
    assert Path(folder).is_dir()
