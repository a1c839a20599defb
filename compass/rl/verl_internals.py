"""What the project uses of verl 0.9.1, Ray and vLLM that is no public interface of theirs, in one list.

verl offers no hooks where a stage has to look (between an update and its checkpoint, at a finished group, at a group's engine), so that its
private methods are overridden or called, and a few functions are replaced. Their versions are pinned (requirements/). Before another version:
`tests/rl/test_verl_internals.py` compares each name here and its parameters with what is installed, and this list with the code.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Internal:
    """One private name.

    Attributes:
        where: `module:name`, dots inside a class.
        takes: its parameters' names, without `self`; None for what is no function.
        user: who overrides, calls or replaces it, `module:name`.
        why: what is different because of it.
    """

    where: str
    takes: tuple[str, ...] | None
    user: str
    why: str


_TRAINER = "verl.trainer.ppo.v1.trainer_sync:PPOTrainerSync."
_BUFFER = "verl.trainer.ppo.v1.replay_buffer:ReplayBuffer."
_CLIENT = "verl.workers.rollout.llm_server:LLMServerClient."
_STAGE, _SAMPLER = "compass.rl.stage_trainer:StageTrainer", "compass.rl.dynamic_sampling:GroupSampler"
_BATCH = ("batch", "metrics")
_PHASE = "reports the phase to the process that watches"

OVERRIDDEN = (
    Internal(
        f"{_TRAINER}_fetch_one_gen_batch",
        (),
        _STAGE,
        "says how often an iteration had a problem before: another seed per response",
    ),
    Internal(
        f"{_TRAINER}_compute_old_log_prob",
        _BATCH,
        _STAGE,
        f"{_PHASE}; with bypass compares a few responses all the same",
    ),
    Internal(f"{_TRAINER}_compute_ref_log_prob", _BATCH, _STAGE, _PHASE),
    Internal(f"{_TRAINER}_compute_values", _BATCH, _STAGE, _PHASE),
    Internal(f"{_TRAINER}_compute_advantage", _BATCH, _STAGE, f"{_PHASE}; gives ReMax its greedy rewards"),
    Internal(f"{_TRAINER}_update_critic", _BATCH, _STAGE, _PHASE),
    Internal(f"{_TRAINER}_update_actor", _BATCH, _STAGE, f"{_PHASE}; names the metrics of an iteration with one pass"),
    Internal(
        f"{_TRAINER}_save_checkpoint",
        (),
        _STAGE,
        "writes an iteration's metrics before its checkpoint: a kill in between loses none",
    ),
    Internal(
        f"{_TRAINER}_balance_batch",
        (*_BATCH, "logging_prefix", "keep_minibatch"),
        _STAGE,
        "keeps groups together on one rank, where there is nothing to balance",
    ),
    Internal(
        f"{_BUFFER}_terminal_eviction_reasons",
        ("global_steps", "partition_id"),
        _SAMPLER,
        "counts a group as failed also where some of its responses were made",
    ),
    Internal(
        f"{_BUFFER}_evict_terminal_groups",
        ("global_steps", "partition_id", "eviction_reasons"),
        _SAMPLER,
        "records finished groups, bounds failed and thrown-away ones, replaces one by one",
    ),
    Internal(
        f"{_BUFFER}_materialize_batch",
        ("partition_id", "selected_prompt_uids", "partition_snapshot"),
        _SAMPLER,
        "remembers which groups train, and puts them in the order of the data",
    ),
    Internal(
        "verl.workers.engine.fsdp.transformer_impl:FSDPEngine._build_lora_module",
        ("module",),
        "compass.rl.cpu.engine:SharedPromptEngine",
        "LoRA's first matrices by the run's seed",
    ),
    Internal(
        "verl.workers.engine.fsdp.transformer_impl:FSDPEngine._merged_lora_per_tensor_param",
        (),
        "compass.rl.cpu.engine:SharedPromptEngine",
        "merged weights in single precision, where verl's are rounded to bfloat16",
    ),
    Internal(
        "verl.trainer.ppo.v1.agent_loop_tq:AgentLoopWorkerTQ._run_prompt",
        ("prompt", "sampling_params", "trajectory", "trace"),
        "compass.rl.agent_loop:ScoringWorker",
        "samples, scores and stores a whole group at once",
    ),
)
"""Private methods that a class of the project has in the place of verl's; each calls verl's own unless `why` says what it does instead."""

CALLED = (
    Internal(
        f"{_TRAINER}_compute_metrics",
        ("batch", "metrics", "timing_raw", "global_steps", "epoch"),
        _STAGE,
        "the metrics that verl will log, before the checkpoint",
    ),
    Internal(
        f"{_TRAINER}_get_required_batch_multiple", ("dp_size",), _STAGE, "padding, where the batch is not balanced"
    ),
    Internal(
        f"{_CLIENT}_acquire_server",
        ("request_id", "extra"),
        "compass.rl.agent_loop:GroupLoop",
        "one engine for a group",
    ),
    Internal(
        f"{_CLIENT}_release_server",
        ("server_id", "request_id"),
        "compass.rl.agent_loop:GroupLoop",
        "gives the engine back",
    ),
    Internal(
        "verl.workers.engine.fsdp.transformer_impl:FSDPEngine._autocast_dtype",
        None,
        "compass.rl.cpu.engine:SharedPromptEngine",
        "the compute type of a pass",
    ),
    Internal(
        "ray._private.state:available_resources_per_node",
        (),
        "compass.rl.cluster:await_cluster",
        "Ray's public functions give totals alone; verl asks this way",
    ),
    Internal(
        "ray._private.state:actors",
        ("actor_id", "job_id", "actor_state_name"),
        "compass.rl.trainer_watch:ClusterWatch",
        "Ray's public function asks the dashboard, which a cluster may lack",
    ),
)
"""What is called as it is."""

REPLACED = (
    Internal(
        "verl.utils.model:load_valuehead_model",
        ("local_path", "torch_dtype", "model_config", "trust_remote_code"),
        "compass.rl.weights:replace_loader",
        "critics without flash-attention, with the same head for the same seed",
    ),
    Internal(
        "verl.utils.torch_functional:logprobs_from_logits_v2",
        ("logits", "labels"),
        "compass.rl.cpu.patches:take_log_probabilities_in_blocks",
        "log-probabilities in blocks, not token by token",
    ),
    Internal(
        "vllm.model_executor.layers.utils:dispatch_cpu_unquantized_gemm",
        ("layer", "remove_weight"),
        "compass.rl.cpu.rollout:keep_plain_weights",
        "linear layers read weights that an update changes",
    ),
    Internal(
        "vllm.v1.sample.ops.topk_topp_sampler:compiled_random_sample",
        ("logits",),
        "compass.rl.cpu.rollout:draw_by_gumbel_noise",
        "draws without a compiler",
    ),
    Internal(
        "vllm.v1.sample.ops.topk_topp_sampler:TopKTopPSampler.forward_cpu",
        ("logits", "generators", "k", "p"),
        "compass.rl.cpu.rollout:draw_from_each_seed",
        "each response keeps its seed next to one that has none",
    ),
)
"""Functions that the project puts one of its own in the place of, in processes of a stage alone; all but the first on the CPU."""
