"""The viewer of problems, responses and training rollouts inside the report: its data, and its script.

Data are compressed into the page and unpacked when they are opened. The script builds elements and sets their text: nothing
that a model wrote becomes HTML.
"""

from __future__ import annotations

from pathlib import Path

from compass.page.blocks import Note
from compass.page.html import block_html, section_html
from compass.page.packed import element, pack
from compass.report.run import Run
from compass.report.viewer.responses import embed_responses
from compass.report.viewer.training import embed_rollouts, embed_similar, kept_rollouts

__all__ = ["SCRIPT", "kept_rollouts", "viewer"]

SCRIPT = Path(__file__).parent / "viewer.js"

SHARE_OF_ROLLOUTS = 0.3
"""Of the viewer's megabytes, what training rollouts may take; responses to benchmarks may take the rest."""

NOTE = "Every problem with each model's responses{rollouts}. The answer that the verifier read is marked."


def viewer(run: Run, *, megabytes: float = 20.0) -> str:
    """The viewer of a run as a section of the page; empty where it has neither responses nor rollouts.

    Args:
        run: the run.
        megabytes: most that its data may add to the page (10^6 bytes); which responses are embedded follows from it.
    """
    limit = int(megabytes * 1e6)
    rollouts, chunks = embed_rollouts(run, int(limit * SHARE_OF_ROLLOUTS))
    if not run.items and not rollouts["steps"]:
        return ""
    embedded = embed_responses(run, limit - sum(map(len, chunks)), first_chunk=len(chunks))
    index = {
        "models": run.models,
        "items": embedded.items,
        "rule": embedded.rule,
        "rollouts": rollouts,
        "trained": embed_similar(run, embedded.items),
    }
    frame = "<div id='viewer' class='screen'><noscript><p>The viewer needs JavaScript.</p></noscript></div>"
    data = [element(f"viewer-{n}", chunk) for n, chunk in enumerate([*chunks, *embedded.chunks])]
    learned_from = ", and the rollouts that training learned from" if rollouts["steps"] else ""
    note = block_html(Note(NOTE.format(rollouts=learned_from)))
    return section_html("Read responses", note, frame, element("viewer-index", pack(index)), *data, anchor="responses")
