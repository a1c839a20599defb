"""Which extra of the installation a command needs: `pip install 'compass-thinker[curate]'`."""

from __future__ import annotations

from collections.abc import Sequence

COMMANDS = {
    "curate": (
        "curate",
        "data",
        "ledger",
        "why",
        "card",
        "verify",
        "benchmarks",
        "forgetting",
        "completion",
        "profile",
    ),
    "score": ("score", "table1", "label", "report"),
    "evaluate": ("evaluate", "chat"),
}
"""Extra to the commands that run with it and not with the one before; all others need `pipeline`."""

MODULES = {
    "aiohttp": "evaluate",
    "datasets": "hub",
    "httpx": "hub",
    "huggingface_hub": "hub",
    "ray": "pipeline",
    "s3fs": "s3",
    "gcsfs": "gcs",
    "tensorboard": "tensorboard",
    "wandb": "wandb",
}
"""Packages that few uses of a command need, each with the extra that brings it."""


def name_missing(error: ModuleNotFoundError, words: Sequence[str]) -> str:
    """The message where a package of an extra is not installed.

    Args:
        error: of the import.
        words: the command line without the program's name.

    Raises:
        ModuleNotFoundError: the module is this project's own.
    """
    module = (error.name or "").partition(".")[0]
    if module in ("", "compass", "stages", "flows"):
        raise error
    chosen = next((word for word in words if not word.startswith("-")), "")
    needed = next((extra for extra, commands in COMMANDS.items() if chosen in commands), "pipeline")
    if not chosen:
        needed = next(iter(COMMANDS))
    extra = MODULES.get(module, needed)
    return (
        f"{' '.join(['compass', chosen]).strip()}: the package {module} is not installed; "
        f"install what is needed: pip install 'compass-thinker[{extra}]'"
    )
