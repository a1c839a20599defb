from pathlib import Path

from compass.rl.checkpoint import export_model, last_step, start_from_optimizer


def model_folder(folder: Path, weights: str) -> Path:
    folder.mkdir(parents=True)
    for name, text in (("config.json", weights), ("model.safetensors", weights), ("tokenizer.json", "original")):
        (folder / name).write_text(text)
    return folder


def checkpoint(folder: Path) -> Path:
    saved = model_folder(folder / "actor" / "huggingface", "trained")
    (saved / "tokenizer.json").write_text("saved again, different")
    (folder / "actor" / "optim_world_size_1_rank_0.pt").write_text("moments")
    return folder


def test_the_model_has_trained_weights_and_the_tokenizer_it_started_with(tmp_path: Path) -> None:
    start = model_folder(tmp_path / "base", "untrained")
    (start / "compass_origin.json").write_text("{}")
    export_model(checkpoint(tmp_path / "global_step_2"), start, tmp_path / "rl-1")
    assert (tmp_path / "rl-1/model.safetensors").read_text() == "trained"
    assert (tmp_path / "rl-1/tokenizer.json").read_text() == "original"
    assert not (tmp_path / "rl-1/compass_origin.json").exists()
    assert not (tmp_path / "rl-1/optimizer").exists()


def test_a_kept_optimizer_becomes_the_next_stages_iteration_zero(tmp_path: Path) -> None:
    start = model_folder(tmp_path / "base", "untrained")
    export_model(checkpoint(tmp_path / "global_step_2"), start, tmp_path / "rl-1", keep_optimizer=True)
    start_from_optimizer(tmp_path / "rl-1", tmp_path / "checkpoints")
    assert (tmp_path / "checkpoints/global_step_0/actor/optim_world_size_1_rank_0.pt").read_text() == "moments"
    assert (tmp_path / "checkpoints/latest_checkpointed_iteration.txt").read_text() == "0"


def test_an_interrupted_stage_goes_on_from_its_own_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints/latest_checkpointed_iteration.txt").write_text("5")
    start_from_optimizer(tmp_path / "rl-1", tmp_path / "checkpoints")
    assert (tmp_path / "checkpoints/latest_checkpointed_iteration.txt").read_text() == "5"


def test_no_checkpoint_is_iteration_zero(tmp_path: Path) -> None:
    assert last_step(tmp_path) == 0


def test_the_last_checkpoint_is_the_trackers(tmp_path: Path) -> None:
    (tmp_path / "latest_checkpointed_iteration.txt").write_text("15")
    assert last_step(tmp_path) == 15
