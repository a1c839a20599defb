"""Settings of `curation`: where the data stages run, and when they warn."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from compass.settings.section import NotNegative, Section


class Curation(Section):
    """Where dedup, denoise and verify run, and when they warn. It decides no result: every engine writes the same bytes."""

    engine: Literal["process", "ray"] = "process"
    """`process`: this machine's cores, records in memory. `ray`: a Ray cluster, records streamed from file to file."""

    address: str = "local"
    """With `ray`: `local` starts a cluster on this machine and ends it with the run; any other address is joined."""

    workers: NotNegative = 0
    """With `ray` and `local`: tasks that run at a time; 0 takes one per core."""

    memory_mb: Annotated[int, Field(ge=128)] = 2_048
    """With `ray`: memory of the object store, and as much again for the heaps of all tasks together. What needs more goes to disk."""

    warn_share: Annotated[float, Field(gt=0, le=1)] = 0.2
    """Share of a source's rows above which a stage warns that one reason takes them, with the commonest form and a remedy."""

    @model_validator(mode="after")
    def _address_is_used(self) -> Curation:
        if self.address != "local" and self.engine != "ray":
            raise ValueError(f"`address` ({self.address}) needs `engine: ray`; `engine: {self.engine}` uses no cluster")
        if self.address != "local" and self.workers:
            raise ValueError(
                f"`workers` ({self.workers}) is for `address: local`; the cluster at {self.address} has its own"
            )
        return self
