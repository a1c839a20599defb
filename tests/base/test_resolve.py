"""A model folder, GGUF file or hub id becomes a plain transformers folder, or a clear error."""

import json
import os
import shutil
from dataclasses import asdict
from pathlib import Path

import pytest

from compass.base import resolve as module
from compass.base.resolve import ORIGIN_FILE, ModelError, Origin, check_tokens, fill_in, resolve, write_origin
from compass.base.tokenizer import train_tokenizer
from compass.files import file_digest, folder_digest


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
    assert json.loads((tmp_path / "out" / ORIGIN_FILE).read_text()) == asdict(origin)


def test_only_what_a_model_needs_is_copied(model, tmp_path):
    folder = tmp_path / "given"
    shutil.copytree(model, folder)
    for name in ("LICENSE", "README.md", "training_args.bin", "modeling.py", "model.safetensors.index.json"):
        (folder / name).write_text("{}")
    (folder / "tokenizer_folder").mkdir()
    resolve(str(folder), out=tmp_path / "out")
    copied = {path.name for path in (tmp_path / "out").iterdir()}
    assert copied == {path.name for path in model.iterdir()} | {"LICENSE", "README.md", "model.safetensors.index.json"}


def test_several_variables_are_filled_in():
    assert fill_in("$A/x/$B_1", {"A": "a", "B_1": "b"}) == "a/x/b"
    assert fill_in("owner/name", {}) == "owner/name"
    with pytest.raises(ModelError, match=r"base\.model is '\$A/\$B' but B is not set; run `export B="):
        fill_in("$A/$B", {"A": "a", "B": ""})


def test_a_hub_model_keeps_its_name_and_commit(model, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(module, "_download", lambda *what: asked.append(what) or model)
    origin = resolve("owner/name-1.5", revision="0123abc", out=tmp_path / "out")
    assert asked == [("owner/name-1.5", "0123abc", "base.model")]
    assert origin == Origin("hub", "owner/name-1.5", "0123abc", folder_digest(model))
    assert (tmp_path / "out/model.safetensors").is_file()


def test_a_hub_that_cannot_be_reached_says_what_to_do(tmp_path, monkeypatch):
    import huggingface_hub

    def refuse(name, *, revision, allow_patterns):
        assert "*.safetensors" in allow_patterns
        assert "*.bin" not in allow_patterns
        raise OSError(f"{name} {revision}")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", refuse)
    with pytest.raises(ModelError, match=r"owner/name at (01)+ could not be fetched \(OSError: owner/name (01)+\)"):
        resolve("owner/name", revision="01" * 20, out=tmp_path / "out")


def test_a_gguf_file_is_known_by_its_own_digest(model, tmp_path, monkeypatch):
    (tmp_path / "m.gguf").write_bytes(b"weights")
    monkeypatch.setattr(module, "_convert_gguf", lambda path, out: shutil.copytree(model, out))
    origin = resolve(str(tmp_path / "m.gguf"), out=tmp_path / "out")
    assert origin == Origin("gguf", "m.gguf", "", file_digest(tmp_path / "m.gguf"))


def test_what_agrees_already_stays_as_it_is(model, tmp_path):
    resolve(str(model), out=tmp_path / "out")
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    times = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()}
    check_tokens(tmp_path / "out")
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before
    assert {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()} == times


def ends(folder):
    from transformers import GenerationConfig

    return GenerationConfig.from_pretrained(folder).eos_token_id


def test_other_ends_of_the_publisher_stay_behind_the_templates(model, tmp_path):
    from transformers import AutoTokenizer, GenerationConfig

    shutil.copytree(model, tmp_path / "given")
    end = AutoTokenizer.from_pretrained(model).eos_token_id
    GenerationConfig(eos_token_id=[7, 9]).save_pretrained(tmp_path / "given")
    resolve(str(tmp_path / "given"), out=tmp_path / "out")
    assert ends(tmp_path / "out") == [end, 7, 9]
    GenerationConfig(eos_token_id=[7, end]).save_pretrained(tmp_path / "given")
    resolve(str(tmp_path / "given"), out=tmp_path / "other")
    assert ends(tmp_path / "other") == [7, end]


@pytest.mark.parametrize("missing", [True, False])
def test_a_generation_configuration_or_an_end_that_is_missing_or_wrong_is_mended(model, tmp_path, missing):
    from transformers import AutoConfig, AutoTokenizer, GenerationConfig

    shutil.copytree(model, tmp_path / "given")
    if missing:
        (tmp_path / "given/generation_config.json").unlink()
    else:
        config = AutoConfig.from_pretrained(model)
        config.eos_token_id = config.pad_token_id = 5
        config.save_pretrained(tmp_path / "given")
    resolve(str(tmp_path / "given"), out=tmp_path / "out")
    tokenizer = AutoTokenizer.from_pretrained(model)
    made = (GenerationConfig if missing else AutoConfig).from_pretrained(tmp_path / "out")
    assert (made.eos_token_id, made.pad_token_id) == (tokenizer.eos_token_id, tokenizer.pad_token_id)


def test_a_model_without_a_chat_template_is_refused(model, tmp_path):
    shutil.copytree(model, tmp_path / "given")
    (tmp_path / "given/chat_template.jinja").unlink()
    with pytest.raises(ModelError, match="its tokenizer has no chat template"):
        resolve(str(tmp_path / "given"), out=tmp_path / "out")


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
        ("owner/name", "main", "base.revision: must be a commit .*huggingface.co/owner/name` .*, found 'main'"),
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
    with pytest.raises(ModelError, match=r"has no \*\.safetensors; pytorch_model\.bin is pickled"):
        resolve(str(tmp_path / "pickled"), out=tmp_path / "out")
    (tmp_path / "pickled" / "pytorch_model.bin").unlink()
    (tmp_path / "pickled" / "model.safetensors.index.json").write_text("{}")  # names weights and holds none
    with pytest.raises(ModelError, match=r"pickled has no \*\.safetensors$"):
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
