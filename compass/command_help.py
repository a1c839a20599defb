"""How a command's help is laid out: its examples stand between what it does and its options."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable
from typing import Any

from cyclopts.help.formatters import DefaultFormatter

_EXAMPLES = re.compile(r"^Examples:\n((?:(?: {4}.*)?\n)+)", re.MULTILINE)


def examples(function: Callable[..., Any] | None) -> str:
    """The lines below `Examples:` in a function's docstring, without their common indent; empty where there are none."""
    found = _EXAMPLES.search((inspect.getdoc(function) or "") + "\n") if function else None
    return textwrap.dedent(found[1]).strip("\n") if found else ""


class HelpWithExamples(DefaultFormatter):
    """Cyclopts' own layout, with the examples of one function below its description."""

    def __init__(self, function: Callable[..., Any] | None) -> None:
        super().__init__()
        self.examples = examples(function)

    def render_description(self, console: Any, options: Any, description: Any) -> None:
        """Print what the command does, then its examples."""
        from rich.text import Text

        super().render_description(console, options, description)
        if self.examples:
            console.print(Text(f"Examples:\n{textwrap.indent(self.examples, '  ')}\n"), soft_wrap=True)
