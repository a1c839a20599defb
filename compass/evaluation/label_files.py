"""Files of a person's labels, a JSON object per line: `id` and `digest` of a response or of a row of curation, whether it is `right`, and `by`
whom or what it was judged."""

from __future__ import annotations

import hashlib
import json
import os
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
    return {key: label["right"] for key, label in read_whole_labels(path).items()}


def read_whole_labels(path: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Labels as they are written, by id and digest; none where there is no file. The last one counts.

    Raises:
        LabelsError: a line is no label.
    """
    labels: dict[tuple[str, str], dict[str, Any]] = {}
    lines = path.read_text(encoding="utf-8").split("\n") if path.exists() else []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            key, right = (row["id"], row["digest"]), row["right"]
        except (ValueError, KeyError, TypeError):
            raise LabelsError(f"{path}:{number}: no label (an object with id, digest, right): {line[:60]!r}") from None
        if not isinstance(right, bool | None):
            raise LabelsError(f"{path}:{number}: `right` is {right!r}; it must be true, false or null")
        labels[key] = row
    return labels


def write_label(path: Path, key: tuple[str, str], right: bool | None, by: str) -> None:
    """Append one label, by id and digest, so that stopping at any moment loses none."""
    _append(path, [{"id": key[0], "digest": key[1], "right": right, "by": by}])


def add_labels(path: Path, new: Path) -> None:
    """Append the labels of another file as they are, those that are there already left out.

    Raises:
        LabelsError: there is no such file, or a line of either is no label.
    """
    if not new.is_file():
        raise LabelsError(f"{new}: no such file of labels")
    known, missing = read_labels(path), object()
    _append(path, [row for key, row in read_whole_labels(new).items() if known.get(key, missing) is not row["right"]])


def _append(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "ab+") as file:
        if file.tell():  # an editor may have left the last line without its end
            file.seek(-1, os.SEEK_END)
            file.write(b"\n" * (file.read(1) != b"\n"))
        file.writelines(f"{json.dumps(row, ensure_ascii=False)}\n".encode() for row in rows)
