"""What of a recipe cannot run on the hardware that it names; verl would tell after minutes, if at all."""

from __future__ import annotations

from compass.settings.recipe import Recipe, Resources

GPU_ALONE = (
    "trainer",
    "rollout_engine",
    "pipeline_parallel",
    "tensor_parallel",
    "attention",
    "sequence_parallel",
    "offload",
)
"""Fields of `resources` that mean nothing on a CPU, where each has to keep its default."""

PRODUCT = {
    "fsdp2": "`resources.gpus` x `resources.nodes` / `resources.sequence_parallel`",
    "megatron": "`resources.gpus` x `resources.nodes` / `resources.tensor_parallel` / `resources.pipeline_parallel`",
}
"""What makes the number of ranks, by trainer."""


def check_device(recipe: Recipe) -> None:
    """Check a stage's recipe against the device that its `resources` name.

    Raises:
        ValueError: they contradict each other; the message names the settings and what to change.
    """
    if recipe.resources.gpus == 0:
        _check_cpu(recipe)
    else:
        _check_gpus(recipe)


def _check_cpu(recipe: Recipe) -> None:
    for name in GPU_ALONE:
        value = getattr(recipe.resources, name)
        if value != Resources.model_fields[name].default:
            raise ValueError(
                f"`resources.{name}` ({value}) is for GPUs, and `resources.gpus` is 0; leave it out, or name the GPUs"
            )
    ranks = recipe.resources.ranks * recipe.resources.nodes
    _check_shares(recipe, ranks, "`resources.ranks` x `resources.nodes`")
    if recipe.rollout.top_p < 1:
        raise ValueError(
            f"`rollout.top_p` ({recipe.rollout.top_p:g}) must be 1 on a CPU: vLLM gives probabilities among the tokens that "
            "top-p leaves, the trainer among all, and the check that both have the same weights would stop the stage"
        )


def _check_shares(recipe: Recipe, ranks: int, product: str) -> None:
    """Each rank takes the same number of an update's responses."""
    mini_batch, group = recipe.optimizer.mini_batch_size, recipe.rollout.group_size
    if mini_batch * group % ranks:
        raise ValueError(
            f"`optimizer.mini_batch_size` x `rollout.group_size` ({mini_batch} x {group} = {mini_batch * group} responses) "
            f"must be a multiple of the {ranks} ranks ({product})"
        )


def _check_gpus(recipe: Recipe) -> None:
    resources = recipe.resources
    if resources.ranks != 1:
        raise ValueError(
            f"`resources.ranks` ({resources.ranks}) is for CPUs, and `resources.gpus` is {resources.gpus}, each of which is a "
            "rank; leave it out"
        )
    if resources.gpus % resources.tensor_parallel:
        raise ValueError(
            f"`resources.tensor_parallel` ({resources.tensor_parallel}) must divide `resources.gpus` ({resources.gpus})"
        )
    _check_engines(recipe)
    gpus = resources.gpus * resources.nodes
    if gpus % resources.sequence_parallel:
        raise ValueError(
            f"`resources.sequence_parallel` ({resources.sequence_parallel}) must divide the GPUs of all nodes ({gpus})"
        )
    if resources.sequence_parallel > 1 and resources.attention != "flash_attention_2":
        raise ValueError(
            f"`resources.sequence_parallel` ({resources.sequence_parallel}) needs `resources.attention: flash_attention_2`: "
            "with another, verl would let no part of a sequence see the others"
        )
    model_parallel = resources.pipeline_parallel * (resources.tensor_parallel if resources.trainer == "megatron" else 1)
    if gpus % model_parallel:
        raise ValueError(
            f"`resources.tensor_parallel` x `resources.pipeline_parallel` ({model_parallel}) must divide the GPUs of all nodes ({gpus})"
        )
    ranks = gpus // resources.sequence_parallel // model_parallel
    _check_shares(recipe, ranks, PRODUCT[resources.trainer])
    longest = recipe.data.max_prompt_tokens + recipe.rollout.max_response_tokens
    most = resources.micro_batch_tokens * resources.sequence_parallel
    if most < longest:
        raise ValueError(
            f"`resources.micro_batch_tokens` ({resources.micro_batch_tokens}) must hold the longest prompt and response "
            f"(`data.max_prompt_tokens` + `rollout.max_response_tokens` = {longest}"
            + (f", shared by {resources.sequence_parallel} GPUs)" if resources.sequence_parallel > 1 else ")")
        )


def _check_engines(recipe: Recipe) -> None:
    """What is offered with FSDP2 and vLLM alone."""
    resources, estimator = recipe.resources, recipe.advantage.estimator
    if resources.trainer == "megatron":
        for name, value, needed in (
            ("resources.sequence_parallel", resources.sequence_parallel, 1),
            ("resources.dtype", resources.dtype, "bfloat16"),
            ("optimizer.cycles", recipe.optimizer.cycles, 0.5),
            ("optimizer.zero_indexed", recipe.optimizer.zero_indexed, True),
            ("checkpoint.carry_optimizer", recipe.checkpoint.carry_optimizer, False),
            ("checkpoint.keep_optimizer", recipe.checkpoint.keep_optimizer, False),
        ):
            if value != needed:
                raise ValueError(f"`{name}` ({value}) must be {needed} with `resources.trainer: megatron`")
        if resources.offload == "always":
            raise ValueError(
                "`resources.offload: always` is FSDP2's; with `resources.trainer: megatron` set `idle` or `none`"
            )
        if estimator == "gae":
            raise ValueError(
                "`advantage.estimator: gae` trains a critic, which is offered with `resources.trainer: fsdp2` alone"
            )
    elif resources.pipeline_parallel > 1:
        raise ValueError(
            f"`resources.pipeline_parallel` ({resources.pipeline_parallel}) needs `resources.trainer: megatron`"
        )
    if resources.rollout_engine == "sglang":
        for name, used in (
            ("rollout.reproducible", recipe.rollout.reproducible),
            ("advantage.estimator: remax", estimator == "remax"),
        ):
            if used:
                raise ValueError(
                    f"`{name}` needs `resources.rollout_engine: vllm`: the project samples so through vLLM alone"
                )
