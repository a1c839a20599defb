"""The trainer's environment on the CPU."""

from compass.machine import cores
from compass.rl.cpu.environment import environment

NEEDED = {
    "VERL_PLATFORM": "cpu",
    "VERL_USE_EXTERNAL_MODULES": "compass.rl.cpu.plugin",
    "VERL_ENGINE_DEVICE": "cuda",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "RAY_worker_niceness": "0",
    "TORCH_COMPILE_DISABLE": "1",
}


def test_verl_vllm_and_ray_are_told_of_the_cpu_and_openmp_of_its_cores() -> None:
    threads = {
        "OMP_NUM_THREADS": str(cores()),
        "OMP_WAIT_POLICY": "PASSIVE",
        "TQ_NUM_THREADS": str(cores()),
        "TQ_CLIENT_ZMQ_IO_THREADS": "1",
    }
    assert environment({"HOME": "/here"}) == {"HOME": "/here", **threads, **NEEDED}


def test_the_cache_is_as_large_as_the_stage_says() -> None:
    assert environment({"VLLM_CPU_KVCACHE_SPACE": "9"}, cache_gib=3)["VLLM_CPU_KVCACHE_SPACE"] == "3"


def test_ranks_share_the_cores() -> None:
    assert environment({}, ranks=cores())["OMP_NUM_THREADS"] == "1"
    assert environment({}, ranks=2 * cores())["OMP_NUM_THREADS"] == "1"


def test_the_user_may_choose_the_threads_but_not_what_training_needs() -> None:
    threads = {
        "OMP_NUM_THREADS": "7",
        "OMP_WAIT_POLICY": "ACTIVE",
        "TQ_NUM_THREADS": "3",
        "TQ_CLIENT_ZMQ_IO_THREADS": "2",
    }
    assert environment({**threads, "VERL_PLATFORM": "cuda"}) == {**threads, **NEEDED}
