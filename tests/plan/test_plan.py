"""The forecast of a run: shapes, speeds, memory, and what `compass plan` prints and refuses."""

from __future__ import annotations

import importlib.util
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from compass.checks import machine as machine_checks
from compass.cli import main
from compass.errors import UserError
from compass.files import write_json
from compass.plan.forecast import Known, forecast, read_known
from compass.plan.hardware import GPUS, Machine, find_gpus, parse_gpus
from compass.plan.memory import find_sampling_shortage, find_training_shortage, sampling_parts, training_parts
from compass.plan.shape import PUBLISHED, QWEN_7B, Shape, find_shape, shape_of
from compass.plan.speed import Load, exponential_scale, sampling_seconds, training_seconds
from compass.rl.start import StartError, check_memory
from compass.settings import Benchmark, Settings, load_settings
from compass.settings.load import read_values

ROOT = Path(__file__).parents[2]
PAPER, TINY = (load_settings(ROOT / "profiles" / f"{name}.yaml") for name in ("paper", "tiny"))

CONFIGS = [
    {"model_type": "qwen2", "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 50, "tie_word_embeddings": True},
    {"model_type": "llama", "hidden_size": 96, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 3, "num_key_value_heads": 3, "vocab_size": 70},
    {"model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 32, "vocab_size": 70},
]  # fmt: skip


@pytest.mark.parametrize("config", CONFIGS, ids=["qwen2", "llama", "wide heads"])
def test_parameters_are_those_of_the_model_that_transformers_builds(config: dict) -> None:
    transformers = pytest.importorskip("transformers")
    asked = {name: value for name, value in config.items() if name != "model_type"}
    built = transformers.AutoModelForCausalLM.from_config(
        transformers.AutoConfig.for_model(config["model_type"], **asked)
    )
    assert shape_of(config).parameters == sum(weights.numel() for weights in built.parameters())


def test_flops_are_those_of_verl_but_for_the_embedding() -> None:
    path = Path(importlib.util.find_spec("verl").submodule_search_locations[0]) / "utils" / "flops_counter.py"
    counter = importlib.util.module_from_spec(spec := importlib.util.spec_from_file_location("flops_counter", path))
    spec.loader.exec_module(counter)
    transformers = pytest.importorskip("transformers")
    lengths = [100, 900, 33]
    for config in (*CONFIGS, *({**CONFIGS[2], "model_type": kind} for kind in ("qwen3", "mistral"))):
        asked = {name: value for name, value in config.items() if name != "model_type"}
        counted = counter.FlopsCounter(transformers.AutoConfig.for_model(config["model_type"], **asked))
        estimated = counter.ESTIMATE_FUNC[config["model_type"]](counted.config, sum(lengths), lengths, 1.0) * 1e12
        shape = shape_of(config)
        embedding = 6 * shape.vocabulary * shape.hidden * sum(lengths)
        ours = shape.training_flops(sum(lengths), sum(length**2 for length in lengths))
        assert math.isclose(ours, estimated - embedding, rel_tol=1e-9)


def test_published_shapes_have_the_sizes_in_their_names() -> None:
    sizes = {"Qwen/Qwen2.5-Math-7B": 7.62e9, "Qwen/Qwen2.5-Math-1.5B": 1.54e9, "Qwen/Qwen2.5-0.5B-Instruct": 0.494e9}
    sizes |= {"meta-llama/Llama-3.1-8B-Instruct": 8.03e9, "HuggingFaceTB/SmolLM2-135M-Instruct": 134.5e6}
    for name, size in sizes.items():
        assert math.isclose(PUBLISHED[name].parameters, size, rel_tol=5e-3), name


def test_a_shape_is_found_by_folder_hub_id_and_file_name(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model/config.json").write_text(json.dumps(CONFIGS[0]))
    assert find_shape("model", tmp_path) == shape_of(CONFIGS[0])
    assert find_shape("Qwen/Qwen2.5-Math-7B", tmp_path) == QWEN_7B
    assert find_shape("somewhere/SmolLM2-135M-Instruct.Q4_1.gguf", tmp_path) is not None
    assert find_shape("someone/unknown", tmp_path) is None
    assert find_shape("$NOT_SET_ANYWHERE", tmp_path) is None


@pytest.mark.parametrize("mean", [50, 400, 1500, 3000])
def test_cut_lengths_have_the_mean_that_was_asked_for(mean: int) -> None:
    scale = exponential_scale(mean, 4096)
    assert math.isclose(scale * (1 - math.exp(-4096 / scale)), mean, rel_tol=1e-6)


def test_more_gpus_sample_faster_until_the_longest_responses_decide() -> None:
    load = Load(8192, 130, 1000, 20_000)
    seconds = [sampling_seconds(load, QWEN_7B, GPUS["h100"], gpus) for gpus in (8, 16, 64, 512)]
    assert seconds == sorted(seconds, reverse=True)
    assert seconds[0] / seconds[1] < 2.01
    assert seconds[2] / seconds[3] < 2


def test_each_pass_over_the_responses_costs_the_same() -> None:
    load = Load(1024, 130, 1000, 4096)
    logged, one = training_seconds(load, QWEN_7B, GPUS["h100"], 8, passes=1, steps=0, mfu=0.4)
    _, four = training_seconds(load, QWEN_7B, GPUS["h100"], 8, passes=4, steps=0, mfu=0.4)
    assert math.isclose(four, 4 * one)
    assert math.isclose(one, 4 * logged)


def test_the_paper_fits_the_node_that_it_asks_for_and_no_smaller_one() -> None:
    stage = PAPER.rl.stages["rl-1"]
    assert find_training_shortage(stage, QWEN_7B, GPUS["h100"], 8) is None
    found, remedy = find_training_shortage(stage, QWEN_7B, GPUS["rtx4090"], 1)
    assert "129 GB" in found
    assert "122" in found
    more = int(remedy.split(", or ")[-1].split()[0])
    fewer = stage.model_copy(update={"resources": stage.resources.model_copy(update={"micro_batch_tokens": 4096})})
    assert (
        sum(training_parts(fewer, QWEN_7B, more).values())
        <= 24
        < sum(training_parts(fewer, QWEN_7B, more // 2).values())
    )


def test_over_several_nodes_each_holds_the_whole_training_state() -> None:
    stage = PAPER.rl.stages["rl-1"]
    two = stage.model_copy(update={"resources": stage.resources.model_copy(update={"nodes": 2})})
    part = "parameters, gradients, AdamW"
    assert training_parts(two, QWEN_7B, 16)[part] == training_parts(stage, QWEN_7B, 8)[part]
    spread = two.model_copy(update={"verl": {"actor_rollout_ref.actor.fsdp_config.fsdp_size": -1}})
    assert training_parts(spread, QWEN_7B, 16)[part] == training_parts(stage, QWEN_7B, 16)[part]


def test_an_engine_that_does_not_fit_is_named_with_its_setting() -> None:
    big = Shape(8192, 28672, 80, 64, 8, 128, 128256, tied=False, biases=False)
    whole = PAPER.grade.sampling.model_copy(update={"tensor_parallel": 1})
    found, remedy = find_sampling_shortage("grade", whole, big, GPUS["h100"])
    assert "144 GB" in found
    assert "grade.sampling.tensor_parallel" in remedy
    stage = PAPER.rl.stages["rl-1"]
    crowded = stage.model_copy(update={"resources": stage.resources.model_copy(update={"rollout_memory": 0.9})})
    assert "rollout_memory" in find_training_shortage(crowded, QWEN_7B, GPUS["h100"], 8)[1]


def test_a_critic_is_counted_where_nothing_is_offloaded_and_the_reference_of_a_kl_penalty_never() -> None:
    stage = PAPER.rl.stages["rl-1"]
    values = stage.model_dump() | {"advantage": {"estimator": "gae"}}
    values["loss"]["kl_coef"], values["rollout"]["dynamic_sampling"] = 0.01, False
    critic = type(stage).model_validate(values)
    parts, alone = training_parts(critic, QWEN_7B, 8), training_parts(stage, QWEN_7B, 8)
    assert parts.pop("critic") == alone["parameters, gradients, AdamW"]
    assert parts == alone
    found, remedy = find_training_shortage(critic, QWEN_7B, GPUS["h100"], 2)
    assert f"training needs {sum(training_parts(critic, QWEN_7B, 2).values()):.0f} GB per GPU" in found
    assert remedy == "`rl.resources.offload: idle`"
    idle = critic.model_copy(update={"resources": critic.resources.model_copy(update={"offload": "idle"})})
    assert find_training_shortage(idle, QWEN_7B, GPUS["h100"], 2) is None
    _, remedy = find_training_shortage(critic, QWEN_7B, GPUS["h100"], 1)
    assert remedy.startswith("`rl.resources.offload: always` keeps 244 GB in the node's memory (slow), or 4 GPUs")


def test_an_engine_in_single_precision_needs_twice_the_memory() -> None:
    single, half = (sampling_parts(QWEN_7B, split=1, length=4096, dtype=dtype) for dtype in ("float32", "bfloat16"))
    assert single["weights"] == 2 * half["weights"]
    assert single["one sequence"] == 2 * half["one sequence"]


def test_grading_and_evaluation_sample_on_the_engines_that_the_settings_name(tmp_path: Path) -> None:
    def hours(gpus: int, **settings: dict) -> float:
        asked = type(PAPER).model_validate(PAPER.model_dump() | settings)
        found = forecast(asked, Machine(GPUS["h100"], gpus, 16), Known(500_000), tmp_path)
        return next(stage.hours[1] for stage in found.stages if stage.name == "grade")

    one, eight = hours(1), hours(8)
    assert 7.5 < one / eight < 8.1
    assert hours(8, engines={"count": 1}) == one
    nodes = PAPER.model_dump()["rl"]
    for stage in nodes["stages"].values():
        stage["resources"]["nodes"] = 2
    assert hours(16, rl=nodes) == eight, "the engines are on the stage's own node"
    assert hours(16, rl=nodes, engines={"address": "head:6379"}) < eight


def test_a_range_holds_its_middle_and_what_was_measured_narrows_it(tmp_path: Path) -> None:
    machine = Machine(None, 0, 2)
    guessed = forecast(TINY, machine, Known(2000), tmp_path)
    (tmp_path / "metrics").mkdir()
    for name in ("rl-1", "rl-2", "rl-3"):
        metrics = {"response_tokens_first": 14.0, "response_tokens_last": 26.0, "groups_used": 0.6}
        (tmp_path / f"metrics/{name}.json").write_text(json.dumps({"metrics": metrics}))
    (tmp_path / "metrics/grade.json").write_text(json.dumps({"metrics": {"tokens": 14.7}}))
    (tmp_path / "metrics/denoise.json").write_text(json.dumps({"kept": 2012}))
    (tmp_path / "metrics/evaluate.json").write_text(json.dumps({"models": {"base": {"level-1": {"length": 20.0}}}}))
    (tmp_path / "work/times").mkdir(parents=True)
    facts = {"seconds": 93.2, "cpu_seconds": 75.0, "peak_memory_gb": 2.14, "machine": {"cores": 2, "gpus": []}}
    (tmp_path / "work/times/grade.json").write_text(json.dumps(facts))
    known = read_known(tmp_path)
    assert known.rows == 2012
    measured = forecast(TINY, machine, known, tmp_path)
    assert [one.name for one in measured.stages] == ["base", "grade", "rl-1", "rl-2", "rl-3", "evaluate"]
    for one, other in zip(guessed.stages, measured.stages, strict=True):
        assert one.hours[0] <= one.hours[1] <= one.hours[2]
        if one.name != "base":
            assert other.hours[2] / other.hours[0] < one.hours[2] / one.hours[0]
    assert measured.stages[2].responses == round(20 / 0.6 * 256)
    assert {one.source for one in measured.inputs if one.what == "mean response"} == {"measured"}
    [took] = [one for one in measured.inputs if one.what == "the last run here took"]
    assert (took.stage, took.source) == ("grade", "measured")
    assert took.value == "1 min 33 s, 1 min 15 s of CPU time, 2.1 GB of memory on 2 CPU cores"


def test_a_benchmark_has_the_problems_that_the_last_run_counted(tmp_path: Path) -> None:
    collect = TINY.collect.model_copy(update={"benchmarks": [Benchmark(name="own", path="own.jsonl")]})
    settings = TINY.model_copy(update={"collect": collect})
    write_json(tmp_path / "metrics/collect.json", {"metrics": {"benchmarks": {"own": 40}}})
    responses = [
        forecast(settings, Machine(None, 0, 2), replace(known, rows=2000), tmp_path).stages[-1].responses
        for known in (Known(), read_known(tmp_path))
    ]
    assert responses == [4 * 9 * 300, 4 * 9 * 40]


def test_other_prompts_are_sampled_without_greedy_responses(tmp_path: Path) -> None:
    evaluate = TINY.evaluate.model_copy(update={"other_prompts": ["plain", "boxed"]})
    settings = TINY.model_copy(update={"evaluate": evaluate})
    one, several = (forecast(each, Machine(None, 0, 2), Known(2000), tmp_path).stages[-1] for each in (TINY, settings))
    assert (one.responses, several.responses) == (4 * 300 * (8 + 1), 4 * 300 * (3 * 8 + 1))
    assert several.hours[1] > 2 * one.hours[1]


def test_a_measured_length_is_that_of_a_response_whatever_its_benchmark(tmp_path: Path) -> None:
    scores = {
        "long": {"length": 900.0, "problems": 30, "samples": 8},
        "short": {"length": 100.0, "problems": 500, "samples": 8},
        "average": {"length": 500.0, "problems": 530, "samples": 8},
    }
    write_json(tmp_path / "metrics/evaluate.json", {"models": {"base": scores}})
    assert read_known(tmp_path).response["evaluate"] == pytest.approx((900 * 30 + 100 * 500) / 530)


def test_a_benchmark_of_a_small_file_has_as_many_problems_as_the_file_before_any_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    parameters = read_values(ROOT / "profiles/tiny.yaml")
    parameters["collect"]["benchmarks"] = [{"name": "own", "path": "own.jsonl"}, {"name": "gone", "path": "gone.csv"}]
    write_json("params.yaml", parameters)
    Path("own.jsonl").write_text('{"problem": "What is 2 + 2?", "answer": "4"}\n' * 40)
    assert main(["plan", "--rows", "100", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["stages"][-1]["responses"] == 4 * 9 * (40 + 300)


def test_rows_of_the_users_scale_what_the_last_run_of_the_profile_took(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_json("metrics/grade.json", {"metrics": {"graded": 1000}})
    write_json("work/times/grade.json", {"seconds": 60.0, "machine": {"cores": 2, "gpus": []}})
    write_json("work/times/evaluate.json", {"seconds": 30.0, "machine": {"cores": 2, "gpus": []}})

    def taken(ran: str) -> list[str]:
        write_json(".compass/last_run.json", {"settings": {"profile": ran}})
        assert main(["plan", "--params", str(ROOT / "profiles/tiny.yaml"), "--rows", "1500", "--json"]) == 0
        inputs = json.loads(capsys.readouterr().out)["inputs"]
        return [one["value"] for one in inputs if one["what"] == "the last run here took"]

    shown = "1 min 00 s on 2 CPU cores; in proportion 1 min 30 s for 1,500 problems in place of 1,000"
    assert taken("tiny") == [shown, "30 s on 2 CPU cores"]
    assert taken("paper") == []


def test_problems_are_known_before_any_run_by_their_files_or_by_the_limit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.jsonl").write_text('{"problem": "What is 2 + 2?", "answer": "4"}\n' * 40)
    file, hub = {"name": "own", "path": "own.jsonl"}, {"name": "far", "hub": "owner/set", "revision": "main"}
    parameters = read_values(ROOT / "profiles/tiny.yaml")
    parameters["collect"]["generate"] = None
    parameters["collect"]["benchmarks"] = [{"name": "math-500"}]

    def graded(sources: list[dict[str, str]], most: int) -> tuple[str, str]:
        parameters["collect"]["sources"], parameters["grade"]["max_problems"] = sources, most
        write_json("params.yaml", parameters)
        assert main(["plan", "--json"]) == 0
        found = {one["what"]: one for one in json.loads(capsys.readouterr().out)["inputs"]}["problems graded"]
        return found["value"], found["source"]

    assert graded([file], 0) == graded([file], 50) == ("40", "assumed")
    assert graded([file], 30) == graded([file, hub], 30) == ("30", "setting")
    parameters["grade"]["max_problems"] = 0
    write_json("params.yaml", parameters)
    assert main(["plan"]) == 1
    assert "give --rows N" in capsys.readouterr().err


def test_a_model_whose_variable_is_not_set_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("COMPASS_MODEL", raising=False)
    assert main(["plan", "--profile", "words"]) == 0
    shown = capsys.readouterr().out
    assert "policy: not known: base.model is '$COMPASS_MODEL' but COMPASS_MODEL is not set; run `export" in shown
    assert "problems graded: 1,600 (setting)" in shown


def test_plan_prints_stages_inputs_and_cost_and_refuses_what_cannot_fit(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert main(["plan", "--profile", "paper", "--rows", "500000", "--gpu", "h100:8", "--price", "2.5"]) == 0
    shown = capsys.readouterr().out
    assert "3,840,000" in shown  # 64 rollouts of the 60,000 problems that the profile grades
    assert "cost" in shown
    assert "7.62 billion parameters (configuration)" in shown
    assert main(["plan", "--profile", "paper", "--rows", "500000", "--gpu", "rtx4090:1"]) == 1
    assert "Does not fit: rl-1, rl-2, rl-3: training needs 129 GB per GPU" in capsys.readouterr().out
    assert main(["plan", "--profile", "tiny", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["stages"]) == 6


def test_a_stage_takes_the_gpus_that_it_asks_for_and_a_question_is_about_all() -> None:
    node = Machine(GPUS["h100"], 8, 16)
    assert [str(node.take(gpus)) for gpus in (2, 16, 0)] == ["2 x h100", "8 x h100", "16 CPU cores"]
    assert str(replace(node, given=True).take(2)) == "8 x h100"
    assert str(Machine(None, 0, 2).take(2)) == "2 CPU cores"


@pytest.mark.parametrize("machine", [Machine(GPUS["h100"], 8, 16), Machine(None, 0, 2)])
def test_a_critic_a_reference_and_greedy_baselines_take_their_time(machine: Machine, tmp_path: Path) -> None:
    def hours(**groups: dict[str, Any]) -> tuple[float, int]:
        values = PAPER.model_dump(mode="json")
        for stage in values["rl"]["stages"].values():
            for group, own in groups.items():
                stage[group] |= own
        found = forecast(Settings.model_validate(values), machine, Known(500_000), tmp_path)
        (first,) = (stage for stage in found.stages if stage.name == "rl-1")
        return first.hours[1], first.responses

    fixed = {"rollout": {"dynamic_sampling": False, "group_size": 8}}
    (plain, responses), (critic, _), (reference, _), (greedy, more) = (
        hours(**fixed, **own)
        for own in (
            {},
            {"advantage": {"estimator": "gae"}},
            {"loss": {"kl_coef": 0.01}},
            {"advantage": {"estimator": "remax"}},
        )
    )
    assert plain < reference < critic
    assert plain < greedy
    assert more == pytest.approx(responses * 9 / 8, rel=1e-3)


def test_the_paper_takes_hours_on_the_node_that_it_asks_for(tmp_path: Path) -> None:
    found = forecast(PAPER, Machine(GPUS["h100"], 8, 16), Known(500_000), tmp_path)
    hours = {stage.name: stage.hours for stage in found.stages}
    assert hours["grade"][1] < 10
    assert sum(middle for _, middle, _ in hours.values()) < 24
    assert sum(high for _, _, high in hours.values()) < 36
    assert found.shortages == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--profile", "paper", "--rows", "9", "--gpu", "h1000"], "did you mean"),
        (["--profile", "paper", "--rows", "9", "--gpu", "h100:0"], "number of GPUs"),
        (["--profile", "paper", "--params", "params.yaml"], "not both"),
    ],
)
def test_what_plan_cannot_use_is_said(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert main(["plan", *arguments]) == 1
    assert message in capsys.readouterr().err


def test_gpus_are_parsed_and_found_as_nvidia_smi_shows_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert parse_gpus("A100:4") == (GPUS["a100"], 4)
    with pytest.raises(UserError):
        parse_gpus("tpu")
    script = tmp_path / "nvidia-smi"
    script.write_text("#!/bin/sh\necho 'NVIDIA GeForce RTX 4090, 24564'\necho 'NVIDIA GeForce RTX 4090, 24564'\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    gpu, count = find_gpus()
    assert (gpu.name, count, round(gpu.memory_gb)) == ("rtx4090", 2, 26)
    monkeypatch.setattr(machine_checks, "count_visible_gpus", lambda: 8)
    script.write_text("#!/bin/sh\nfor n in 1 2 3 4 5 6 7 8; do echo 'NVIDIA GeForce RTX 4090, 24564'; done\n")
    found = [one for one in machine_checks.find_machine_problems(PAPER, tmp_path) if one.where == "rl.resources"]
    assert "while it samples" in found[0].found
    assert "offload: idle" in found[0].remedy
    one_gpu = {
        name: stage.model_copy(update={"resources": stage.resources.model_copy(update={"gpus": 1})})
        for name, stage in PAPER.rl.stages.items()
    }
    alone = PAPER.model_copy(update={"rl": PAPER.rl.model_copy(update={"stages": one_gpu})})
    found = [one for one in machine_checks.find_machine_problems(alone, tmp_path) if one.where == "rl.resources"]
    assert [one.level for one in found] == ["problem"]
    assert "training needs 129 GB" in found[0].found
    config = {"hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4, "vocab_size": 152064}  # fmt: skip
    with pytest.raises(StartError, match="rl-1: training needs 129 GB"):
        check_memory("rl-1", one_gpu["rl-1"], config)


@pytest.mark.parametrize(
    ("shown", "name"),
    [
        ("NVIDIA L4", "l4"),
        ("NVIDIA L40S", "l40s"),
        ("NVIDIA L40", None),
        ("NVIDIA A100-SXM4-80GB", "a100"),
        ("NVIDIA H100 80GB HBM3", "h100"),
        ("NVIDIA H200", "h200"),
        ("NVIDIA GeForce RTX 3090 Ti", "rtx3090"),
    ],
)
def test_a_gpu_is_known_by_a_whole_word(
    shown: str, name: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "nvidia-smi"
    script.write_text(f"#!/bin/sh\necho '{shown}, 24564'\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    found = find_gpus()
    assert (found and found[0].name) == name


def test_an_evaluation_until_a_verdict_takes_between_its_first_round_and_its_last() -> None:
    plain = forecast(TINY, Machine(None, 0, 2), Known(1_000), ROOT).stages[-1]
    asked = TINY.evaluate.model_copy(update={"until": "verdict", "at_most": 64})
    rounds = forecast(TINY.model_copy(update={"evaluate": asked}), Machine(None, 0, 2), Known(1_000), ROOT)
    last = rounds.stages[-1]
    assert last.name == "evaluate"
    # Half of 56 more samples for two models of 300 problems each.
    assert last.responses == plain.responses + 300 * 56
    assert last.hours[0] == pytest.approx(plain.hours[0])
    assert last.hours[2] > plain.hours[2] * 2
    assert any(one.what == "samples until a verdict" for one in rounds.inputs)
