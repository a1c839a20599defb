"""An open pipeline for math-reasoning RL: curate problems, train a model on them, and see what it learned.

What a program needs most is here, imported when it is first used, so that `import compass` costs nothing and asks for no extra:

    import compass

    compass.verify(gold="1/2", answer="0.5").equal              # are two answers equal?
    compass.judge(gold="1/2", response=r"So \\boxed{0.5}.").equal  # is a response right?
    compass.load_run(".").scores                                # what a finished run scored: a data frame
    kept, dropped, card = compass.curate("mine.csv")            # clean a file or a table
    compass.score(rows, response_field="text", gold_field="gold").scores["accuracy"]  # score responses made elsewhere
    compass.why("Tom has 8 books", "curated")                   # what every stage did with a problem
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = [
    "Mode",
    "curate",
    "extract_answer",
    "judge",
    "load_run",
    "load_settings",
    "read_records",
    "score",
    "verify",
    "why",
]

_PLACES = {
    "Mode": ("verifier", "Mode", "verify"),
    "curate": ("library.curate", "curate", "curate"),
    "extract_answer": ("verifier", "extract_answer", "verify"),
    "judge": ("verifier", "judge", "verify"),
    "load_run": ("report.run", "read_run", "report"),
    "load_settings": ("settings", "load_settings", "curate"),
    "read_records": ("records", "read_records", "curate"),
    "score": ("library.score", "score", "score"),
    "verify": ("verifier", "verify", "verify"),
    "why": ("library.why", "why", "why"),
}
"""Name to the module of this package that has it, its name there, and the command that needs the same extra."""


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("compass-thinker")
    if name not in _PLACES:
        raise AttributeError(f"module 'compass' has no attribute {name!r}")
    module, attribute, command = _PLACES[name]
    try:
        return getattr(import_module(f"{__name__}.{module}"), attribute)
    except ModuleNotFoundError as error:
        # by name, so that no stage depends on the list of extras
        raise ImportError(import_module(f"{__name__}.extras").name_missing(error, [command])) from error


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
