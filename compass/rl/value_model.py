"""A value model of a policy's weights: how verl loads one, without flash-attention and with the same head for the same seed.

verl's own loader asks for flash-attention, which a CPU lacks and which on GPUs has to be compiled, whatever its configuration says, and
draws the head's first weights from a generator that nothing seeds.
"""

from __future__ import annotations

from typing import Any


def load_value_model(local_path: str, torch_dtype: Any, model_config: Any, trust_remote_code: bool) -> Any:
    """The weights of a language model without its output layer, and a head of one number per token.

    Args:
        local_path: the language model's folder.
        torch_dtype: the type of its parameters.
        model_config: transformers' configuration, with the attention to use, one label and `value_head_seed`.
        trust_remote_code: run code that comes with the model.
    """
    import torch
    from transformers import AutoModelForTokenClassification

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(model_config.value_head_seed)
        return AutoModelForTokenClassification.from_pretrained(
            local_path, dtype=torch_dtype, config=model_config, trust_remote_code=trust_remote_code
        )


def replace_loader() -> None:
    """Have verl load value models in this way; it looks the function up when it makes one."""
    import verl.utils.model

    verl.utils.model.load_valuehead_model = load_value_model
