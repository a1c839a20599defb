"""The viewer of problems, responses and training rollouts inside the report: its data, its style and its script.

    parts = viewer(run, megabytes=20)

Data are compressed into the page and unpacked when they are opened. The script builds elements and sets their text: nothing
that a model wrote becomes HTML.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from compass.page.packed import element, pack
from compass.report.run import Run
from compass.report.viewer.responses import Embedded, embed_responses
from compass.report.viewer.training import embed_rollouts, embed_similar, kept_steps

__all__ = ["Embedded", "Viewer", "kept_steps", "viewer"]

SHARE_OF_ROLLOUTS = 0.3
"""Of the viewer's megabytes, what training rollouts may take; responses to benchmarks may take the rest."""

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Viewer:
    """`html` for the page's body, `style` and `scripts` for its frame, and what of the responses is embedded."""

    html: str
    style: str
    scripts: tuple[str, ...]
    embedded: Embedded


def viewer(run: Run, *, megabytes: float) -> Viewer | None:
    """The viewer of a run; None where it has neither responses nor rollouts.

    Args:
        run: the run.
        megabytes: most that its data may add to the page (10^6 bytes); which responses are embedded follows from it.
    """
    limit = int(megabytes * 1e6)
    rollouts, chunks = embed_rollouts(run, int(limit * SHARE_OF_ROLLOUTS))
    spent = sum(len(chunk) for chunk in chunks)
    embedded = embed_responses(run, limit - spent, first_chunk=len(chunks))
    if not run.items and not rollouts["steps"]:
        return None
    chunks += embedded.chunks
    index = {
        "models": run.models,
        "items": embedded.items,
        "rule": embedded.rule,
        "rollouts": rollouts,
        "trained": embed_similar(run, embedded.items),
    }
    blocks = [element("viewer-index", pack(index)), *(element(f"viewer-{n}", chunk) for n, chunk in enumerate(chunks))]
    frame = "<div id='viewer' class='screen'><noscript><p>The viewer needs JavaScript.</p></noscript></div>"
    return Viewer(
        "\n".join([frame, *blocks]),
        (_HERE / "viewer.css").read_text(encoding="utf-8"),
        ((_HERE / "viewer.js").read_text(encoding="utf-8"),),
        embedded,
    )
