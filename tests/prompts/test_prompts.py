"""Named prompts: what each says, where its template comes from, and that settings know the same names."""

from typing import get_args

import pytest
from pydantic import ValidationError

from compass.prompts.prompt import TEMPLATES, Prompt, chat_messages, render, same_prompt
from compass.prompts.registry import BOXED, PROMPTS, find_prompt
from compass.settings import Sampling
from compass.settings.prompting import WITH_TEMPLATE, Prompting, PromptName, TemplateName
from compass.settings.recipe import Data
from compass.verifier import judge

PROBLEM = r"Let $f(x) = \frac{1}{x}$ {problem} {{ 7*7 }} {% raw %}. What is $f(2)$?"


def find(**settings: str) -> Prompt:
    return find_prompt(Prompting(**settings).model_dump())


def text(name: str, problem: str = PROBLEM) -> str:
    """What a model without a template of its own reads."""
    prompt = PROMPTS[name]
    return render(prompt.chat_template or TEMPLATES["chatml"], prompt.messages(problem), bos_token="<s>")


def test_settings_name_every_prompt_and_template_and_no_other() -> None:
    assert set(get_args(PromptName)) == set(PROMPTS)
    assert set(get_args(TemplateName)) == {"", *TEMPLATES}
    assert {prompt.template for prompt in PROMPTS.values()} <= {"", *TEMPLATES}
    assert all(prompt.source and prompt.version >= 1 for prompt in PROMPTS.values())


@pytest.mark.parametrize("name", PROMPTS)
def test_a_problem_is_text_in_every_prompt_whatever_it_holds(name: str) -> None:
    assert text(name).count(PROBLEM) == 1


def test_the_default_is_what_the_settings_say_as_before() -> None:
    prompt = find(system_prompt="Think.", prompt_suffix="Box it.")
    assert prompt.messages("1+1?") == chat_messages("1+1?", system_prompt="Think.", prompt_suffix="Box it.")
    assert find().messages("1+1?") == [{"role": "user", "content": "1+1?"}]
    assert find().chat_template is None


def test_qwens_prompt_is_that_of_its_own_evaluation() -> None:
    assert text("qwen-math", "1+1?") == (
        "<|im_start|>system\nPlease reason step by step, and put your final answer within \\boxed{}.<|im_end|>\n"
        "<|im_start|>user\n1+1?<|im_end|>\n<|im_start|>assistant\n"
    )


def test_zero_prompts_are_plain_text_that_ends_where_the_model_begins() -> None:
    assert text("r1-zero", "1+1?").startswith("<s>A conversation between User and Assistant. The user asks")
    assert text("r1-zero", "1+1?").endswith("</think> <answer> answer here </answer>. User: 1+1?\nAssistant:")
    assert text("oat-zero", "1+1?").endswith("</answer>.\nUser: 1+1?\nAssistant: <think>")
    assert text("open-reasoner-zero", "1+1?").endswith(
        "extracted automatically by the \\boxed{} tag.\nThis is the problem:\n1+1?\nAssistant: <think>"
    )


def test_llamas_prompt_ends_in_the_problem() -> None:
    (message,) = PROMPTS["llama"].messages("1+1?")
    assert message["content"].startswith("Solve the following math problem efficiently and clearly:\n\n- For simple")
    assert message["content"].endswith("expression that solves the problem.\n\nProblem: 1+1?")


def test_few_shot_is_plain_text_with_four_examples_and_room_for_the_answer() -> None:
    said = text("few-shot", "1+1?")
    assert said.count("Question: ") == said.count("Answer:") == 5
    assert said.endswith("\n\nQuestion: 1+1?\nAnswer:")
    assert PROMPTS["few-shot"].cut(" 2. The answer is 2.\n\nQuestion: 2+2?\nAnswer: 4") == " 2. The answer is 2.\n"


def test_the_examples_of_few_shot_are_right_by_the_verifier() -> None:
    golds = ["25", "-3/2, 3", "1/5", "3"]
    for (question, answer), gold in zip(PROMPTS["few-shot"].shots, golds, strict=True):
        assert judge(gold=gold, response=answer, question=question).equal, question


@pytest.mark.parametrize(
    ("name", "response"),
    [
        ("r1-zero", "<think> 1+1 makes 2. </think> <answer> 2 </answer>"),
        ("oat-zero", " 1+1 makes 2. </think> <answer> \\boxed{2} </answer>"),
        ("open-reasoner-zero", " 1+1 makes 2. </think> <answer> \\boxed{2} </answer>"),
        ("llama", "## Step 1: Add\n1+1 = 2\n\nTherefore, the final answer is: $\\boxed{2}$. I hope it is correct."),
        ("boxed", "We add. \\boxed{2}"),
    ],
)
def test_the_strict_mode_reads_what_a_prompt_asks_for(name: str, response: str) -> None:
    assert judge(gold="2", response=PROMPTS[name].cut(response), question="1+1?").equal


def test_a_template_by_name_replaces_the_prompts() -> None:
    prompt = find(prompt="qwen-math", chat_template="chatml")
    assert prompt.chat_template == TEMPLATES["chatml"]
    assert prompt.facts()["template"] == "chatml"
    assert find(prompt="qwen-math").facts()["template"] == "the model's own"


def test_a_prompt_is_identified_by_all_that_it_says() -> None:
    one = find(prompt="boxed")
    assert not same_prompt(one, find(prompt="boxed", chat_template="chatml"))
    assert not same_prompt(one, find(prompt_suffix=BOXED))
    assert same_prompt(find(system_prompt=BOXED), find(prompt="qwen-math"))


@pytest.mark.parametrize("section", [Sampling, Data])
def test_a_named_prompt_takes_no_other_words(section: type) -> None:
    with pytest.raises(ValidationError, match="'llama' has a wording of its own: leave out `system_prompt`"):
        section(prompt="llama", prompt_suffix="Box it.")
    with pytest.raises(ValidationError, match="'qwen-math'"):
        section(prompt="qwen")


def test_arguments_of_a_chat_template_are_part_of_what_is_asked() -> None:
    thinking, plain = (find_prompt(Prompting(chat_template_kwargs=given).model_dump()) for given in ({"a": 1}, {}))
    assert not same_prompt(thinking, plain)
    assert thinking.facts()["template_kwargs"] == {"a": 1}
    assert same_prompt(plain, PROMPTS["default"])
    with pytest.raises(ValidationError, match="the prompt 'few-shot' takes its place"):
        Prompting(prompt="few-shot", chat_template_kwargs={"a": 1})
    with pytest.raises(ValidationError, match="the chat template 'chatml' takes its place"):
        Prompting(chat_template="chatml", chat_template_kwargs={"a": 1})


def test_settings_know_which_prompts_bring_a_template() -> None:
    assert {name for name, prompt in PROMPTS.items() if prompt.template} == WITH_TEMPLATE
