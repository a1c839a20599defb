"""Training on the CPU never asks for a C++ compiler."""

from compass.rl.cpu.environment import environment


def test_no_process_compiles_whatever_the_user_has_set() -> None:
    assert environment({})["TORCH_COMPILE_DISABLE"] == "1"
    assert environment({"TORCH_COMPILE_DISABLE": "0"})["TORCH_COMPILE_DISABLE"] == "1"
