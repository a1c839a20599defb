"""Settings of `curation`: when the data stages warn, and the rows on which a person overrules them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from compass.settings.section import Section


class Curation(Section):
    """When collect, dedup, denoise and verify warn, and the file of marks that overrules them."""

    warn_share: Annotated[float, Field(gt=0, le=1)] = 0.2
    """Share of a source's rows above which a stage warns that one reason takes them, with the commonest form and a remedy."""

    labels: str = ""
    """A file of rows that a person marked, as the ledger's page exports and `compass label --rows` writes it: those marked right stay, those
    marked wrong go. Empty: none."""
