"""The CPU answers what verl asks of an accelerator. verl's base class is a stand-in."""

from abc import ABC
from typing import Any

import psutil
import pytest
import torch


@pytest.fixture
def platform(library: Any, load: Any) -> Any:
    library("verl.plugin.platform.platform_base", PlatformBase=ABC)
    return load("compass.rl.cpu.platform").CpuPlatform()


@pytest.mark.parametrize("seed", ["manual_seed", "manual_seed_all"])
def test_a_seed_repeats_what_torch_draws(platform: Any, seed: str) -> None:
    getattr(platform, seed)(5)
    first = torch.rand(3)
    getattr(platform, seed)(5)
    assert torch.equal(torch.rand(3), first)


def test_the_device_module_answers_as_torch_cuda_would(platform: Any) -> None:
    device = platform.device_module
    assert device.is_available() is True
    assert device.device_count() == 1
    assert device.current_device() == device.get_device_name(0) == "cpu"
    for call in ("set_device", "synchronize", "empty_cache", "ipc_collect", "reset_peak_memory_stats"):
        assert getattr(device, call)(0) is None
    assert device.set_per_process_memory_fraction(0.5) is None
    assert device.Stream is torch.cpu.Stream  # whatever else is asked is torch.cpu's


def test_the_devices_memory_is_the_machines(platform: Any) -> None:
    device = platform.device_module
    free, total = device.mem_get_info()
    assert total == psutil.virtual_memory().total
    assert 0 < free < total
    for call in ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved"):
        assert 2**20 < getattr(device, call)(0) < total


def test_the_devices_generator_is_torchs(platform: Any) -> None:
    device = platform.device_module
    state = device.get_rng_state(0)
    first = torch.rand(3)
    device.set_rng_state(state, 0)
    assert torch.equal(torch.rand(3), first)
