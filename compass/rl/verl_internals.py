"""What the project uses of verl 0.9.1, Ray and vLLM that is no public interface of theirs, in one list.

verl offers no hooks where a stage has to look (between an update and its checkpoint, at a finished group, at a group's engine), so that its
private methods are overridden or called, and a few functions are replaced. Their versions are pinned (requirements/). Before another version:
`tests/rl/test_verl_internals.py` compares each name here and its parameters with what is installed, and this list with the code.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Internal:
    """One private name that is called or replaced.

    Attributes:
        where: `module:name`, dots inside a class.
        takes: its parameters' names, without `self`; None for what is no function.
        user: who calls or replaces it, `module:name`.
        why: what is different because of it.
    """

    where: str
    takes: tuple[str, ...] | None
    user: str
    why: str


_TRAINER = "verl.trainer.ppo.v1.trainer_sync:PPOTrainerSync."
_CLIENT = "verl.workers.rollout.llm_server:LLMServerClient."
_STAGE = "compass.rl.stage_trainer:StageTrainer"
_PHASE = "reports the phase to the process that watches"

OVERRIDDEN = {
    "compass.rl.stage_trainer:StageTrainer": {
        "_fetch_one_gen_batch": "says how often an iteration had a problem before: another seed per response",
        "_compute_old_log_prob": f"{_PHASE}; with bypass compares a few responses all the same",
        "_compute_ref_log_prob": _PHASE,
        "_compute_values": _PHASE,
        "_compute_advantage": f"{_PHASE}; gives ReMax its greedy rewards",
        "_update_critic": _PHASE,
        "_update_actor": f"{_PHASE}; names the metrics of an iteration with one pass",
        "_save_checkpoint": "writes an iteration's metrics before its checkpoint: a kill in between loses none",
        "_balance_batch": "keeps groups together on one rank, where there is nothing to balance",
    },
    "compass.rl.dynamic_sampling:GroupSampler": {
        "_terminal_eviction_reasons": "counts a group as failed also where some of its responses were made",
        "_evict_terminal_groups": "records finished groups, bounds failed and thrown-away ones, replaces one by one",
        "_materialize_batch": "remembers which groups train, and puts them in the order of the data",
    },
    "compass.rl.cpu.engine:SharedPromptEngine": {
        "_build_lora_module": "LoRA's first matrices by the run's seed",
        "_merged_lora_per_tensor_param": "merged weights in single precision, where verl's are rounded to bfloat16",
    },
    "compass.rl.agent_loop:ScoringWorker": {"_run_prompt": "samples, scores and stores a whole group at once"},
    "compass.rl.agent_loop:GroupLoop": {},
}
"""The project's subclasses of verl's classes, and which private methods they have in the place of verl's, why; each calls verl's own unless
it says what it does instead, and takes the same parameters."""

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
        "ray._private.state:next_job_id",
        (),
        "compass.rl.cluster:start",
        "a number of its own for the job of each cluster, by which verl names sockets that all runs on a machine share",
    ),
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
"""Functions that the project puts one of its own in the place of, in processes of a stage alone; all but the first two on the CPU."""
