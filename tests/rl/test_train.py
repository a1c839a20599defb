"""The trainer's process: what it checks, what Ray is started with, and what is ended after it."""

import socket
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from compass.errors import UserError
from compass.rl import weights
from compass.rl.guards.findings import GuardError, read_findings

CONFIG = """
transfer_queue: {{backend: {{SimpleStorage: {{num_data_storage_units: 1}}}}}}
trainer: {{device: {device}, nnodes: 1, n_gpus_per_node: 1, v1: {{trainer_mode: sync, sampler: {{sampler_kwargs: {{watch: {{
  lost: work/lost.txt, findings: {findings}, guards: {{reward_canary: {{level: {canary}}}}}}}}}}}}}}}
critic: {{enable: {critic}}}
actor_rollout_ref: {{model: {{path: models/base}}}}
ray_kwargs: {{ray_init: {{address: {address}, num_cpus: 3, runtime_env: {{working_dir: here}}}}}}
"""


class Trainer:
    """Stand-ins for verl and Ray that write down what they are asked."""

    def __init__(self, library: Any, load: Any, folder: Path) -> None:
        self.calls: list[Any] = []
        self.fails = False
        self.address = "local"
        self.cluster = {"CPU": 6.0, "GPU": 1.0}
        self.folder = folder
        library(
            "ray",
            init=self.init,
            shutdown=lambda: self.calls.append("shutdown"),
        )
        library("ray._private.state", available_resources_per_node=lambda: {"node": self.cluster})
        library("verl.trainer.constants_ppo", get_ppo_ray_runtime_env=lambda config: {"env_vars": {"VERL": "1"}})
        library("verl.trainer.main_ppo", TaskRunnerV1=SimpleNamespace(__ray_actor_class__=lambda: self))
        library("verl.trainer.ppo.utils", need_critic=lambda config: "c", need_reference_policy=lambda config: "r")
        library("verl.utils.config", validate_config=lambda **named: self.calls.append(("validate", named)))
        library("transformers", AutoTokenizer=SimpleNamespace(from_pretrained=lambda path: f"tokenizer of {path}"))
        library("compass.rl.reward_canary", reward_canary=self.reward_canary)
        self.registry: dict[str, Any] = {"sync": "verl's"}
        library("verl.trainer.ppo.v1.trainer_base", TRAINER_REGISTRY=self.registry)
        library("compass.rl.stage_trainer", StageTrainer="ours")
        self.estimators: dict[str, Any] = {}
        library("verl.trainer.ppo.core_algos", register_adv_est=lambda name: partial(self.estimators.__setitem__, name))
        self.verls_model = library("verl.utils.model", load_valuehead_model="verl's")
        self.replicas: dict[str, Any] = {}
        register = SimpleNamespace(register=lambda name, loader: self.replicas.update({name: loader()}))
        library("verl.workers.rollout.replica", RolloutReplicaRegistry=register)
        library("compass.rl.agent_loop", GroupReplica="our replica")
        self.wrong: str | None = None
        self.train = load("compass.rl.train")

    def init(self, **options: Any) -> None:
        self.calls.append(("init", options))

    def reward_canary(self, config: Any, tokenizer: Any) -> str | None:
        self.calls.append(tokenizer)
        return self.wrong

    def run(self, config: Any) -> None:
        assert self.registry == {"sync": "ours"}
        assert list(self.estimators) == ["remax_greedy_baseline"]
        assert self.replicas == {"vllm": "our replica"}
        self.calls.append("run")
        if self.fails:
            raise RuntimeError("out of memory")

    def main(self, device: str, canary: str = "stop", critic: bool = False) -> list[Any]:
        path = self.folder / "verl.yaml"
        findings = self.folder / "guards.jsonl"
        options = {"device": device, "address": self.address, "canary": canary, "critic": str(critic).lower()}
        path.write_text(CONFIG.format(findings=findings, **options))
        self.train.main(str(path))
        return self.calls


@pytest.fixture
def trainer(library: Any, load: Any, tmp_path: Path) -> Trainer:
    return Trainer(library, load, tmp_path)


def test_it_checks_before_ray_starts_and_ends_ray_after_training(trainer: Trainer) -> None:
    (validate, named), tokenizer, (init, options), *rest = trainer.main("cuda")
    assert (validate, named["use_critic"], named["use_reference_policy"]) == ("validate", "c", "r")
    assert named["config"].trainer.device == "cuda"
    assert tokenizer == "tokenizer of models/base"
    assert init == "init"
    environment = {"VERL": "1", "TRANSFER_QUEUE_ENABLE": "1"}
    assert options == {
        "address": "local",
        "num_cpus": 3,
        "runtime_env": {"working_dir": "here", "env_vars": environment},
    }
    assert rest == ["run", "shutdown"]


def test_a_cluster_that_is_too_small_is_told_where_verl_would_wait_for_ever(
    trainer: Trainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer.cluster = {"CPU": 5.0, "GPU": 1.0}
    monkeypatch.setattr("compass.rl.cluster.time", SimpleNamespace(monotonic=iter([0.0, 99.0]).__next__))
    with pytest.raises(UserError, match="the Ray cluster has 5 CPUs free and the stage needs 6: "):
        trainer.main("cuda")
    assert "run" not in trainer.calls
    assert trainer.calls[-1] == "shutdown"


def test_a_wrong_reward_stops_the_run_before_ray_starts_and_ray_ends_when_training_fails(trainer: Trainer) -> None:
    trainer.wrong = "the response 'x' got the reward +1, expected -1"
    with pytest.raises(GuardError, match=r"expected -1\. \(guard `rl\.guards\.reward_canary`"):
        trainer.main("cuda")
    assert trainer.calls[-1] == "tokenizer of models/base"
    assert read_findings(trainer.folder / "guards.jsonl")[0]["level"] == "stop"
    trainer.wrong, trainer.fails = None, True
    with pytest.raises(RuntimeError, match="out of memory"):
        trainer.main("cuda")
    assert trainer.calls[-2:] == ["run", "shutdown"]


@pytest.mark.parametrize(("level", "sent", "findings"), [("warn", True, 1), ("'off'", False, 0)])
def test_a_wrong_reward_may_be_told_and_trained_on_or_not_looked_for(
    trainer: Trainer, level: str, sent: bool, findings: int
) -> None:
    trainer.wrong = "the response 'x' got the reward +1, expected -1"
    calls = trainer.main("cuda", canary=level)
    assert ("tokenizer of models/base" in calls) is sent
    assert calls[-2:] == ["run", "shutdown"]
    assert len(read_findings(trainer.folder / "guards.jsonl")) == findings


def test_with_a_critic_every_process_on_gpus_loads_value_models_as_the_project_does(trainer: Trainer) -> None:
    trainer.main("cuda")
    assert trainer.verls_model.load_valuehead_model == "verl's"
    *_, (_, options), _, _ = trainer.main("cuda", critic=True)[4:]
    assert options["runtime_env"]["env_vars"]["VERL_USE_EXTERNAL_MODULES"] == "compass.rl.gpu.plugin"
    assert trainer.verls_model.load_valuehead_model is weights.load_value_model


@pytest.mark.parametrize("critic", [False, True])
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_a_running_cluster_starts_its_workers_itself_with_the_code_and_the_variables_that_they_need(
    trainer: Trainer, monkeypatch: pytest.MonkeyPatch, library: Any, device: str, critic: bool
) -> None:
    def no_such_actor(name: str, namespace: str) -> None:
        raise ValueError(name)

    with socket.socket() as head:
        head.bind(("127.0.0.1", 0))
        head.listen()
        trainer.address = f"127.0.0.1:{head.getsockname()[1]}"
        monkeypatch.setenv("VERL_PLATFORM", "as the device needs it")
        monkeypatch.setenv("VERL_USE_EXTERNAL_MODULES", "the CPU's patches")
        monkeypatch.setenv("DO_NOT_TRACK", "1")
        watched: list[Path] = []
        library("ray", get_actor=no_such_actor)
        trainer.train.ClusterWatch = lambda lost: nullcontext(watched.append(lost))
        _, _, (_, options), *rest = trainer.main(device, critic=critic)
    assert rest == ["run", "shutdown"]
    assert watched == [Path("work/lost.txt")]
    assert options["address"] == trainer.address
    environment = options["runtime_env"]["env_vars"]
    assert "py_executable" not in options["runtime_env"]
    assert environment["PYTHONPATH"].startswith(str(Path(__file__).parents[2]))
    assert environment["DO_NOT_TRACK"] == "1"
    assert environment.get("VERL_PLATFORM") == ("as the device needs it" if device == "cpu" else None)
    modules = {"cpu": "the CPU's patches", "cuda": "compass.rl.gpu.plugin" if critic else None}
    assert environment.get("VERL_USE_EXTERNAL_MODULES") == modules[device]
