"""The first cause in a log of many processes, as Ray and vLLM write them."""

from pathlib import Path

import pytest

from compass.rl.failure import Cause, first_cause, log_lines, reason

BLUE, PLAIN = "\x1b[36m", "\x1b[0m"
ENGINE = f"{BLUE}(vLLMHttpServer pid=94){PLAIN} (EngineCore pid=84) ERROR 11-22 01:29:48 [core.py:1348]"
SERVER = f"{BLUE}(vLLMHttpServer pid=94){PLAIN} ERROR 11-22 01:29:48 [async_llm.py:744]"
WORKER = f"{BLUE}(ScoringWorker pid=36){PLAIN}"


def test_the_process_that_died_first_is_shown_and_not_those_that_waited_for_it() -> None:
    log = [
        "INFO 11-22 01:28:55 [importing.py:53] Triton is installed but 0 active driver(s) found",
        f"{ENGINE} EngineCore encountered a fatal error.",
        f"{ENGINE} Traceback (most recent call last):",
        f'{ENGINE}   File "/x/vllm/v1/engine/core.py", line 1339, in run_engine_core',
        f"{ENGINE}     engine_core.run_busy_loop()",
        f"{ENGINE}            ^^^^^^^^^^^^^^^^^^^^^^^^",
        f"{WORKER} Traceback (most recent call last):",
        f'{WORKER}   File "/x/ray/util/tracing_helper.py", line 520, in _resume_span',
        f"{ENGINE} InductorError: InvalidCxxCompiler: No working C++ compiler found",
        f"{WORKER} vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue.",
        f"{SERVER} Traceback (most recent call last):",
        f"{SERVER} EngineDeadError: EngineCore encountered an issue.",
        "RuntimeError: Sync replay buffer selected terminal groups with no materializable trajectories",
    ]
    assert first_cause(log) == Cause(
        "InductorError: InvalidCxxCompiler: No working C++ compiler found",
        line=9,
        process="(vLLMHttpServer pid=94) (EngineCore pid=84)",
    )
    assert str(first_cause(log)).splitlines() == [
        "InductorError: InvalidCxxCompiler: No working C++ compiler found",
        "(line 9 of the log, (vLLMHttpServer pid=94) (EngineCore pid=84))",
    ]


def test_the_innermost_of_chained_exceptions_is_the_cause() -> None:
    log = [
        "Traceback (most recent call last):",
        '  File "a.py", line 1, in <module>',
        "ImportError: libnuma.so.1: cannot open shared object file",
        "",
        "During handling of the above exception, another exception occurred:",
        "",
        "Traceback (most recent call last):",
        "AttributeError: '_OpNamespace' '_C' object has no attribute 'init_cpu_memory_env'",
    ]
    assert first_cause(log) == Cause(log[2], line=3, process="")
    assert str(first_cause(log)) == f"{log[2]}\n(line 3 of the log)"


@pytest.mark.parametrize(
    "death",
    [
        "python: error while loading shared libraries: libz.so.1: cannot open shared object file",
        "Fatal Python error: Bus error",
        "OSError: [Errno 28] No space left on device",
        "WARNING 11-22 01:29:48 [cpu.py:486] Failed to import from vllm._C_AVX2: ImportError('libnuma.so.1')",
    ],
)
def test_a_death_without_a_traceback_is_a_cause(death: str) -> None:
    log = ["all is well", f"{WORKER} {death}", "Traceback (most recent call last):", "ValueError: late"]
    cause = first_cause(log)
    assert (cause.line, cause.process) == (2, "(ScoringWorker pid=36)")
    assert cause.text == death.removeprefix("WARNING 11-22 01:29:48 [cpu.py:486] ")


def test_warnings_about_what_a_run_goes_without_are_no_cause() -> None:
    log = [
        "UserWarning: megatron engine is not available: ModuleNotFoundError(\"No module named 'megatron'\")",
        f"{WORKER} Warning: Failed to set NUMA affinity: libnuma.so: cannot open shared object file",
        "[W1122 utils.cpp:68] Warning: NUMA binding: Using MEMBIND policy",
    ]
    assert first_cause(log) is None
    assert first_cause([]) is None


def test_a_traceback_that_is_cut_off_gives_no_cause_and_later_ones_do() -> None:
    cut = ["Traceback (most recent call last):", '  File "a.py", line 1, in f']
    assert first_cause(cut) is None
    other = [f"{WORKER} Traceback (most recent call last):", f"{WORKER} ValueError: 1"]
    assert first_cause(cut + other) == Cause("ValueError: 1", line=4, process="(ScoringWorker pid=36)")


def test_the_reason_is_the_first_cause_of_this_run() -> None:
    run = ["Traceback (most recent call last):", '  File "a.py", line 1, in f']
    log = [*run, "KeyError: earlier", *run, "ValueError: now", "Exited with code 1"]
    assert reason(log, 3) == "ValueError: now\n(line 6 of the log)"
    assert reason(log) == "KeyError: earlier\n(line 3 of the log)"


def test_without_a_cause_the_reason_is_the_logs_end_but_for_leaks() -> None:
    log = ["earlier", "1", "2", "nanobind: leaked 3 instances!", " - leaked type", "... skipped remainder", "3"]
    assert reason(log, 1) == "1\n2\n3"
    assert reason(log, 1, last=2) == "2\n3"
    assert reason([str(number) for number in range(30)]).split("\n") == [str(number) for number in range(5, 30)]


def test_a_log_that_is_not_there_has_no_lines(tmp_path: Path) -> None:
    assert log_lines(tmp_path / "train.log") == []
    (tmp_path / "train.log").write_bytes(b"one\nnot \xff text\n")
    assert log_lines(tmp_path / "train.log") == ["one", "not \ufffd text"]
