"""Ports of this machine: who listens on one, and which are free."""

from __future__ import annotations

import errno
import shlex
import socket

import psutil

HOST = "127.0.0.1"
"""The only address that servers listen on."""

LONGEST_COMMAND = 120
"""Characters of a command that a message quotes."""


def is_free(port: int) -> bool:
    """Whether a server could listen on a port of `HOST` now."""
    with socket.socket() as probe:
        # As servers do: a port whose last connections linger in TIME_WAIT is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            if error.errno in (errno.EADDRINUSE, errno.EACCES):
                return False
            raise
    return True


def find_free_port(above: int) -> int | None:
    """The first free port after `above`, None where there is none among the next hundred."""
    return next((port for port in range(above + 1, min(above + 101, 65536)) if is_free(port)), None)


def find_listener(port: int) -> str:
    """Who listens on a port, for a message: `process 123 (python -m http.server 5000) in /home/me`."""
    for connection in psutil.net_connections("tcp"):
        if connection.status == psutil.CONN_LISTEN and connection.laddr.port == port and connection.pid:
            try:
                process = psutil.Process(connection.pid)
                command = shlex.join(process.cmdline())
                short = command if len(command) <= LONGEST_COMMAND else command[: LONGEST_COMMAND - 1] + "…"
                return f"process {connection.pid} ({short}) in {process.cwd()}"
            except psutil.Error:  # it ended just now, or belongs to another user
                continue
    return "the system: ports below 1024 need its administrator" if port < 1024 else "a process of another user"
