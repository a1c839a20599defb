"""Settings for a file that nobody described: its fields guessed by the names that are usual in the field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from compass.settings import Source
from compass.sources.adapters import MISSING, reach
from compass.sources.read import SourceError

_PROBLEM_FIELDS = ("problem", "question", "prompt", "input", "query", "Question", "Problem", "nl_statement", "messages")
_ANSWER_FIELDS = (
    "answer",
    "reward_model.ground_truth",
    "final_answer",
    "ground_truth",
    "gold",
    "target",
    "expected_answer",
    "Answer",
    "golden",
    "label",
)
_SOLUTION_FIELDS = ("solution", "rationale", "generated_solution", "output", "response", "nl_proof", "Solution")


def guess(name: str, path: Path, rows: list[dict[str, Any]]) -> Source:
    """Settings for rows of an unknown source, by the field names that are usual."""
    if not rows:
        raise SourceError(f"{path}: holds no rows")

    def first(candidates: tuple[str, ...]) -> str:
        return next((c for c in candidates if any(reach(row, c) not in (MISSING, None, "") for row in rows)), "")

    problem, answer, solution = first(_PROBLEM_FIELDS), first(_ANSWER_FIELDS), first(_SOLUTION_FIELDS)
    if not problem or not (answer or solution):
        raise SourceError(
            f"{path}: no field looks like a {'gold or solution' if problem else 'problem'}; found: {', '.join(rows[0])}. "
            "Name them in `collect.sources` of a parameter file"
        )
    options = first(("options", "choices"))
    chat = any(isinstance(reach(row, problem), list) for row in rows)
    ids = {str(found) for row in rows if (found := reach(row, "id")) is not MISSING}
    return Source(
        name=name,
        path=str(path),
        adapter="chat" if chat else "options" if options else "columns",
        problem_field=problem,
        answer_field=answer,
        solution_field=solution,
        options_field=options,
        id_field="id" if len(ids) == len(rows) else "",
    )
