"""How problems are put to a model: the settings that grading, RL and evaluation share."""

from __future__ import annotations

from typing import Literal

from pydantic import JsonValue, model_validator

from compass.settings.section import Section

PromptName = Literal[
    "default", "boxed", "qwen-math", "llama", "r1-zero", "open-reasoner-zero", "oat-zero", "question-answer", "few-shot", "plain",
]  # fmt: skip
WITH_TEMPLATE = {"r1-zero", "open-reasoner-zero", "oat-zero", "question-answer", "few-shot", "plain"}
"""Prompts that bring a chat template of their own."""

TemplateName = Literal["", "chatml", "question-answer", "plain"]


class Prompting(Section):
    """How a problem becomes what the model reads."""

    prompt: PromptName = "default"
    """A named prompt (docs/reference/evaluation.md lists them). `default` is the problem with `system_prompt` and `prompt_suffix`."""

    chat_template: TemplateName = ""
    """A chat template by name, for a model that has none; empty takes the prompt's, or else the model's own."""

    chat_template_kwargs: dict[str, JsonValue] = {}
    """What the model's own chat template is given beside the messages: `{enable_thinking: false}` for Qwen3, `{reasoning_effort: high}` for gpt-oss."""

    system_prompt: str = ""
    """System prompt of the prompt `default`; empty sends none."""

    prompt_suffix: str = ""
    """Text that the prompt `default` appends to every problem, such as the request for a boxed answer."""

    @model_validator(mode="after")
    def _one_wording(self) -> Prompting:
        if self.prompt != "default" and (self.system_prompt or self.prompt_suffix):
            raise ValueError(
                f"the prompt {self.prompt!r} has a wording of its own: leave out `system_prompt` and `prompt_suffix`, "
                "or take the prompt 'default'"
            )
        if self.chat_template_kwargs and (self.chat_template or self.prompt in WITH_TEMPLATE):
            named = (
                f"the prompt {self.prompt!r}"
                if self.prompt in WITH_TEMPLATE
                else f"the chat template {self.chat_template!r}"
            )
            raise ValueError(
                f"`chat_template_kwargs` are for the model's own chat template, and {named} takes its place; leave out one of them"
            )
        return self
