"""`compass completion SHELL`: the script that lets a shell complete commands and options."""

from __future__ import annotations

from typing import Literal


def completion(shell: Literal["bash", "zsh", "fish"], /, *, install: bool = False) -> int:
    """Complete commands and options with the Tab key.

    Prints the script for a shell, or puts it where the shell looks for such scripts.

    Args:
        shell: the shell that you use.
        install: write the script below your home folder, and for bash and zsh one line into the shell's start file.

    Examples:
        compass completion bash --install         for every new shell
        source <(compass completion bash)         for this shell only
    """
    from compass.cli import build_app

    app = build_app()
    if not install:
        print(app.generate_completion(shell=shell))
        return 0
    print(f"{app.install_completion(shell=shell)}: open a new shell to use it")
    return 0
