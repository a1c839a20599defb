"""Rows of datasets on the Hugging Face hub, read by `datasets` at one commit.

Nothing of a dataset's own code is run: `datasets` reads its data files, never a loading script.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from compass.settings import Source
from compass.settings.section import is_commit
from compass.sources.read import Row, SourceError, as_row, as_texts


def resolve_commit(hub: str, revision: str) -> str:
    """The commit that a branch or tag of a hub dataset names now; a commit is returned as it is.

    Raises:
        SourceError: the hub cannot be reached, or does not have the dataset or the revision.
    """
    if is_commit(revision):
        return revision
    from httpx import HTTPError
    from huggingface_hub import HfApi

    try:
        commit = HfApi().dataset_info(hub, revision=revision).sha
    except (OSError, ValueError, HTTPError) as error:  # what huggingface_hub raises, without a network as well
        raise _hub_error(hub, revision, error) from None
    if not commit:
        raise SourceError(f"{hub}: the hub names no commit for revision {revision!r}; give the commit itself")
    return commit


def hub_rows(source: Source, commit: str) -> Iterator[tuple[int, Row]]:
    """Rows of a hub dataset's split with their numbers, counted from 0; downloads into `datasets`' own cache, or streams.

    Raises:
        SourceError: it cannot be had, or its subset or split does not exist.
    """
    import datasets

    try:
        rows: Any = datasets.load_dataset(
            source.hub, source.subset or None, split=source.split, revision=commit, streaming=source.stream
        )
    except (OSError, ValueError, RuntimeError) as error:
        raise _hub_error(source.hub, commit, error, source.subset, source.split) from None
    for number, row in enumerate(rows):
        yield number, as_row(as_texts(row), f"{source.hub}: row {number}")


def _hub_error(hub: str, revision: str, error: Exception, subset: str = "", split: str = "") -> SourceError:
    where = f"{hub} at {revision}" + (f", subset {subset!r}, split {split!r}" if split else "")
    reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
    return SourceError(
        f"{where}: cannot be read from the hub ({type(error).__name__}: {reason[:300]}); check the id, the revision and "
        "the network, accept its terms and log in if it is gated, or download it and give its `path`"
    )
