"""Where the policy's starting weights came from, and their digest: `compass_origin.json` in the model's folder."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

ORIGIN_FILE = "compass_origin.json"


@dataclass(frozen=True)
class Origin:
    """`kind` is pretrained, folder, gguf or hub; `digest` is a SHA-256 of the weights as they came."""

    kind: str
    name: str
    revision: str
    digest: str


def write_origin(folder: Path, origin: Origin) -> None:
    """Write `origin` into a model's folder."""
    (folder / ORIGIN_FILE).write_text(json.dumps(asdict(origin), indent=2) + "\n", encoding="utf-8")


def read_origin(folder: Path) -> Origin:
    """Read a model folder's origin."""
    return Origin(**json.loads((folder / ORIGIN_FILE).read_text(encoding="utf-8")))
