"""verl's checkpoints become model folders, and a kept training state becomes the next stage's iteration 0."""

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
    (saved / "model.safetensors.index.json").write_text("trained")
    (folder / "actor" / "optim_world_size_1_rank_0.pt").write_text("moments")
    return folder


def contents(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


TRAINED = {
    "config.json": "trained",
    "model.safetensors": "trained",
    "model.safetensors.index.json": "trained",
    "tokenizer.json": "original",
}


def test_the_model_has_trained_weights_and_the_tokenizer_it_started_with(tmp_path: Path) -> None:
    start = model_folder(tmp_path / "base", "untrained")
    (start / "compass_origin.json").write_text("{}")
    (start / "optimizer").mkdir()
    (start / "optimizer" / "old.pt").write_text("of the stage before")
    export_model(checkpoint(tmp_path / "global_step_2"), start, tmp_path / "rl-1")
    assert contents(tmp_path / "rl-1") == TRAINED


def test_an_export_takes_the_place_of_an_older_one_and_of_a_half_made_one(tmp_path: Path) -> None:
    model_folder(tmp_path / "rl-1", "older")
    model_folder(tmp_path / ".rl-1.part", "half")
    (tmp_path / ".rl-1.part" / "stray").write_text("half")
    export_model(checkpoint(tmp_path / "step"), model_folder(tmp_path / "base", "untrained"), tmp_path / "rl-1")
    assert contents(tmp_path / "rl-1") == TRAINED
    assert not (tmp_path / ".rl-1.part").exists()


def test_a_kept_optimizer_becomes_the_next_stages_iteration_zero(tmp_path: Path) -> None:
    start = model_folder(tmp_path / "base", "untrained")
    export_model(checkpoint(tmp_path / "global_step_2"), start, tmp_path / "rl-1", keep_optimizer=True)
    assert contents(tmp_path / "rl-1") == {**TRAINED, "optimizer/optim_world_size_1_rank_0.pt": "moments"}
    start_from_optimizer(tmp_path / "rl-1", tmp_path / "checkpoints")
    assert contents(tmp_path / "checkpoints") == {
        "global_step_0/actor/optim_world_size_1_rank_0.pt": "moments",
        "latest_checkpointed_iteration.txt": "0",
    }


def test_laying_down_the_training_state_may_be_done_again_after_a_kill(tmp_path: Path) -> None:
    state = tmp_path / "rl-1" / "optimizer"
    state.mkdir(parents=True)
    (state / "rank_0.pt").write_text("moments")
    half = tmp_path / "checkpoints" / "global_step_0" / "actor"
    half.mkdir(parents=True)
    start_from_optimizer(tmp_path / "rl-1", tmp_path / "checkpoints")
    assert (half / "rank_0.pt").read_text() == "moments"


def test_an_interrupted_stage_goes_on_from_its_own_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints/latest_checkpointed_iteration.txt").write_text("5")
    start_from_optimizer(tmp_path / "rl-1", tmp_path / "checkpoints")
    assert contents(tmp_path / "checkpoints") == {"latest_checkpointed_iteration.txt": "5"}


def test_no_checkpoint_is_iteration_zero(tmp_path: Path) -> None:
    assert last_step(tmp_path) == 0


def test_the_last_checkpoint_is_the_trackers(tmp_path: Path) -> None:
    (tmp_path / "latest_checkpointed_iteration.txt").write_text("15")
    assert last_step(tmp_path) == 15
