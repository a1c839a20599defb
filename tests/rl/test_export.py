"""A checkpoint becomes a model folder: the trained weights in the declared type, the tokenizer that it started with, a card."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from compass.rl.export import ADAPTER, ExportError, describe_beginning, export_model, read_beginning
from tests.conftest import make_random_model

CARD = "---\ntags: [math]\n---\n# rl-1\n"


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = make_random_model(tmp_path_factory.mktemp("models") / "base", 0)
    (folder / "compass_origin.json").write_text("{}")
    (folder / "README.md").write_text("the base's own card")
    (folder / "optimizer").mkdir()
    (folder / "optimizer" / "old.pt").write_text("of the stage before")
    return folder


def checkpoint(folder: Path, start: Path, *, leave_out: str = "") -> Path:
    """What verl saves: the state of the whole model, tied weights under both of their names, in single precision."""
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(start, dtype=torch.float32)
    state = {name: tensor + 1 / 3 for name, tensor in model.state_dict().items() if name != leave_out}
    (folder / "actor" / "huggingface").mkdir(parents=True)
    torch.save(state, folder / "actor/model_world_size_1_rank_0.pt")
    torch.save({"moments": 1}, folder / "actor/optim_world_size_1_rank_0.pt")
    (folder / "actor/huggingface/tokenizer.json").write_text("saved again, different")
    return folder


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_the_model_has_trained_weights_in_the_declared_type(tmp_path: Path, start: Path, dtype: str) -> None:
    from transformers import AutoModelForCausalLM

    saved = checkpoint(tmp_path / "global_step_2", start)
    out = tmp_path / "models" / "rl-1"
    export_model(saved, start, out, dtype=dtype, card=CARD, building=tmp_path / "work")
    tensors = load_file(out / "model.safetensors")
    before = load_file(start / "model.safetensors")
    assert tensors.keys() == before.keys()
    assert {tensor.dtype for tensor in tensors.values()} == {getattr(torch, dtype)}
    for name, tensor in tensors.items():
        assert torch.equal(tensor, (before[name].float() + 1 / 3).to(tensor.dtype))
    assert (out / "model.safetensors").stat().st_mode & 0o777 == 0o644
    assert json.loads((out / "config.json").read_text())["dtype"] == dtype
    assert "torch_dtype" not in json.loads((out / "config.json").read_text())
    loaded = AutoModelForCausalLM.from_pretrained(out, dtype="auto")
    assert loaded.dtype == getattr(torch, dtype)
    assert torch.equal(loaded.lm_head.weight, loaded.model.embed_tokens.weight)


def low_rank_checkpoint(folder: Path, start: Path) -> tuple[Path, Any]:
    """What verl saves of a model with LoRA, and the model: its low-rank matrices, and their rank and weight."""
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    base = AutoModelForCausalLM.from_pretrained(start, dtype=torch.float32)
    model = get_peft_model(base, LoraConfig(r=4, lora_alpha=10, target_modules="all-linear"))
    torch.manual_seed(0)
    state = {name: torch.randn_like(one) / 9 for name, one in model.state_dict().items() if "lora_" in name}
    model.load_state_dict(state, strict=False)
    (folder / "actor").mkdir(parents=True)
    torch.save(state, folder / "actor/model_world_size_1_rank_0.pt")
    (folder / "actor" / ADAPTER).write_text(json.dumps({"r": 4, "lora_alpha": 10, "task_type": "CAUSAL_LM"}))
    return folder, model.eval()


def test_low_rank_matrices_are_merged_into_the_weights_that_they_were_trained_on(tmp_path: Path, start: Path) -> None:
    from transformers import AutoModelForCausalLM

    saved, adapted = low_rank_checkpoint(tmp_path / "global_step_2", start)
    out = tmp_path / "models" / "rl-1"
    export_model(saved, start, out, dtype="float32", card=CARD, building=tmp_path / "work")
    merged = AutoModelForCausalLM.from_pretrained(out, dtype="float32").eval()
    tokens = torch.arange(3, 40)[None]
    with torch.no_grad():
        ours, theirs = merged(tokens).logits, adapted(tokens).logits
        with adapted.disable_adapter():
            before = adapted(tokens).logits
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)
    assert (ours - before).abs().max() > 0.1
    untouched = ("model.embed_tokens.weight", "model.norm.weight")
    first = load_file(start / "model.safetensors")
    assert all(torch.equal(load_file(out / "model.safetensors")[name], first[name]) for name in untouched)


def test_low_rank_matrices_of_another_model_are_told(tmp_path: Path, start: Path) -> None:
    saved, _ = low_rank_checkpoint(tmp_path / "global_step_2", start)
    path = saved / "actor/model_world_size_1_rank_0.pt"
    state = torch.load(path)
    state["base_model.model.model.layers.9.mlp.up_proj.lora_A.default.weight"] = torch.zeros(4, 128)
    torch.save(state, path)
    with pytest.raises(ExportError, match=r"1 low-rank matrices belong to no weight of .*layers\.9\.mlp\.up_proj"):
        export_model(saved, start, tmp_path / "rl-1", dtype="float32", card=CARD, building=tmp_path / "work")


def test_tokenizer_and_generation_settings_are_those_it_started_with(tmp_path: Path, start: Path) -> None:
    out = tmp_path / "models" / "rl-1"
    saved = checkpoint(tmp_path / "global_step_2", start)
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "stray").write_text("half made before a kill")
    out.mkdir(parents=True)
    (out / "stray").write_text("older")
    export_model(saved, start, out, dtype="float32", card=CARD, building=tmp_path / "work")
    for name in ("tokenizer.json", "tokenizer_config.json", "generation_config.json", "chat_template.jinja"):
        assert (out / name).read_bytes() == (start / name).read_bytes()
    assert (out / "README.md").read_text() == CARD
    assert {path.name for path in out.iterdir()} == {path.name for path in start.iterdir()} - {
        "compass_origin.json",
        "optimizer",
    }
    assert not (tmp_path / "work").exists()


def test_what_training_began_with_is_that_of_the_first_stage(tmp_path: Path, start: Path) -> None:
    rows = [{"actor/entropy": 0.2, "reward/distinct_right": 0.5}] * 5

    def export(number: int, start: Path, rows: list[dict[str, float]], temperature: float = 1.0) -> Path:
        out, saved = tmp_path / f"models/rl-{number}", checkpoint(tmp_path / f"step_{number}", start)
        begun = describe_beginning(rows, temperature)
        export_model(saved, start, out, dtype="float32", card=CARD, building=tmp_path / "work", beginning=begun)
        return out

    assert read_beginning(start, 1.0) == {}
    first = export(1, start, rows)
    second = export(2, first, [{"actor/entropy": 0.01}] * 5)
    assert read_beginning(second, 1.0) == read_beginning(first, 1.0) == rows[0]
    assert read_beginning(first, 0.7) == {}
    short = export(3, start, rows[:4])
    assert read_beginning(short, 1.0) == {}


def test_the_training_state_is_kept_where_asked(tmp_path: Path, start: Path) -> None:
    out = tmp_path / "models" / "rl-1"
    saved = checkpoint(tmp_path / "global_step_2", start)
    export_model(saved, start, out, dtype="float32", card=CARD, building=tmp_path / "work", keep_optimizer=True)
    assert {path.name for path in (out / "optimizer").iterdir()} == {
        "model_world_size_1_rank_0.pt",
        "optim_world_size_1_rank_0.pt",
    }


def test_a_checkpoint_of_another_model_is_told_and_leaves_the_earlier_one(tmp_path: Path, start: Path) -> None:
    saved = checkpoint(tmp_path / "global_step_2", start, leave_out="model.norm.weight")
    out = tmp_path / "models" / "rl-1"
    out.mkdir(parents=True)
    (out / "earlier").touch()
    with pytest.raises(ExportError, match=r"1 tensors of .* such as model\.norm\.weight"):
        export_model(saved, start, out, dtype="float32", card=CARD, building=tmp_path / "work")
    assert [path.name for path in out.iterdir()] == ["earlier"]


RANK = """
import sys, torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor
from safetensors.torch import load_file

rank, folder, start = int(sys.argv[1]), sys.argv[2], sys.argv[3]
torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/rendezvous", rank=rank, world_size=2)
mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("fsdp",))
state = {name: distribute_tensor(tensor + 1, mesh, [Shard(0) if tensor.ndim > 1 else Replicate()])
         for name, tensor in load_file(f"{start}/model.safetensors").items()}
torch.save(state, f"{folder}/step/actor/model_world_size_2_rank_{rank}.pt")
torch.distributed.destroy_process_group()
"""


def test_shards_of_several_ranks_are_put_together(tmp_path: Path, start: Path) -> None:
    (tmp_path / "step" / "actor").mkdir(parents=True)
    ranks = [subprocess.Popen([sys.executable, "-c", RANK, str(rank), str(tmp_path), str(start)]) for rank in range(2)]
    assert [process.wait(timeout=600) for process in ranks] == [0, 0]
    export_model(tmp_path / "step", start, tmp_path / "rl-1", dtype="float32", card=CARD, building=tmp_path / "work")
    before = load_file(start / "model.safetensors")
    after = load_file(tmp_path / "rl-1" / "model.safetensors")
    assert {name: tensor.shape for name, tensor in after.items()} == {name: t.shape for name, t in before.items()}
    assert all(torch.equal(after[name], before[name] + 1) for name in before)
