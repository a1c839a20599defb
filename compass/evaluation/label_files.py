"""Files of a person's labels, a JSON object per line: `id` and `digest` of a response or of a row of curation, whether it is `right`, and `by`
whom or what it was judged."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compass.errors import UserError


class LabelsError(UserError):
    """Labels or samples that cannot be used; the message names the file and line."""


Labels = Mapping[tuple[str, str], bool | None]
"""Labels by id and digest, None where the person could not tell."""


def text_digest(text: str) -> str:
    """16 hex digits that stand for a text: a response, or a row's problem and gold."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def row_key(row: Mapping[str, Any]) -> tuple[str, str]:
    """What a row's label is kept by: its id, and a digest of problem and gold."""
    return row["id"], text_digest(f"{row['problem'] or ''}\0{row['answer'] or ''}")


def read_labels(path: Path) -> dict[tuple[str, str], bool | None]:
    """Labels by id and digest: whether the response, or the row, is right; None where the person could not tell. The last one counts.

    Raises:
        LabelsError: a line is no label.
    """
    labels: dict[tuple[str, str], bool | None] = {}
    if not path.exists():
        return labels
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            row = json.loads(line)
            key, label = (row["id"], row["digest"]), row["right"]
        except (ValueError, KeyError, TypeError):
            raise LabelsError(f"{path}:{number}: no label (an object with id, digest, right): {line[:60]!r}") from None
        if label not in (True, False, None):
            raise LabelsError(f"{path}:{number}: `right` is {label!r}; it must be true, false or null")
        labels[key] = label
    return labels


def write_label(path: Path, key: tuple[str, str], right: bool | None, by: str) -> None:
    """Append one label, by id and digest, so that stopping at any moment loses none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    row = {"id": key[0], "digest": key[1], "right": right, "by": by}
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(row, ensure_ascii=False) + "\n")


def add_labels(path: Path, new: Path) -> None:
    """Append the labels of another file, those that are there already left out.

    Raises:
        LabelsError: there is no such file, or a line of either is no label.
    """
    if not new.is_file():
        raise LabelsError(f"{new}: no such file of labels")
    known, missing = read_labels(path), object()
    lines = [
        json.dumps({"id": id_, "digest": digest, "right": right, "by": "page"}, ensure_ascii=False) + "\n"
        for (id_, digest), right in read_labels(new).items()
        if known.get((id_, digest), missing) is not right
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a", encoding="utf-8") as file:
        file.write("".join(lines))
