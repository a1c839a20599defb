import os
import subprocess
import sys
import time

from compass.machine import cores

PARENT = """
import os, sys, time
from compass.machine import die_with_parent
parent = os.getpid()
child = os.fork()
if child == 0:
    die_with_parent(parent if sys.argv[1] == "alive" else parent + 1)
    print("waiting", flush=True)
    time.sleep(60)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print("ended", status, flush=True)
"""


def test_cores_are_those_that_this_process_may_use() -> None:
    allowed = os.sched_getaffinity(0)
    one = subprocess.run(
        [sys.executable, "-c", "from compass.machine import cores; print(cores())"],
        preexec_fn=lambda: os.sched_setaffinity(0, {min(allowed)}),
        capture_output=True,
        text=True,
    )
    assert (cores(), one.stdout.strip()) == (len(allowed), "1")


def test_a_process_dies_with_a_parent_that_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT, "alive"], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout.readline() == "waiting\n"
        began = time.monotonic()
        parent.kill()
        assert parent.stdout.read() == ""  # the child holds the pipe as well: it closes when both have ended
        assert time.monotonic() - began < 20  # left alone, the child would wait for a minute


def test_a_process_whose_parent_has_ended_already_ends_at_once() -> None:
    done = subprocess.run([sys.executable, "-c", PARENT, "gone"], capture_output=True, text=True, timeout=20)
    assert done.stdout == "ended 1\n"
