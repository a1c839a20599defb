"""The models of the technical report's Table 1: where they are, how they are prompted, and what others measured of them.

Figures are percentages and quoted, not measured here. `report`: Compass-Thinker-7B Technical Report (arXiv 2508.08909), Table 1; it gives neither
samples nor sampling settings. `one_protocol`: Hochlehnert et al. 2025, "A Sober Look at Progress in Language Model Reasoning"
(arXiv 2504.07086), Table 3: one harness, sampling settings tuned per model, 4,096 tokens for models made from Qwen2.5-Math and 32,768 for
others; mean and standard deviation over seeds, ten on AIME and AMC and three on the others. Their AMC is AMC 2023 with 40 problems, the
report's has 83.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

BENCHMARKS = {"aime-2024": 30, "amc-2023": 83, "math-500": 500, "minerva-math": 272, "olympiad-bench": 675}
"""The table's benchmarks, by our names, and their problems."""

FEWER_PROBLEMS = {"amc-2023": 40}
"""Problems of the benchmarks that `one_protocol` has in another size."""


@dataclass(frozen=True)
class Published:
    """One row of Table 1."""

    name: str
    """As results name it."""
    title: str
    """As the report names it."""
    hub: str
    """Hub id of its weights; empty where they are not public."""
    base: str
    """Hub id of the model it was trained from."""
    prompt: str
    """The named prompt nearest to the one it was trained with."""
    report: tuple[float, ...]
    """The report's accuracies, in the order of `BENCHMARKS`."""
    one_protocol: tuple[tuple[float, float], ...] = ()
    """Mean and standard deviation over seeds, in the order of `BENCHMARKS`; empty where the model was not among those measured."""
    note: str = ""


QWEN = "Qwen/Qwen2.5-Math-7B"

TABLE1 = (
    Published(
        "qwen2.5-math-7b", "Qwen2.5-Math-7B", QWEN, "", "qwen-math", (20.0, 45.8, 69.0, 21.3, 34.7),
        ((20.7, 3.8), (56.2, 5.7), (64.3, 0.5), (17.3, 1.9), (29.0, 0.5)),
    ),
    Published(
        "simplerl-zero", "SimpleRL-Zero-7B", "hkust-nlp/Qwen-2.5-Math-7B-SimpleRL-Zero", QWEN, "qwen-math", (26.7, 60.2, 78.2, 27.6, 40.3),
        note="the one protocol measured its successor SimpleRL-Zoo (22.7 on AIME 2024), not this model",
    ),
    Published(
        "prime-zero", "Prime-Zero-7B", "PRIME-RL/Eurus-2-7B-PRIME-Zero", QWEN, "r1-zero", (16.7, 62.7, 83.8, 36.0, 40.9),
        note="the one protocol measured Eurus-2-7B-PRIME, which starts from supervised training (17.8 on AIME 2024), not this model; "
        "its own prompt also asks for LaTeX in a box",
    ),
    Published(
        "openreasoner-zero", "OpenReasoner-Zero-7B", "Open-Reasoner-Zero/Open-Reasoner-Zero-7B", "Qwen/Qwen2.5-7B", "open-reasoner-zero",
        (13.3, 47.0, 79.2, 31.6, 42.0), ((19.7, 2.9), (59.5, 4.5), (83.9, 1.1), (31.6, 1.3), (47.6, 1.7)),
        note="trained from Qwen2.5-7B, not from the mathematical base of the others",
    ),
    Published(
        "oat-zero", "Oat-Zero-7B", "sail/Qwen2.5-Math-7B-Oat-Zero", QWEN, "qwen-math", (43.3, 62.7, 80.0, 30.1, 41.0),
        ((28.0, 3.1), (66.2, 3.6), (79.4, 0.3), (34.4, 1.4), (43.8, 1.1)),
    ),
    Published(
        "limr", "LIMR-7b", "GAIR/LIMR", QWEN, "qwen-math", (33.3, 56.6, 77.6, 32.3, 39.2),
        ((30.7, 3.2), (62.2, 3.4), (76.5, 0.4), (34.9, 1.3), (39.3, 0.9)),
    ),
    Published(
        "compass-thinker", "Compass-Thinker-7B", "", QWEN, "qwen-math", (40.0, 65.0, 82.9, 36.4, 43.5),
        note="no public weights were found; a run of this pipeline stands in its place",
    ),
)  # fmt: skip
"""In the report's order."""


@dataclass(frozen=True)
class Cell:
    """An accuracy of the table, 0..1, with its 95% interval, and whether it is `quoted` or `measured`."""

    accuracy: float
    low: float
    high: float
    how: str
    spread: float | None = None
    """Standard deviation over seeds, where the source gives it."""

    problems: int | None = None
    """How many problems a measured figure is of, where they are not all of the benchmark's."""


@dataclass(frozen=True)
class Row:
    """One model by one source of figures."""

    model: str
    source: str
    cells: dict[str, Cell] = field(default_factory=dict)


def rows(measured: dict[str, dict[str, dict[str, Any]]] | None = None) -> list[Row]:
    """Table 1: for each model the report's figures, those under one protocol, and measured ones.

    Args:
        measured: scores as in `metrics/evaluate.json` under `models`; models that Table 1 does not name come after it.
    """
    measured = dict(measured or {})
    found = []
    for model in TABLE1:
        quoted = zip(BENCHMARKS.items(), model.report, strict=True)
        found.append(Row(model.name, "report", {name: _quoted(share, count) for (name, count), share in quoted}))
        if model.one_protocol:
            counts = (BENCHMARKS | FEWER_PROBLEMS).items()
            cells = {
                name: _quoted(mean, count, sd)
                for (name, count), (mean, sd) in zip(counts, model.one_protocol, strict=True)
            }
            found.append(Row(model.name, "one protocol", cells))
        if model.name in measured:
            found.append(_measured(model.name, measured.pop(model.name)))
    return found + [_measured(name, scores) for name, scores in measured.items()]


def _quoted(percent: float, problems: int, spread: float | None = None) -> Cell:
    """The interval that the number of problems allows at best knowledge: as if each had been answered once.

    More samples narrow an interval only as far as a model's samples differ within a problem, which a table of means does not tell.
    """
    from compass.evaluation.accuracy import wilson
    from compass.evaluation.paired import LEVEL, student

    low, high = wilson(percent / 100, problems, student(problems - 1, LEVEL))
    return Cell(percent / 100, low, high, "quoted", None if spread is None else spread / 100)


def _measured(name: str, scores: dict[str, dict[str, Any]]) -> Row:
    """The scores on the table's benchmarks, with the number of problems where it is not the benchmark's, as after `--max-problems`."""
    cells = {}
    for benchmark in (name for name in scores if name in BENCHMARKS):
        score, count = scores[benchmark], scores[benchmark].get("problems")
        fewer = None if count == BENCHMARKS[benchmark] else count
        cells[benchmark] = Cell(score["accuracy"], *score["ci95"], "measured", problems=fewer)
    return Row(name, "measured", cells)


def commands(samples: int, *, own_prompts: bool = False, out: str = "evaluation") -> list[str]:
    """The commands that evaluate every public model of Table 1.

    Args:
        samples: responses per problem.
        own_prompts: each model with the prompt nearest to its training, instead of Qwen2.5-Math's for all.
        out: the folder that results are added to.
    """
    public = [model for model in TABLE1 if model.hub]
    prompts = list(dict.fromkeys(model.prompt for model in public)) if own_prompts else ["qwen-math"]
    made = []
    for prompt in prompts:
        chosen = [f"{model.name}={model.hub}@COMMIT" for model in public if not own_prompts or model.prompt == prompt]
        made.append(
            f"compass evaluate {' '.join(chosen)} --benchmarks {' '.join(BENCHMARKS)} --prompt {prompt} "
            f"--samples {samples} --greedy --max-tokens 3072 --out {out}"
        )
    return made
