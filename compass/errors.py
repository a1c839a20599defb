"""What ends a command or a stage with its message alone, because the user can put it right."""

from __future__ import annotations


class UserError(ValueError):
    """Input that cannot be used: the message says which file, row or setting, what was found, and what to do."""

    exit_status = 1
    """The exit status of a command that ends with it."""
