"""The prompt that a section of `params.yaml` names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from compass.prompts.prompt import PROBLEM, Prompt
from compass.prompts.registry import PROMPTS


def find_prompt(settings: Mapping[str, Any]) -> Prompt:
    """The prompt that settings name.

    Args:
        settings: `prompt`, `chat_template`, `system_prompt` and `prompt_suffix`, as sections of `params.yaml` hold them.
    """
    prompt = PROMPTS[settings["prompt"]]
    if prompt.name == "default":
        suffix = settings["prompt_suffix"]
        user = f"{PROBLEM} {suffix}" if suffix else PROBLEM
        prompt = replace(prompt, user=user, system=settings["system_prompt"])
    return replace(prompt, template=settings["chat_template"]) if settings["chat_template"] else prompt
