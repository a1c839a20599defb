"""Settings of `curation`: when the data stages warn, and where their decisions are overruled, row by row or as a whole."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from compass.settings.section import Section


class Curation(Section):
    """When collect, dedup, denoise and verify warn, the file of marks that overrules them, and which of them keep every row."""

    warn_share: Annotated[float, Field(gt=0, le=1)] = 0.2
    """Share of a source's rows above which a stage warns that one reason takes them, with the commonest form and a remedy."""

    labels: str = ""
    """A file of rows that a person marked, as the ledger's page exports and `compass label --rows` writes it: those marked right stay, those
    marked wrong go. Empty: none."""

    skip: list[Literal["dedup", "denoise", "verify"]] = []
    """Stages that keep every row that they would drop, as a study of what curation is worth needs it."""
