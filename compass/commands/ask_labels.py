"""Asking a person for labels in the terminal, one after the other; each is kept at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from compass.page.terminal import safe

if TYPE_CHECKING:
    from compass.evaluation.labels import One

ANSWERS = {"y": True, "n": False, "?": None}
SHOWN = 1_500
"""Characters of a text that are shown; `a` shows all."""


def ask(
    question: str,
    waiting: Sequence[One],
    most: int,
    path: Path,
    show: Callable[[One, str], None],
    whole: Callable[[One], str],
) -> None:
    """Show one after the other, and keep what the person says of it.

    Args:
        question: what is asked of each.
        waiting: what is judged, in order.
        most: how many are judged at most.
        path: the file of labels.
        show: prints one under its number, `3 of 40`.
        whole: the text of one that `a` shows in full.
    """
    from compass.evaluation.label_files import write_label

    print(f"{question} y yes, n no, ? cannot tell, s skip, a show all, q quit. Labels: {path}")
    done = 0
    for at, one in enumerate(waiting):
        if done == most:
            return
        show(one, f"{done + 1} of {min(most, done + len(waiting) - at)}")
        said = _say(whole(one))
        if said == "q":
            return
        if said in ANSWERS:
            write_label(path, one.key, ANSWERS[said], "person")
            done += 1


def _say(whole: str) -> str:
    while True:
        try:
            said = input("y/n/?/s/a/q: ").strip().lower()
        except EOFError:
            return "q"
        if said == "a":
            print(safe(whole))
        elif said in (*ANSWERS, "s", "q"):
            return said
