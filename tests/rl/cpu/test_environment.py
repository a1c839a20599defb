"""The trainer's environment on the CPU."""

from compass.machine import cores
from compass.rl.cpu.environment import environment


def test_ranks_share_the_cores_and_the_cache_is_as_large_as_the_stage_says() -> None:
    assert environment({"HOME": "/here"})["HOME"] == "/here"
    assert environment({})["OMP_NUM_THREADS"] == str(cores())
    assert environment({}, ranks=cores())["OMP_NUM_THREADS"] == "1"
    assert environment({}, ranks=2 * cores())["OMP_NUM_THREADS"] == "1"
    assert environment({"VLLM_CPU_KVCACHE_SPACE": "9"}, cache_gib=3)["VLLM_CPU_KVCACHE_SPACE"] == "3"


def test_the_user_may_choose_the_threads_but_not_what_training_needs() -> None:
    threads = {
        "OMP_NUM_THREADS": "7",
        "OMP_WAIT_POLICY": "ACTIVE",
        "TQ_NUM_THREADS": "3",
        "TQ_CLIENT_ZMQ_IO_THREADS": "2",
    }
    given = environment({**threads, "VERL_PLATFORM": "cuda"})
    assert threads.items() <= given.items()
    assert (given["VERL_PLATFORM"], given["VLLM_ENABLE_V1_MULTIPROCESSING"]) == ("cpu", "0")
