"""verl's FSDP engine for a CPU: each prompt of a pass once, and logits for sampled tokens alone (`compass.rl.cpu.shared_prompts`).

verl imports this module in its workers (`actor_rollout_ref.model.external_lib`), and finds the engine by the platform's vendor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import torch
from tensordict import TensorDict
from torch.distributed.tensor import DTensor
from verl.utils import tensordict_utils
from verl.utils.fsdp_utils import merged_lora_context, normalize_peft_param_name
from verl.utils.torch_functional import entropy_from_logits
from verl.workers.engine.base import EngineRegistry
from verl.workers.engine.fsdp.transformer_impl import FSDPEngineWithLMHead
from verl.workers.engine.utils import detach_tree

from compass.rl.cpu.patches import log_probabilities
from compass.rl.cpu.shared_prompts import SharedRows, by_prompt, can_share, logits_only_at, share_prompts

OTHER_OUTPUTS = ("calculate_sum_pi_squared", "distillation_use_topk", "distillation_only")
"""What verl can ask a pass for besides log-probabilities and entropy: it needs verl's own pass."""


@EngineRegistry.register(model_type="language_model", backend=["fsdp", "fsdp2"], device="cuda", vendor="cpu")
class SharedPromptEngine(FSDPEngineWithLMHead):
    """verl's engine of the policy and its reference, with less computed in a pass. Results are the same to rounding."""

    def forward_backward_batch(
        self, data: TensorDict, loss_function: Callable | None, forward_only: bool = False
    ) -> dict[str, Any]:
        """Cut a batch into passes with a prompt's responses side by side; see the base class."""
        if not self._can_share(data):
            return super().forward_backward_batch(data, loss_function, forward_only)
        order = by_prompt(data["prompts"].unbind())
        ordered = tensordict_utils.index_select_tensor_dict(data, order)
        result = super().forward_backward_batch(ordered, loss_function, forward_only)
        result["model_output"] = {
            name: _in_order(values.unbind(), order) for name, values in result["model_output"].items()
        }
        return result

    def forward_step(
        self, micro_batch: TensorDict, loss_function: Callable | None, forward_only: bool
    ) -> tuple[torch.Tensor, dict[str, Any]]:
        """One pass: log-probabilities of the sampled tokens, 0 for those of prompts, which verl reads nowhere; then the loss."""
        if not self._can_share(micro_batch):
            return super().forward_step(micro_batch, loss_function, forward_only)
        rows = share_prompts(micro_batch["prompts"].unbind(), micro_batch["responses"].unbind())
        low = self._autocast_dtype != torch.float32
        with torch.autocast("cpu", dtype=self._autocast_dtype) if low else nullcontext():
            model_output = self._outputs(micro_batch, rows)
            loss, metrics = torch.tensor(1.0), {}
            if loss_function is not None:
                loss, metrics = loss_function(
                    model_output=model_output, data=micro_batch, dp_group=self.get_data_parallel_group()
                )
        return loss, {"model_output": detach_tree(model_output), "loss": loss.detach().item(), "metrics": metrics}

    def _build_lora_module(self, module: torch.nn.Module) -> torch.nn.Module:
        """A model with LoRA's matrices, the first ones drawn by the run's seed: verl's own draws them by none."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.engine_config.seed)
            return super()._build_lora_module(module)

    def _merged_lora_per_tensor_param(self) -> Iterator[tuple[str, torch.Tensor]]:
        """The weights with LoRA's matrices merged into them, for the rollouts; verl's own would round them to bfloat16."""
        with merged_lora_context(self.module, backup_adapters=True):
            for name, value in normalize_peft_param_name(self.module.state_dict()).items():
                whole = value.full_tensor() if isinstance(value, DTensor) else value
                yield name, whole.detach().clone()  # what is merged is taken back where the context ends

    def _can_share(self, data: TensorDict) -> bool:
        """Whether a batch is one of prompts with responses, and asks for nothing that only verl's own pass gives."""
        asks = tensordict_utils.get_non_tensor_data
        return (
            all(name in data and data[name].is_nested for name in ("prompts", "responses", "input_ids"))
            and not any(asks(data=data, key=name, default=False) for name in OTHER_OUTPUTS)
            and not asks(data=data, key="use_remove_padding", default=False)
            and can_share(self.module.config)
        )

    def _outputs(self, micro_batch: TensorDict, rows: SharedRows) -> dict[str, torch.Tensor]:
        with logits_only_at(self.module, rows.predicts):
            logits = (
                self.module(
                    input_ids=rows.tokens, attention_mask=rows.mask, position_ids=rows.positions, use_cache=False
                )
                .logits[0]
                .float()
            )  # in bfloat16 an entropy of 0.16 would be off by 0.02 per token
        temperature = micro_batch["temperature"]
        if isinstance(temperature, torch.Tensor):
            logits = logits / temperature.to(torch.float32)[rows.sequences][:, None]
        elif temperature != 1:
            logits = logits / temperature
        values = {"log_probs": log_probabilities(logits, rows.sampled)}
        if tensordict_utils.get_non_tensor_data(data=micro_batch, key="calculate_entropy", default=False):
            values["entropy"] = entropy_from_logits(logits)
        offsets = micro_batch["input_ids"].offsets()
        return {name: _at_places(value, rows.places, offsets) for name, value in values.items()}


def _at_places(values: torch.Tensor, places: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    """Values of sampled tokens as verl's nested tensor over all tokens."""
    whole = torch.zeros(int(offsets[-1]), dtype=values.dtype).index_copy(0, places, values)
    return torch.nested.nested_tensor_from_jagged(whole, offsets)


def _in_order(values: tuple[torch.Tensor, ...], order: list[int]) -> torch.Tensor:
    """Undo `order`."""
    restored: list[torch.Tensor] = [torch.empty(0)] * len(order)
    for place, value in zip(order, values, strict=True):
        restored[place] = value
    return torch.nested.as_nested_tensor(restored, layout=torch.jagged)
