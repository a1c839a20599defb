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
            ({f"rl.resources.{name}": value}, f"`resources.{name}` ({value}) is for GPUs, and `resources.gpus` is 0")
            for name, value in {
                "tensor_parallel": 2,
                "offload": "idle",
                "micro_batch_tokens": 8192,
                "rollout_memory": 0.6,
            }.items()
        ),
        *(
            (
                GPUS | {f"rl.resources.{name}": 2},
                f"`resources.{name}` (2) is for a CPU, and `resources.gpus` is 8; leave it out",
            )
            for name in ("ranks", "micro_batch_size", "kv_cache_gib")
        ),
        (
            GPUS | flattened(resources__tensor_parallel=3),
            "`resources.tensor_parallel` (3) must divide `resources.gpus`",
        ),
        (flattened(resources__gpus=3), "(32 x 8 = 256 responses) must be a multiple of the 3 ranks"),
        (GPUS | flattened(resources__nodes=3), "must be a multiple of the 24 ranks"),
        (flattened(resources__ranks=3, resources__nodes=2), "a multiple of the 6 ranks (`resources.ranks` x `resour"),
        (
            GPUS | flattened(lora__rank=8, resources__dtype="float32"),
            "`resources.dtype: float32` on GPUs conflicts with `lora.rank` (8)",
        ),
        (
            GPUS | flattened(lora__rank=8, resources__dtype="bfloat16", resources__offload="always"),
            "`resources.offload: always` conflicts with `lora.rank` (8)",
        ),
        (flattened(rollout__quantization="fp8"), "`rollout.quantization: fp8` is for GPUs, and `resources.gpus` is 0"),
        (
            GPUS | flattened(rollout__quantization="fp8"),
            "nothing corrects for it; set `rollout.correction: {weights: token}`",
        ),
        (
            GPUS | flattened(rollout__quantization="fp8", rollout__correction__weights="token"),
            "set `guards.agreement: {level: warn}`, or give it a `limit`",
        ),
        (GPUS | flattened(resources__micro_batch_tokens=159), "(159) must hold the longest prompt and response "),
    ],
)
def test_what_the_device_cannot_do_is_refused(changed: Changed, values: dict[str, Any], told: str) -> None:
    with pytest.raises(SettingsError) as error:
        load_settings(changed(values))
    assert "rl.stages.rl-1: " in str(error.value)
    assert told in str(error.value)


@pytest.mark.parametrize("device", [{}, GPUS])
def test_a_nucleus_that_the_trainer_does_not_know_is_refused_on_every_device(
    changed: Changed, device: dict[str, Any]
) -> None:
    with pytest.raises(SettingsError, match=r"rollout\.top_p: must be 1 in training.*found 0\.95"):
        load_settings(changed(device | flattened(rollout__top_p=0.95)))


@pytest.mark.parametrize(
    "values",
    [
        GPUS | flattened(resources__nodes=4, resources__tensor_parallel=8),
        GPUS | flattened(resources__micro_batch_tokens=160, resources__offload="always"),
        GPUS
        | flattened(rollout__quantization="fp8", rollout__correction__weights="token", guards__agreement__level="warn"),
        GPUS
        | flattened(rollout__quantization="fp8", rollout__correction__bypass=True, guards__agreement__level="warn"),
        flattened(resources__kv_cache_gib=4),
    ],
)
def test_what_it_can_is_read(changed: Changed, values: dict[str, Any]) -> None:
    assert load_settings(changed(values)).profile == "tiny"
