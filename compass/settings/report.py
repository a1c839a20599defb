"""Settings of `report`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from compass.settings.section import Section


class Report(Section):
    """The page a run ends with."""

    title: str = "Compass-Thinker pipeline"
    """The page's title."""

    primary: Annotated[list[str], Field(max_length=2)] = []
    """The two models whose comparison decides, for example `[rl-3, rl-2]`; empty for the last RL stage and `base`. Choose it before you look
    at scores: it is tested at 4%, and all other pairs, which are exploratory, share what is left of 5%."""

    viewer_megabytes: Annotated[float, Field(gt=0)] = 20.0
    """Most that responses and rollouts may add to the page, in 10^6 bytes. Which of them are embedded follows from it; the page says which."""
