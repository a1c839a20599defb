"""Chat templates by name, for models whose tokenizer has none and for prompts that are plain text.

A template is Jinja, as tokenizers hold it: it gets `messages`, `add_generation_prompt` and `bos_token`. The same text goes to
transformers, to vLLM and to verl (`actor_rollout_ref.model.custom_chat_template`).
"""

from __future__ import annotations

from collections.abc import Sequence

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
