"""Settings of `curation`: when the data stages warn."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from compass.settings.section import Section


class Curation(Section):
    """When collect, dedup, denoise and verify warn. It decides no result."""

    warn_share: Annotated[float, Field(gt=0, le=1)] = 0.2
    """Share of a source's rows above which a stage warns that one reason takes them, with the commonest form and a remedy."""
