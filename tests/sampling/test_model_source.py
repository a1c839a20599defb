"""Where a model lies, and what tells it from others."""

from __future__ import annotations

import json
import shutil

import pytest

from compass.sampling.model_source import Model, SamplingError, Server, choose_limits, find_model, model_digest


def test_the_digest_follows_the_weights_and_the_chat_template_but_not_the_path(tmp_path):
    original = tmp_path / "model"
    original.mkdir()
    (original / "config.json").write_text("{}")
    (original / "model.safetensors").write_bytes(b"weights")
    model = find_model(str(original))
    copy = tmp_path / "copy"
    shutil.copytree(model.path, copy)
    assert model_digest(find_model(str(copy))) == model_digest(model)
    (copy / "chat_template.jinja").write_text("{{ messages }}")
    changed = model_digest(find_model(str(copy)))
    (copy / "model.safetensors").write_bytes(b"Weights")
    assert len({model_digest(model), changed, model_digest(find_model(str(copy)))}) == 3
    assert len(changed) == 32


def test_the_digest_of_a_hub_model_is_its_commit():
    one, other = (model_digest(Model("owner/model", revision)) for revision in ("a", "b"))
    assert one != other
    assert one == model_digest(Model("owner/model", "a"))
    assert len(one) == 32


def test_a_model_that_is_not_there_is_named_and_a_hub_id_has_a_revision(tmp_path):
    with pytest.raises(SamplingError, match=r"models/nowhere: no such folder"):
        find_model("models/nowhere")
    with pytest.raises(SamplingError, match=r"holds no config\.json"):
        find_model(str(tmp_path))
    assert find_model("owner/model", "0123abcd" * 5) == Model("owner/model", "0123abcd" * 5)


@pytest.mark.parametrize("revision", ["main", "v1.0", "0123abc", "0123ABCD" * 5])
def test_a_branch_a_tag_or_a_short_hash_does_not_pin_a_model(revision):
    told = rf"owner/model: the revision must be a commit .*https://huggingface.co/owner/model` .*, found '{revision}'"
    with pytest.raises(SamplingError, match=told):
        find_model("owner/model", revision)


@pytest.mark.parametrize(
    ("config", "given", "limits"),
    [
        ({"max_position_embeddings": 40_960}, {}, (32_768, 34_816)),
        ({"max_position_embeddings": 4_096}, {}, (3_072, 4_096)),
        ({"text_config": {"max_position_embeddings": 8_192}}, {}, (6_144, 8_192)),
        ({"max_position_embeddings": 4_096}, {"max_tokens": 500}, (500, 2_548)),
        ({"max_position_embeddings": 512}, {"max_tokens": 500}, (500, 512)),
        ({"max_position_embeddings": 40_960}, {"max_model_len": 1_000}, (750, 1_000)),
        ({}, {"max_tokens": 500}, (500, 2_548)),
        ({}, {"max_tokens": 500, "max_model_len": 600}, (500, 600)),
    ],
)
def test_limits_that_are_not_given_are_the_models_own(config, given, limits, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert choose_limits(find_model(str(tmp_path)), **given) == limits


def test_a_servers_limit_counts_and_without_any_the_user_is_asked():
    server = Server("http://127.0.0.1/v1", "m", "m", max_model_len=8_192)
    assert choose_limits(server) == (6_144, 8_192)
    with pytest.raises(SamplingError, match="m: nothing says how long its responses may be; give --max-tokens"):
        choose_limits(Server("http://127.0.0.1/v1", "m", "m"))
