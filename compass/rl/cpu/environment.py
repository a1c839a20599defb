"""Environment variables of the trainer and of every process that it starts, on the CPU."""

from __future__ import annotations

from collections.abc import Mapping

from compass.machine import cores

FIXED = {
    "VERL_PLATFORM": "cpu",
    "VERL_USE_EXTERNAL_MODULES": "compass.rl.cpu.plugin",
    "VERL_ENGINE_DEVICE": "cuda",  # the FSDP engine is registered under this name
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",  # else vLLM makes a worker process of "uni", and both sides wait spinning
    "RAY_worker_niceness": "0",  # Ray's default of 15 starves training beside any other work
    # vLLM marks two functions of its sampler with torch.compile even in eager mode. torch would build them with g++ and
    # Python's headers, which a small system lacks, for longer than the first iterations of a small policy take.
    "TORCH_COMPILE_DISABLE": "1",
}
"""Variables that training on the CPU cannot do without."""

CACHE = "VLLM_CPU_KVCACHE_SPACE"
"""vLLM's variable for the GiB of its key-value cache; no argument of the engine says it on a CPU."""

WORKERS = (*FIXED, CACHE, "TQ_NUM_THREADS", "TQ_CLIENT_ZMQ_IO_THREADS")
"""Names of those that a worker on a running Ray cluster is given."""


def environment(given: Mapping[str, str], ranks: int = 1, cache_gib: int = 1) -> dict[str, str]:
    """`given` with what training on the CPU needs; how OpenMP and TransferQueue use the cores only where `given` does not say.

    Args:
        given: the variables of the stage's own process.
        ranks: trainer ranks on this machine, which share its cores.
        cache_gib: GiB of a rollout engine's key-value cache.
    """
    threads = {
        "OMP_NUM_THREADS": str(max(1, cores() // ranks)),  # Ray would give each process one
        "OMP_WAIT_POLICY": "PASSIVE",  # waiting threads would take the cores from the other processes
        # TransferQueue would take eight of each, and where there are fewer cores write a line into the log at every access
        "TQ_NUM_THREADS": str(cores()),
        "TQ_CLIENT_ZMQ_IO_THREADS": "1",
    }
    return {**threads, **given, **FIXED, CACHE: str(cache_gib)}
