"""What ends a command or a stage with its message alone, because the user can put it right."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class UserError(ValueError):
    """Input that cannot be used: the message says which file, row or setting, what was found, and what to do."""

    exit_status = 1
    """The exit status of a command that ends with it."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(f"{message}; {remedy}" if remedy else message)
        self.message = message
        """What was found, and where."""
        self.remedy = remedy
        """What to do, where it is kept apart for those who show it so; else empty."""


class WrongName(UserError):
    """A name on the command line, such as a stage's, that is none of those there are."""

    exit_status = 2


class SourceError(UserError):
    """A source that cannot be read; the message names the file or hub id, the row, what was found and what to do."""


def find_nearest(name: str, names: Iterable[str]) -> str:
    """The one of these names that is nearest to a misspelt one; empty where none is near."""
    return next(iter(get_close_matches(name, list(names), n=1)), "")


def did_you_mean(name: str, names: Iterable[str], shown: str = "{}", *, most: int = 1, cutoff: float = 0.6) -> str:
    """`did you mean X? `, with the space before what follows; empty where no name is near.

    Args:
        name: the misspelt one.
        names: those that are allowed.
        shown: how a name is written in the message, as a format: "`{}`".
        most: how many are offered at most.
        cutoff: how near a name must be, 0 to 1.
    """
    near = get_close_matches(name, list(names), n=most, cutoff=cutoff)
    return f"did you mean {' or '.join(map(shown.format, near))}? " if near else ""


def describe_yaml_error(error: Exception) -> str:
    """An error of PyYAML or ruamel.yaml in one line: `not readable as YAML: line 2, column 2: expected ',' or ']', but got ':'`."""
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark is not None else ""
    return f"not readable as YAML: {where}{problem or str(error).splitlines()[0]}"
