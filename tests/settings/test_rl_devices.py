"""What of a recipe cannot run on the device that it names."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compass.settings import SettingsError, load_settings

Changed = Callable[[dict[str, Any]], Path]
GPUS = {"rl.resources.gpus": 8}


def flattened(**values: Any) -> dict[str, Any]:
    return {f"rl.{name.replace('__', '.')}": value for name, value in values.items()}


@pytest.mark.parametrize(
    ("values", "told"),
    [
        *(
            (
                {f"rl.resources.{name}": value},
                f"rl.stages.rl-1: `resources.{name}` ({value}) is for GPUs, and `resources.gpus` is 0; leave it out",
            )
            for name, value in [
                ("tensor_parallel", 2),
                ("attention", "flash_attention_2"),
                ("sequence_parallel", 2),
                ("offload", "idle"),
            ]
        ),
        (flattened(rollout__top_p=0.95), "rl.stages.rl-1: `rollout.top_p` (0.95) must be 1 on a CPU"),
        (
            GPUS | flattened(resources__tensor_parallel=3),
            "rl.stages.rl-1: `resources.tensor_parallel` (3) must divide `resources.gpus` (8)",
        ),
        (
            GPUS | flattened(resources__sequence_parallel=3, resources__attention="flash_attention_2"),
            "rl.stages.rl-1: `resources.sequence_parallel` (3) must divide the GPUs of all nodes (8)",
        ),
        (
            GPUS | flattened(resources__sequence_parallel=2),
            "rl.stages.rl-1: `resources.sequence_parallel` (2) needs `resources.attention: flash_attention_2`",
        ),
        (
            flattened(resources__gpus=3),
            "rl.stages.rl-1: `optimizer.mini_batch_size` x `rollout.group_size` (32 x 8 = 256 responses) must be a multiple "
            "of the 3 ranks",
        ),
        (GPUS | flattened(resources__nodes=3), "must be a multiple of the 24 ranks"),
        (
            GPUS | flattened(resources__ranks=2),
            "`resources.ranks` (2) is for CPUs, and `resources.gpus` is 8, each of which is",
        ),
        (
            flattened(resources__ranks=3, resources__nodes=2),
            "(32 x 8 = 256 responses) must be a multiple of the 6 ranks (`resources.ranks` x `resources.nodes`)",
        ),
        (
            GPUS | flattened(resources__micro_batch_tokens=159),
            "rl.stages.rl-1: `resources.micro_batch_tokens` (159) must hold the longest prompt and response "
            "(`data.max_prompt_tokens` + `rollout.max_response_tokens` = 160)",
        ),
    ],
)
def test_what_the_device_cannot_do_is_refused(changed: Changed, values: dict[str, Any], told: str) -> None:
    with pytest.raises(SettingsError) as error:
        load_settings(changed(values))
    assert told in str(error.value)


@pytest.mark.parametrize(
    "values",
    [
        GPUS | flattened(resources__nodes=4, resources__tensor_parallel=8, rollout__top_p=0.95),
        GPUS | flattened(resources__micro_batch_tokens=160, resources__offload="always"),
        GPUS
        | flattened(
            resources__nodes=3,
            resources__sequence_parallel=3,
            resources__attention="flash_attention_2",
            resources__micro_batch_tokens=54,  # three GPUs share a sequence of 160
        ),
        flattened(resources__micro_batch_tokens=1),  # of no meaning on a CPU
    ],
)
def test_what_it_can_is_read(changed: Changed, values: dict[str, Any]) -> None:
    assert load_settings(changed(values)).profile == "tiny"
