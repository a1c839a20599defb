"""A model folder made of a checkpoint: once, at the stage's end, in the stage's type, with a configuration that says so.

verl can write transformers weights with every checkpoint, in single precision, next to a configuration that says bfloat16.
Here checkpoints hold the training state alone, and the shards of the last one are put together.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from compass.errors import UserError
from compass.files import write_json
from compass.rl.checkpoint import CRITIC, OPTIMIZER
from compass.rl.metrics import measure_beginning
from compass.rl.weights import tensor_shapes

WEIGHTS = ("*.safetensors", "*.safetensors.index.json")
CARD = "README.md"

ADAPTER = "lora_train_meta.json"
"""verl's file in a checkpoint that holds LoRA's matrices alone."""

LARGEST_FILE = "5GB"

BEGINNING = "rl_beginning.json"
"""In the model folder of an RL stage: what the first stage of its chain began with, for the guards of the next."""


class ExportError(UserError):
    """A checkpoint that does not make the model that the stage started from; the message names the tensors."""


def export_model(
    checkpoint: Path,
    start: Path,
    model: Path,
    *,
    dtype: str,
    card: str,
    building: Path,
    keep_optimizer: bool = False,
    beginning: Mapping[str, Any] | None = None,
) -> None:
    """Make a model folder of the weights in a checkpoint.

    Tokenizer and generation settings come from the model that the stage started from, byte for byte: saved again they
    may come back different.

    Args:
        checkpoint: verl's folder of one iteration.
        start: the model folder that the stage started from.
        model: the folder to write, whole or not at all.
        dtype: `float32` or `bfloat16`, the type of the weights.
        card: the model card, in Markdown.
        building: a folder to write in, on the same file system; what is in it is removed.
        keep_optimizer: also keep the training state, in `optimizer/`.
        beginning: what the stage began with (`describe_beginning`); that of an earlier stage, which is in `start`, wins.

    Raises:
        ExportError: the checkpoint lacks tensors of the model that the stage started from.
    """
    shutil.rmtree(building, ignore_errors=True)
    shutil.copytree(start, building, ignore=shutil.ignore_patterns(*WEIGHTS, CARD, "compass_origin.json", OPTIMIZER))
    _write_weights(checkpoint, start, building, dtype)
    _declare(building / "config.json", dtype)
    (building / CARD).write_text(card, encoding="utf-8")
    if beginning and not (building / BEGINNING).exists():
        write_json(building / BEGINNING, beginning)
    if keep_optimizer:
        shutil.copytree(checkpoint / "actor", building / OPTIMIZER, ignore=shutil.ignore_patterns("huggingface"))
        if (checkpoint / CRITIC).is_dir():
            without = shutil.ignore_patterns("huggingface")
            shutil.copytree(checkpoint / CRITIC, building / OPTIMIZER / CRITIC, ignore=without)
    model.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(model, ignore_errors=True)
    building.rename(model)


def describe_beginning(metrics: Sequence[Mapping[str, Any]], temperature: float) -> dict[str, Any] | None:
    """What a stage began with, as its model folder keeps it; None for a stage of too few iterations.

    Args:
        metrics: the stage's, one dict per iteration.
        temperature: of its rollouts.
    """
    begun = measure_beginning(metrics)
    return {"temperature": temperature, "metrics": begun} if begun else None


def read_beginning(model: Path, temperature: float) -> dict[str, float]:
    """What training began with on the way to a model, by metric; empty where it is unknown or was at another temperature."""
    path = model / BEGINNING
    if not path.exists():
        return {}
    found = json.loads(path.read_text(encoding="utf-8"))
    return found["metrics"] if found["temperature"] == temperature else {}


def _write_weights(checkpoint: Path, start: Path, out: Path, dtype: str) -> None:
    import torch
    from huggingface_hub import save_torch_state_dict

    wanted, adapter = tensor_shapes(start), checkpoint / "actor" / ADAPTER
    saved = _joined(checkpoint)
    if adapter.exists():
        saved = _with_adapter(saved, start, json.loads(adapter.read_text(encoding="utf-8")))
    tensors = {name: tensor.to(getattr(torch, dtype)) for name, tensor in saved if name in wanted}
    wrong = sorted(name for name, shape in wanted.items() if name not in tensors or list(tensors[name].shape) != shape)
    if wrong:
        raise ExportError(
            f"{checkpoint}: {len(wrong)} tensors of {start} are not there in their shapes, such as {', '.join(wrong[:3])}; "
            "remove the checkpoint's folder and run the stage again"
        )
    save_torch_state_dict(tensors, out, max_shard_size=LARGEST_FILE, metadata={"format": "pt"})
    for path in out.glob("*.safetensors"):
        path.chmod(0o644)  # the writer makes files for their owner alone


def _with_adapter(
    matrices: Iterator[tuple[str, Any]], start: Path, adapter: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    """The weights that a stage started from, in single precision, each with the product of its low-rank matrices added.

    Args:
        matrices: of a checkpoint, by peft's names: `base_model.model.LAYER.lora_A.default.weight` and `lora_B`.
        start: the model folder that the stage started from.
        adapter: verl's `ADAPTER`, with rank `r` and `lora_alpha`.

    Raises:
        ExportError: a matrix belongs to no weight of that model.
    """
    from safetensors import safe_open

    found = {name.removeprefix("base_model.model."): tensor.float() for name, tensor in matrices}
    scale = adapter["lora_alpha"] / adapter["r"]
    for path in sorted(start.glob("*.safetensors")):
        with safe_open(path, framework="pt") as file:
            for name in file.keys():  # noqa: SIM118
                layer = name.removesuffix(".weight")
                down, up = (found.pop(f"{layer}.lora_{one}.default.weight", None) for one in "AB")
                weight = file.get_tensor(name)
                yield name, weight if down is None else weight.float() + scale * (up @ down)
    if found:
        raise ExportError(f"{len(found)} low-rank matrices belong to no weight of {start}, such as {sorted(found)[0]}")


def _joined(checkpoint: Path) -> Iterator[tuple[str, Any]]:
    """The tensors of a checkpoint, each put together from the ranks' shards.

    The shards are the pipeline's own files: they are unpickled, as verl does when it continues from them.
    """
    import torch
    from torch.distributed.tensor import DTensor

    # RL keeps each of its models in a folder of its own, supervised training its only one at the top.
    folder = checkpoint / "actor" if (checkpoint / "actor").is_dir() else checkpoint
    paths = sorted(folder.glob("model_world_size_*_rank_*.pt"), key=_rank)
    # It warns that torch.compile will not find the ranks' process groups, which are gone with the trainer; nothing is compiled here.
    logging.getLogger("torch.distributed.device_mesh").setLevel(logging.ERROR)
    ranks = [torch.load(path, map_location="cpu", weights_only=False, mmap=True) for path in paths]
    for name, first in ranks[0].items():
        if not isinstance(first, DTensor):
            yield name, first
            continue
        placement = first.placements[-1]  # an outer dimension of the mesh holds replicas
        parts = [rank[name].to_local() for rank in ranks]
        shards = parts[: first.device_mesh.mesh.shape[-1]]
        yield name, torch.cat(shards, dim=placement.dim) if placement.is_shard() else parts[0]


def _rank(path: Path) -> int:
    return int(path.stem.rpartition("_")[2])


def _declare(config: Path, dtype: str) -> None:
    """Say in `config.json` which type the weights have; `torch_dtype` is the name that older files use."""
    values = json.loads(config.read_text(encoding="utf-8"))
    values.pop("torch_dtype", None)
    values["dtype"] = dtype
    config.write_text(json.dumps(values, indent=2, sort_keys=True) + "\n", encoding="utf-8")
