"""A named prompt: what is sent with a problem, in which template, and where that comes from."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from compass.prompts.messages import chat_messages
from compass.prompts.templates import TEMPLATES

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
        digest = hashlib.blake2b(json.dumps(says, sort_keys=True).encode(), digest_size=8).hexdigest()
        template = self.template or "the model's own"
        return {"name": self.name, "version": self.version, "template": template, "digest": digest}


def same_prompt(one: Prompt, other: Prompt) -> bool:
    """Whether two prompts say the same, whatever their names."""
    return one.facts()["digest"] == other.facts()["digest"]
