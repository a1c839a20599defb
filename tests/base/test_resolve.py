"""A model folder, GGUF file or hub id becomes a plain transformers folder, or a clear error."""

import json
import os
from pathlib import Path

import pytest

from compass.base.origin import Origin, read_origin, write_origin
from compass.base.resolve import ModelError, resolve
from compass.base.tokenizer import train_tokenizer
from compass.files import folder_digest


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A Qwen2 folder of a few thousand weights."""
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM

    folder = tmp_path_factory.mktemp("models") / "small"
    tokenizer = train_tokenizer(["How many books?"], vocabulary=300, folder=folder)
    config = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=1,
        num_key_value_heads=1,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        dtype=torch.float32,
    )
    Qwen2ForCausalLM(config).save_pretrained(folder)
    return folder


def test_a_folder_is_copied_and_its_origin_is_kept(model, tmp_path):
    before = {path.name: path.stat().st_mtime_ns for path in model.iterdir()}
    origin = resolve(str(model), out=tmp_path / "out")
    assert origin == Origin("folder", "small", "", folder_digest(model))
    assert folder_digest(tmp_path / "out") == origin.digest
    assert (tmp_path / "out" / "model.safetensors").stat().st_ino != (model / "model.safetensors").stat().st_ino
    assert {path.name: path.stat().st_mtime_ns for path in model.iterdir()} == before
    write_origin(tmp_path / "out", origin)
    assert read_origin(tmp_path / "out") == origin


def test_the_path_is_filled_in_from_the_environment(model, tmp_path):
    resolve("$COMPASS_MODEL/small", out=tmp_path / "out", environment={"COMPASS_MODEL": str(model.parent)})
    assert (tmp_path / "out" / "config.json").is_file()


def test_an_end_token_that_is_not_the_templates_is_mended_in_every_file(model, tmp_path):
    from transformers import AutoConfig, AutoTokenizer, GenerationConfig

    broken = tmp_path / "broken"
    resolve(str(model), out=broken)
    tokenizer = AutoTokenizer.from_pretrained(broken)
    tokenizer.eos_token, tokenizer.pad_token = "<|endoftext|>", None
    tokenizer.save_pretrained(broken)

    resolve(str(broken), out=tmp_path / "out")
    mended = AutoTokenizer.from_pretrained(tmp_path / "out")
    assert (mended.eos_token, mended.pad_token) == ("<|im_end|>", "<|endoftext|>")
    assert AutoConfig.from_pretrained(tmp_path / "out").eos_token_id == mended.eos_token_id
    generation = GenerationConfig.from_pretrained(tmp_path / "out")
    ends = generation.eos_token_id
    assert (ends[0] if isinstance(ends, list) else ends, generation.pad_token_id) == (
        mended.eos_token_id,
        mended.pad_token_id,
    )


@pytest.mark.parametrize(
    ("model_name", "revision", "message"),
    [
        ("$COMPASS_MODEL", "", "COMPASS_MODEL is not set"),
        ("/nowhere/model.gguf", "", "no such file"),
        ("owner/name", "", "base.revision: give the commit"),
        ("no model", "", "neither a folder, nor a .gguf file, nor a hub id"),
    ],
)
def test_what_cannot_be_used_is_named(model_name, revision, message, tmp_path):
    with pytest.raises(ModelError, match=message):
        resolve(model_name, revision=revision, out=tmp_path / "out", environment={})


def test_a_folder_without_safetensors_is_refused_and_pickles_are_named(model, tmp_path):
    (tmp_path / "pickled").mkdir()
    (tmp_path / "pickled" / "config.json").write_text(json.dumps({"model_type": "qwen2"}))
    (tmp_path / "pickled" / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    with pytest.raises(ModelError, match=r"pytorch_model\.bin is pickled"):
        resolve(str(tmp_path / "pickled"), out=tmp_path / "out")
    with pytest.raises(ModelError, match=r"no config\.json"):
        resolve(str(tmp_path), out=tmp_path / "out")


@pytest.mark.slow
def test_a_gguf_file_becomes_a_folder_that_knows_where_a_turn_ends(tmp_path):
    from transformers import AutoTokenizer

    path = Path(os.environ.get("COMPASS_MODEL", ""))
    if path.suffix != ".gguf":
        pytest.skip("needs COMPASS_MODEL to name a .gguf file")
    origin = resolve("$COMPASS_MODEL", out=tmp_path / "out")
    assert origin.kind == "gguf"
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "out")
    shown = tokenizer.apply_chat_template([{"role": "assistant", "content": "4"}], tokenize=False)
    assert shown.rstrip().endswith(tokenizer.eos_token)
    assert tokenizer.pad_token_id not in (None, tokenizer.eos_token_id)
    assert list((tmp_path / "out").glob("*.safetensors"))
