"""How a problem becomes chat messages: the same for grading, RL and evaluation."""

from __future__ import annotations


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
