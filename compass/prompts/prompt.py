"""A named prompt: what is sent with a problem, in which template, and where that comes from.

A chat template is Jinja, as tokenizers hold it: it gets `messages`, `add_generation_prompt` and `bos_token`. The same text goes to
transformers, to vLLM and to verl (`actor_rollout_ref.model.custom_chat_template`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any


def chat_messages(problem: str, *, system_prompt: str = "", prompt_suffix: str = "") -> list[dict[str, str]]:
    """The chat messages that ask a model to solve `problem`; the model's own chat template does the rest.

    Args:
        problem: the problem's text.
        system_prompt: content of a system message; empty sends none.
        prompt_suffix: appended to the problem after a blank, such as the request for a boxed answer.

    Returns:
        `[{"role": ..., "content": ...}, ...]`, the user's message last.
    """
    content = f"{problem} {prompt_suffix}" if prompt_suffix else problem
    messages = [{"role": "system", "content": system_prompt}] if system_prompt else []
    return [*messages, {"role": "user", "content": content}]


CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)

QUESTION_ANSWER = (
    "{{ bos_token or '' }}{% for message in messages %}"
    "{% if message['role'] == 'user' %}Question: {{ message['content'] }}\nAnswer:"
    "{% elif message['role'] == 'assistant' %} {{ message['content'] }}\n\n"
    "{% else %}{{ message['content'] }}\n\n{% endif %}{% endfor %}"
)

PLAIN = "{{ bos_token or '' }}{% for message in messages %}{{ message['content'] }}{% endfor %}"

TEMPLATES = {
    "chatml": CHATML,
    "question-answer": QUESTION_ANSWER,
    "plain": PLAIN,
}
"""Template by name.

`chatml` is Qwen's and SmolLM's. `question-answer` is plain text for base models. `plain` adds nothing to the messages.
"""


def render(template: str, messages: Sequence[dict[str, str]], *, bos_token: str = "") -> str:
    """Messages as the text that a model is given, in the sandbox that transformers renders templates in.

    Args:
        template: Jinja text, such as a value of `TEMPLATES`.
        messages: role and content of each.
        bos_token: the tokenizer's first token; empty where whoever reads the text adds it.
    """
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    compiled = environment.from_string(template)
    return compiled.render(messages=list(messages), add_generation_prompt=True, bos_token=bos_token)


PROBLEM = "{problem}"
"""Stands in `Prompt.user` for the problem's text, which is put there as it is: braces in it mean nothing."""


@dataclass(frozen=True)
class Prompt:
    """How a problem is put to a model. Whoever changes what one says raises its version."""

    name: str
    version: int
    source: str
    """Where the wording comes from."""

    user: str = PROBLEM
    """The user's message."""

    system: str = ""
    """The system message; empty sends none."""

    shots: tuple[tuple[str, str], ...] = ()
    """Worked examples before the problem: questions and answers."""

    template: str = ""
    """The name of the chat template; empty is the model's own."""

    stop: tuple[str, ...] = ()
    """Texts that end a response; they are cut off."""

    template_kwargs: Mapping[str, Any] = field(default_factory=dict)
    """What the model's own chat template is given beside the messages."""

    def messages(self, problem: str) -> list[dict[str, str]]:
        """The messages that ask for `problem`; the user's message last."""
        messages = chat_messages(self.user.replace(PROBLEM, problem), system_prompt=self.system)
        turns = (
            {"role": role, "content": text}
            for shot in self.shots
            for role, text in zip(("user", "assistant"), shot, strict=True)
        )
        return [*messages[:-1], *turns, messages[-1]]

    @property
    def chat_template(self) -> str | None:
        """The Jinja text of its template, None for the model's own."""
        return TEMPLATES[self.template] if self.template else None

    def cut(self, response: str) -> str:
        """The response up to the first text that ends it."""
        places = [place for text in self.stop if (place := response.find(text)) >= 0]
        return response[: min(places)] if places else response

    def facts(self) -> dict[str, Any]:
        """What identifies the prompt in results: its name, version, template and a digest of all that it says."""
        says = {name: value for name, value in asdict(self).items() if name not in ("name", "version", "source")}
        says["template"] = self.chat_template
        given = {"template_kwargs": dict(kwargs)} if (kwargs := says.pop("template_kwargs")) else {}
        says |= given
        digest = hashlib.blake2b(json.dumps(says, sort_keys=True).encode(), digest_size=8).hexdigest()
        template = self.template or "the model's own"
        return {"name": self.name, "version": self.version, "template": template, "digest": digest} | given


def same_prompt(one: Prompt, other: Prompt) -> bool:
    """Whether two prompts say the same, whatever their names."""
    return one.facts()["digest"] == other.facts()["digest"]
