"""The CPU as one of verl's platforms (`VERL_PLATFORM=cpu`).

Its rank slots are logical "GPU" tokens of `ray.init(num_gpus=N)`, because verl's resource checks know no other
accelerator.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psutil
import torch
from verl.plugin.platform.platform_base import PlatformBase


def _nothing(*_: Any) -> None:
    """Accelerator calls that mean nothing on a CPU."""


class _CpuDevice(types.ModuleType):
    """`torch.cpu` with the calls of `torch.cuda` that verl makes and `torch.cpu` lacks."""

    def __getattr__(self, name: str) -> Any:
        return getattr(torch.cpu, name)

    is_available = staticmethod(lambda: True)
    device_count = staticmethod(lambda: 1)
    current_device = staticmethod(lambda: "cpu")
    get_device_name = staticmethod(lambda *_: "cpu")
    set_device = synchronize = empty_cache = ipc_collect = staticmethod(_nothing)
    reset_peak_memory_stats = set_per_process_memory_fraction = staticmethod(_nothing)
    memory_allocated = max_memory_allocated = staticmethod(lambda *_: psutil.Process().memory_info().rss)
    memory_reserved = max_memory_reserved = memory_allocated
    get_rng_state = staticmethod(lambda *_: torch.get_rng_state())
    set_rng_state = staticmethod(lambda state, *_: torch.set_rng_state(state))

    @staticmethod
    def mem_get_info(*_: Any) -> tuple[int, int]:
        memory = psutil.virtual_memory()
        return memory.available, memory.total


_DEVICE = _CpuDevice("verl_cpu_device")


class CpuPlatform(PlatformBase):
    """The CPU for verl; chosen by `VERL_PLATFORM=cpu` alone, never detected."""

    device_name = property(lambda self: "cpu")
    vendor_name = property(lambda self: "cpu")
    device_module = property(lambda self: _DEVICE)

    def is_available(self) -> bool:
        return True

    def is_platform_available(self, use_smi_check: bool = False) -> bool:
        return False

    def current_device(self) -> str:
        return "cpu"

    def device_count(self) -> int:
        return 1

    set_device = synchronize = set_allocator_settings = empty_cache = _nothing
    profiler_start = profiler_stop = _nothing

    def manual_seed(self, seed: int) -> None:
        torch.manual_seed(seed)

    def manual_seed_all(self, seed: int) -> None:
        torch.manual_seed(seed)

    def get_device_capability(self, device_index: int = 0) -> tuple[None, None]:
        return None, None

    def communication_backend_name(self) -> str:
        return "gloo"

    def visible_devices_envvar(self) -> str:
        return "CUDA_VISIBLE_DEVICES"

    @contextmanager
    def nvtx_range(self, msg: str) -> Iterator[None]:
        yield

    def ray_resource_name(self) -> str:
        return "GPU"

    def ray_noset_envvars(self) -> list[str]:
        return ["RAY_EXPERIMENTAL_NOSET_CUDA_VISIBLE_DEVICES"]

    def is_ipc_supported(self) -> bool:
        return False

    def rollout_env_vars(self) -> dict[str, str]:
        return {}

    def get_collective_module(self) -> None:
        return None

    def cudart(self) -> None:
        return None
