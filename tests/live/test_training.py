"""The view of an RL stage, from the files of its trainer."""

import os
from pathlib import Path
from typing import Any

import pytest

from compass.live.view import Reader
from compass.page.blocks import as_json
from compass.rl.metrics import write_curves
from compass.rl.rollouts import write_rewards, write_rollouts
from compass.runs.progress import stage_progress

KL = "KL to the start, averaged as the loss"


def blocks(root: Path, step: int | None = None, reader: Reader | None = None) -> dict[str, Any]:
    state = (reader or Reader(root)).state("rl-1", step)
    return {block.kind: as_json(block) for block in state["blocks"]}


def values(block: dict[str, Any], title: str) -> dict[str, list[float | None]]:
    (chart,) = [item for item in block["items"] if item["title"] == title]
    return {one["name"]: one["values"] for one in chart["series"]}


def test_curves_are_of_all_responses_and_of_verls_metrics(repository: Path, trainer: Any) -> None:
    with stage_progress("rl-1", repository):
        for step in (1, 2, 3):
            trainer.iteration(step)
        seen = blocks(repository)
    charts = seen["charts"]
    assert values(charts, "Right responses, %") == {"right": [5 / 8, 6 / 8, 7 / 8]}
    assert values(charts, "Reward") == {"reward": [0.25, 0.5, 0.75]}
    assert values(charts, "Entropy, nats per token") == {"entropy, nats per token": [0.5, 0.25, 0.16667]}
    assert values(charts, "Response length, tokens")["mean"] == [7.5, 12.5, 17.5]
    assert values(charts, "Groups of responses") == {"used": [1, 1, 1], "left out": [1, 1, 1]}
    assert values(charts, "Clipped tokens, %") == {"clipped tokens, %": [0.01] * 3}
    assert values(charts, "Time per iteration, s") == {"rollout": [2.0] * 3, "update": [1.0] * 3, "other": [1.0] * 3}
    assert values(charts, "Throughput, tokens per second") == {"tokens per second": [1000.0] * 3}
    assert KL not in [item["title"] for item in charts["items"]]
    assert [item["last"] for item in charts["items"]] == [20] * len(charts["items"])
    figures = {item["name"]: item["value"] for item in seen["figures"]["items"]}
    assert figures["accuracy"] == "87.5%"
    assert figures["mixed groups"] == "1 of 2"
    assert figures["throughput"] == "1,000"


def test_kl_is_drawn_where_it_is_on_and_what_is_no_number_is_a_gap(repository: Path, trainer: Any) -> None:
    trainer.iteration(1, **{"actor/kl_loss": 0.02, "actor/entropy": None, "actor/grad_norm": float("nan")})
    also = {"actor/reward_kl_penalty": 0.01, "critic/vf_explained_var": 0.4, "remax/greedy_reward/mean": 0.5}
    trainer.iteration(2, **{"actor/kl_loss": 0.03, **also})
    with stage_progress("rl-1", repository):
        os.utime(trainer.paths.rewards)
        charts = blocks(repository)["charts"]
    assert values(charts, KL) == {KL: [0.02, 0.03]}
    assert values(charts, "KL taken off the reward, per token") == {"KL taken off the reward, per token": [None, 0.01]}
    assert values(charts, "Explained variance of the critic") == {"explained variance of the critic": [None, 0.4]}
    assert values(charts, "Reward of greedy responses") == {"reward of greedy responses": [None, 0.5]}
    assert values(charts, "Entropy, nats per token") == {"entropy, nats per token": [None, 0.25]}
    assert values(charts, "Gradient norm") == {"gradient norm": [None, 1.0]}


def test_what_comes_in_is_added_and_half_a_line_waits(repository: Path, trainer: Any) -> None:
    reader = Reader(repository)
    with stage_progress("rl-1", repository):
        trainer.iteration(1)
        assert values(blocks(repository, reader=reader)["charts"], "Reward") == {"reward": [0.25]}
        whole = trainer.paths.rewards.read_text()
        with trainer.paths.rewards.open("a") as file:
            file.write('{"step": 2, "id": "p1", "rewards": [1.0], "tok')
        assert values(blocks(repository, reader=reader)["charts"], "Reward") == {"reward": [0.25]}
        with trainer.paths.rewards.open("a") as file:
            file.write('ens": [3], "used": true}\nnot json\n{"step": 3}\n')
        assert values(blocks(repository, reader=reader)["charts"], "Reward") == {"reward": [0.25, 1.0]}
        # A restart goes back to the last checkpoint: the file is replaced by a shorter one.
        fresh = trainer.paths.rewards.with_name("fresh")
        fresh.write_text(whole)
        fresh.replace(trainer.paths.rewards)
        assert values(blocks(repository, reader=reader)["charts"], "Reward") == {"reward": [0.25]}


def test_a_stage_that_has_just_started_does_not_show_an_earlier_course(repository: Path, trainer: Any) -> None:
    trainer.iteration(1)
    for path in trainer.paths.work.iterdir():
        os.utime(path, (1, 1))
    with stage_progress("rl-1", repository):
        seen = blocks(repository)
    assert list(seen) == ["note"]
    assert seen["note"]["text"].endswith(
        "It trains base for 20 iterations, each of 32 problems with 8 responses, by grpo at a learning rate of 0.0002."
    )
    assert seen["note"]["command"] == "compass rl show rl-1"


def test_guards_say_what_they_do_and_what_they_found(repository: Path, trainer: Any) -> None:
    with stage_progress("rl-1", repository):
        trainer.iteration(1)
        trainer.findings.fire("cut_off", 1, "60% of the responses are cut off")
        trainer.findings.fire("cut_off", 2, "70% of the responses are cut off")
        seen = blocks(repository)
    first = seen["guards"]["items"][0]
    assert first == {"name": "cut_off", "level": "warn", "fired": [1, 2]}
    assert {"watchdog", "agreement", "loops"} < {item["name"] for item in seen["guards"]["items"]}
    assert "2 findings of guards. The newest: cut_off in iteration 2" in seen["warning"]["text"]
    assert "60% of the responses" in seen["warning"]["details"]


def test_the_newest_rollouts_or_those_of_a_chosen_iteration(repository: Path, trainer: Any) -> None:
    with stage_progress("rl-1", repository):
        for step in (1, 5):
            trainer.iteration(step)
            trainer.rollouts(step, response=f"iteration {step} \\boxed{{2}}")
        (repository / f"work/rl-1/{trainer.paths.work.name}/rollouts/notes.txt").write_text("not a table")
        newest, first = blocks(repository)["responses"], blocks(repository, step=1)["responses"]
        unknown = blocks(repository, step=77)["responses"]
    assert (newest["choices"], newest["chosen"], unknown["chosen"]) == ([1, 5], 5, 5)
    used, left_out = newest["problems"]
    assert used["about"] == "p1 · level 2 · 3 of 4 right, used"
    assert left_out["about"].endswith("left out of the update")
    assert (used["gold"], used["problem"]) == ("2", "user\nWhat is 1+1? (p1)\nassistant\n")
    right = used["responses"][0]
    assert (right["right"], right["answer"], right["text"]) == (True, "2", "iteration 5 \\boxed{2}")
    assert right["facts"] == ["equal", "text", "reward +1", "advantage +0.5", "7 tokens"]
    assert first["problems"][0]["responses"][0]["text"].startswith("iteration 1 ")


def test_a_finished_stage_is_read_from_its_outputs(repository: Path, trainer: Any) -> None:
    from compass.rl.metrics import read_metrics

    for step in (1, 2):
        trainer.iteration(step)
        trainer.rollouts(step)
    out = repository / "data/rl-1"
    out.mkdir(parents=True)
    with stage_progress("rl-1", repository):
        live = blocks(repository)
        write_curves(read_metrics(trainer.paths.metrics), out / "steps.csv")
        write_rewards(trainer.paths.rewards, out / "rewards.parquet")
        write_rollouts(trainer.paths.rollouts, out / "rollouts.parquet")
    trainer.iteration(3)  # of a run with other settings that was ended before the result came back from the cache
    finished = blocks(repository)
    assert finished["charts"] == live["charts"]
    assert finished["responses"] == live["responses"]


def test_many_iterations_are_drawn_as_means(repository: Path, trainer: Any) -> None:
    from compass.page.blocks import curve

    drawn = curve("x", list(range(1, 1001)), {"y": [float(n) for n in range(1000)]})
    assert drawn is not None
    assert len(drawn["steps"]) == 334
    assert drawn["steps"][-1] == 1000
    assert drawn["series"][0]["values"][0] == 1.0
    assert curve("x", [1], {"y": [None]}) is None


@pytest.mark.parametrize("text", ["", "{", "[1, 2]\n", '{"step": "x"}\n', "\x00\n", '{"step": 1}\n'])
def test_files_that_are_not_whole_break_nothing(repository: Path, trainer: Any, text: str) -> None:
    with stage_progress("rl-1", repository):
        trainer.iteration(1)
        for path in (trainer.paths.metrics, trainer.paths.findings, trainer.paths.rewards, trainer.paths.live_metrics):
            path.write_text(text)
        (trainer.paths.rollouts).mkdir()
        (trainer.paths.rollouts / "000001.parquet").write_text(text)
        assert blocks(repository)
