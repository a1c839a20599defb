"""Start Ray's and vLLM's Python processes by forking one that has already imported everything.

An RL stage on the CPU needs about ten processes (verl's actors, TransferQueue, vLLM's engine and worker), and each
imports torch, transformers, vLLM and verl: some ten seconds of CPU time a process, one after the other, which at small
sizes is longer than the training. Here the trainer imports them once and forks a server before it starts any thread of
its own. Ray starts its workers by `runtime_env.py_executable` and vLLM by `multiprocessing`'s executable; both are set
to a small client that hands its command line, environment, working directory and open files to the server, waits, and
ends as the forked process ends. Each ends when the other does, and all end with the trainer.

Used on the CPU only: a process that holds an accelerator must not be forked.
"""

from __future__ import annotations

import array
import contextlib
import gc
import importlib
import json
import multiprocessing
import os
import random
import runpy
import socket
import stat
import struct
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from compass.machine import die_with_parent

CLIENT = """#!{python} -IS
import array, json, os, socket, struct, sys
connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
connection.connect({address!r})
files = [int(name) for name in os.listdir("/proc/self/fd")]
files = [fd for fd in files if fd != connection.fileno() and os.path.exists("/proc/self/fd/%d" % fd)]
request = json.dumps(dict(arguments=sys.argv[1:], environment=dict(os.environ), folder=os.getcwd(), files=files)).encode()
connection.sendmsg([struct.pack("<I", len(request))], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))])
connection.sendall(request)
status = connection.recv(4)
os._exit(struct.unpack("<i", status)[0] if len(status) == 4 else 1)
"""
"""What runs in place of the Python interpreter. It imports nothing that is slow."""

MODULES = (
    "compass.rl.agent_loop",
    "compass.rl.cpu.engine",
    "compass.rl.cpu.rollout",
    "compass.rl.dynamic_sampling",
    "compass.rl.policy_loss",
    "compass.rl.reward_function",
    "transfer_queue",
    "transformers.models.qwen2.modeling_qwen2",
    "verl.experimental.reward_loop",
    "verl.trainer.ppo.v1",
    "verl.workers.engine.fsdp",
    "verl.workers.engine_workers",
    "verl.workers.rollout.vllm_rollout.vllm_async_server",
    "vllm.model_executor.models.qwen2",
    "vllm.v1.engine.core",
    "vllm.v1.worker.cpu_worker",
)
"""A module missing here costs seconds in each process."""

MAX_FILES = 250  # the kernel passes at most 253 at once


def preload() -> None:
    """Import them all, with the garbage collector at rest: it finds nothing among eight thousand modules, and takes a quarter of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        for module in MODULES:
            importlib.import_module(module)
    finally:
        if was_on:
            gc.enable()


def start(folder: Path) -> Path:
    """Fork the server from this process as it is now.

    Args:
        folder: a new, private folder for the socket and the client; its path must be short (a socket's is limited to
            about 100 bytes).

    Returns:
        The path of the client, an executable to use instead of `python`.
    """
    address = str(folder / "fork.sock")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(address)
    listener.listen(64)
    client = folder / "python"
    client.write_text(CLIENT.format(python=sys.executable, address=address))
    client.chmod(stat.S_IRWXU)
    gc.collect()
    gc.freeze()  # keeps the shared pages shared
    parent = os.getpid()
    if os.fork() == 0:
        die_with_parent(parent)
        multiprocessing.set_executable(str(client))
        try:
            _serve(listener)
        finally:
            os._exit(0)
    listener.close()
    return client


def prepare_ray(job: str) -> None:
    """Give Ray what its workers read from the environment once, on import; call it before Ray is imported.

    The process whose end ends the workers becomes the trainer, not the raylet, whose id is not known yet; the raylet ends with
    the trainer too.

    Args:
        job: the only one of the cluster, in hexadecimal digits.
    """
    os.environ["RAY_JOB_ID"] = job
    os.environ["RAY_RAYLET_PID"] = str(os.getpid())


def _serve(listener: socket.socket) -> None:
    """Fork a process for every client, and tell each client how its process ended."""
    clients: dict[int, socket.socket] = {}
    listener.settimeout(0.1)
    while True:
        try:
            connection, _ = listener.accept()
        except TimeoutError:
            connection = None
        if connection is not None:
            connection.settimeout(None)
            request, files = _receive(connection)
            server = os.getpid()
            child = os.fork()
            if child == 0:
                die_with_parent(server)
                listener.close()
                for other in clients.values():
                    other.close()
                _become(request, files, connection)
            for fd in files:
                os.close(fd)
            clients[child] = connection
        _reap(clients)


def _reap(clients: dict[int, socket.socket]) -> None:
    while clients:
        child, status = os.waitpid(-1, os.WNOHANG)
        if child == 0:
            return
        connection = clients.pop(child)
        code = os.waitstatus_to_exitcode(status)
        with contextlib.suppress(OSError):  # the client was killed first
            connection.sendall(struct.pack("<i", code if code >= 0 else 128 - code))
        connection.close()


def _receive(connection: socket.socket) -> tuple[dict, list[int]]:
    """Read one request: its length with the open files attached, then JSON."""
    fds = array.array("i")
    head, ancillary, _, _ = connection.recvmsg(4, socket.CMSG_SPACE(MAX_FILES * fds.itemsize))
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
    (length,) = struct.unpack("<I", head)
    body = b""
    while len(body) < length:
        body += connection.recv(length - len(body))
    return json.loads(body), list(fds)


def _become(request: dict, files: list[int], connection: socket.socket) -> None:
    """Turn this fresh fork into the process that the client was asked to be. Never returns."""
    code = 1
    try:
        _take_files(request["files"], files, keep=connection)
        os.environ.clear()
        os.environ.update(request["environment"])
        os.chdir(request["folder"])
        random.seed()
        sys.modules.pop("__main__", None)
        program = _program(request["arguments"])
        threading.Thread(target=_end_with, args=(connection,), daemon=True).start()
        _reread_environment()
        program()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _take_files(numbers: list[int], files: list[int], keep: socket.socket) -> None:
    """Give the received files the numbers that they had in the client."""
    high = max([*numbers, *files, keep.fileno()]) + 1
    moved = [os.dup2(fd, high + index, inheritable=False) for index, fd in enumerate(files)]
    for fd in files:
        os.close(fd)
    held = os.dup2(keep.fileno(), high + len(moved), inheritable=False)
    keep.detach()
    for number, fd in zip(numbers, moved, strict=True):
        os.dup2(fd, number, inheritable=True)
        os.close(fd)
    keep.__init__(fileno=held)


def _program(arguments: list[str]) -> Callable[[], object]:
    """What `python ARGUMENTS` would run: `-c CODE`, `-m MODULE` or a script, after options."""
    rest = list(arguments)
    while rest and rest[0].startswith("-") and rest[0] not in ("-c", "-m"):
        rest.pop(0)
    if rest[0] == "-c":
        sys.argv = ["-c", *rest[2:]]
        module = type(sys)("__main__")
        sys.modules["__main__"] = module
        return lambda: exec(compile(rest[1], "<string>", "exec"), module.__dict__)
    if rest[0] == "-m":
        sys.argv = rest[1:]
        return lambda: runpy.run_module(rest[1], run_name="__main__", alter_sys=True)
    sys.argv = rest
    sys.path[0] = str(Path(rest[0]).parent)
    return lambda: runpy.run_path(rest[0], run_name="__main__")


def _end_with(connection: socket.socket) -> None:
    """End this process when its client is killed: the connection closes."""
    connection.recv(1)
    os._exit(1)


def _reread_environment() -> None:
    """Have the libraries that read the environment once, on import, read this process's own."""
    threads = os.environ.get("OMP_NUM_THREADS", "")
    if threads.isdigit() and "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(int(threads))
