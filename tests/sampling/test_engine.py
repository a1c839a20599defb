"""The real engine on a random model: what is sampled is reproducible, and each model samples with its own weights."""

import pytest

from compass.sampling.engine import Engine
from compass.sampling.model_source import find_model
from compass.sampling.response import PROMPT_TOO_LONG, UNFINISHED, Wanted
from compass.settings import Sampling

pytestmark = pytest.mark.slow

SAMPLING = Sampling(max_tokens=12, max_model_len=96, dtype="float32")
PROBLEMS = {f"p{number}": f"What is {number} + 1?" for number in range(20)}


def ends(engine, problems, *, n, greedy, seed):
    """The responses that an engine ends with, in the order of what was wanted."""
    kinds = [(number, False) for number in range(n)] + [(0, True)] * greedy
    wanted = [Wanted(name, problem, *kind) for name, problem in problems.items() for kind in kinds]
    found = {one.wanted: one for one in engine.sample(wanted, seed=seed)}
    return [found[one] for one in wanted]


def texts(responses):
    return {(found.wanted.id, found.wanted.sample, found.wanted.greedy): found.text for found in responses}


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
                    "all": ends(engine, PROBLEMS, n=4, greedy=True, seed=0),
                    "again": ends(engine, PROBLEMS, n=4, greedy=True, seed=0),
                    "other seed": ends(engine, PROBLEMS, n=4, greedy=True, seed=1),
                    "some": ends(engine, {"p7": PROBLEMS["p7"]}, n=4, greedy=False, seed=0),
                    "long": ends(engine, {"p0": PROBLEMS["p0"], "long": "7" * 200}, n=2, greedy=True, seed=0),
                }
            )
    return found


def test_every_problem_has_its_samples_and_a_greedy_response(engines):
    kinds = [(found.wanted.id, found.wanted.sample, found.wanted.greedy) for found in engines[0]["all"]]
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
        assert {name: text for (name, _, greedy), text in texts(found["all"]).items() if greedy} == expected


def test_a_response_sampled_in_stretches_goes_on_the_same_after_a_stop(random_model, tmp_path):
    model = find_model(str(random_model(tmp_path, 0)))
    sampling = SAMPLING.model_copy(update={"checkpoint_tokens": 4})
    wanted = [Wanted(name, problem, 0, greedy) for name, problem in PROBLEMS.items() for greedy in (False, True)]
    with Engine(model, sampling) as engine:
        whole = list(engine.sample(wanted, seed=0))
        first = {one.wanted: one for one in reversed(whole) if one.finish_reason == UNFINISHED}
        rest = list(engine.sample([one.begun_with(first[one].token_ids, 0.0) for one in first], seed=0))
    assert len(first) > 20
    assert {len(one.token_ids) for one in first.values()} == {4}
    ended = {one.wanted.key: one.text for one in whole if one.finish_reason != UNFINISHED}
    assert {one.wanted.key: one.text for one in rest if one.finish_reason != UNFINISHED} == {
        one.key: ended[one.key] for one in first
    }


def test_greedy_decoding_in_stretches_is_greedy_decoding(engines, random_model, tmp_path):
    model = find_model(str(random_model(tmp_path, 0)))
    with Engine(model, SAMPLING.model_copy(update={"checkpoint_tokens": 4})) as engine:
        found = ends(engine, PROBLEMS, n=0, greedy=True, seed=0)
    assert texts(found) == {key: text for key, text in texts(engines[0]["all"]).items() if key[2]}


def test_a_response_that_is_one_request_hands_its_beginnings_over_and_goes_on_from_any(
    random_model, tmp_path, monkeypatch
):
    """As on GPUs; a CPU draws otherwise after a beginning, so that only greedy responses are compared."""
    monkeypatch.setattr("compass.sampling.engine.resumes_anywhere", lambda: True)
    sampling = SAMPLING.model_copy(update={"checkpoint_tokens": 3})
    wanted = [Wanted(name, problem, 0, True) for name, problem in PROBLEMS.items()]
    with Engine(find_model(str(random_model(tmp_path, 0))), sampling) as engine:
        found = list(engine.sample(wanted, seed=0))
        begun = [one.wanted.begun_with(one.token_ids, 0.0) for one in found if one.finish_reason == UNFINISHED]
        whole = {one.wanted.id: one for one in found if one.finish_reason != UNFINISHED}
        rest = [one for one in engine.sample(begun, seed=0) if one.finish_reason != UNFINISHED]
        assert {len(one.begun) for one in begun} == {4, 7, 10}
        assert len(rest) == len(begun) > 20
        assert all((one.tokens, one.text) == (whole[one.wanted.id].tokens, whole[one.wanted.id].text) for one in rest)
        sampled = [Wanted(name, problem, 0, False) for name, problem in PROBLEMS.items()]
        first, second = (
            {one.wanted.id: one.text for one in engine.sample(sampled, seed=0) if one.finish_reason != UNFINISHED}
            for _ in range(2)
        )
        assert first == second
