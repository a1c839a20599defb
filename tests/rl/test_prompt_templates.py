"""verl renders a named prompt to the tokens that the stage counted and that the engine of grading and evaluation is given."""

import pytest

from compass.prompts.registry import PROMPTS


@pytest.mark.parametrize("name", ["default", "qwen-math", "r1-zero", "oat-zero", "few-shot", "plain"])
def test_verl_reads_a_named_prompt_as_the_engine_does(random_model, tmp_path, name) -> None:
    from transformers import AutoTokenizer
    from verl.utils.tokenizer.continuous_token_wiring import create_continuous_token_builder

    folder = random_model(tmp_path, 0)
    prompt = PROMPTS[name]
    messages = prompt.messages("What is 1 + 1?")
    engine = AutoTokenizer.from_pretrained(folder)
    wanted = engine.apply_chat_template(
        messages, chat_template=prompt.chat_template, add_generation_prompt=True, tokenize=True, return_dict=False
    )
    tokenizer = AutoTokenizer.from_pretrained(folder)
    if prompt.chat_template:  # what verl does with `custom_chat_template`
        tokenizer.chat_template = prompt.chat_template
    builder = create_continuous_token_builder(tokenizer, hf_model_type="qwen2", chat_template_kwargs={})
    assert list(builder.build_initial_tokens(messages)) == wanted
    assert len(wanted) > 10
