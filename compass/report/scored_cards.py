"""Model cards with what evaluation found, in the format of the Hugging Face hub: `model_cards/NAME.md` beside the report.

An RL stage writes a card with its model, before any evaluation, and the same beside its curves (`data/NAME/card.md`), where it can
be read without the weights. Here that card gains the scores: in its front matter, where hubs read them (`model-index`), and in its
text.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from compass.evaluation.known_benchmarks import KNOWN_BENCHMARKS
from compass.files import write_text
from compass.page.blocks import Bullets, Section, Table
from compass.page.markdown import to_markdown
from compass.report.cautions import limits, warnings
from compass.report.headline import AVERAGE, find_comparison, format_interval, percent
from compass.report.run import Run

FOLDER = "model_cards"

CARD = "card.md"
"""An RL stage's card in its data folder."""

TASK = "text-generation"


def write_model_cards(run: Run, folder: Path) -> list[Path]:
    """Write a card for every scored model that an RL stage wrote one for; returns their paths."""
    paths = []
    for model in run.models:
        own = run.folder / "data" / model / CARD
        if own.is_file():
            path = folder / FOLDER / f"{model}.md"
            write_text(path, scored_card(run, model, own.read_text(encoding="utf-8")))
            paths.append(path)
    return paths


def scored_card(run: Run, model: str, card: str) -> str:
    """A model's card with its scores.

    Args:
        run: where it was scored.
        model: its name in the scores.
        card: the card, Markdown with front matter.
    """
    from huggingface_hub import ModelCard

    found = ModelCard(card, ignore_metadata_errors=True)
    found.data.model_name = model
    found.data.eval_results = evaluation_results(run, model)
    scores = re.sub(r"^# .*\n\n", "", to_markdown(model, [_section(run, model)]))
    text = f"{found.text.rstrip()}\n\n{scores}"
    return f"---\n{found.data.to_yaml()}\n---\n{text.lstrip()}"


def evaluation_results(run: Run, model: str) -> list[Any]:
    """The scores as `huggingface_hub.EvalResult`: sampled and greedy accuracy in percent on every benchmark, the average left out."""
    from huggingface_hub import EvalResult

    results = []
    for benchmark, score in run.results.scores[model].items():
        if benchmark == AVERAGE:
            continue
        count = f"{score['problems']} problems"
        interval = f"95% interval {format_interval(score['ci95'])}"
        measures = {f"avg@{score['samples']}": (score["accuracy"], f"{interval}, {count}")}
        if "greedy" in score:
            measures["greedy"] = (score["greedy"], count)
        for name, (value, note) in measures.items():
            results.append(
                EvalResult(
                    task_type=TASK,
                    task_name="Math problems with checkable answers",
                    dataset_type=_dataset(benchmark),
                    dataset_name=benchmark,
                    metric_type="accuracy",
                    metric_name=f"accuracy ({name}, strict), {note}",
                    metric_value=round(100 * value, 1),
                    metric_config=name,
                )
            )
    return results


def _dataset(benchmark: str) -> str:
    """The benchmark's id on the hub where it is a known one; its name otherwise."""
    copies = (copy for known in KNOWN_BENCHMARKS if known.name == benchmark for copy in known.copies)
    return next((copy.source.hub for copy in copies if copy.source.hub), benchmark)


def _section(run: Run, model: str) -> Section:
    first = run.models[0]
    rows = []
    for benchmark, score in run.results.scores[model].items():
        against = find_comparison(run, model, first, benchmark) if model != first else None
        measures = (percent(score.get(name)) for name in ("greedy", "lenient", "truncated"))
        accuracy = percent(score["accuracy"]), format_interval(score["ci95"])
        rows.append([benchmark, score["problems"], *accuracy, *measures, against["words"] if against else ""])
    samples = run.results.scores[model].get(AVERAGE, {}).get("samples", "?")
    head = ["benchmark", "problems", f"avg@{samples} %", "95% interval", "greedy %", "lenient %", "cut off %"]
    head.append(f"against {first}, paired by problem")
    note = "Strict: an answer counts in the form that was asked for. Lenient: an answer counts in other usual forms as well."
    return Section("Evaluation", [Table(head, rows), note, "What to doubt:", Bullets([*warnings(run), *limits(run)])])
