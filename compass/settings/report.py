"""Settings of `report`."""

from __future__ import annotations

from compass.settings.section import Section


class Report(Section):
    """The page a run ends with."""

    title: str = "Compass-Thinker pipeline"
    """The page's title."""
