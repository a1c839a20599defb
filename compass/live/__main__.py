"""Serve the page: `python -m compass.live --port 5050`."""

from __future__ import annotations

import argparse
import errno
import socket
import sys
from pathlib import Path

from compass.errors import UserError

HOST = "127.0.0.1"
PORT = 5050


def main() -> None:
    """Serve the page of the repository in this folder until Ctrl-C or SIGTERM."""
    parser = argparse.ArgumentParser(
        prog="python -m compass.live",
        description="A local page that shows the run that is going on; it changes nothing.",
    )
    parser.add_argument("--port", type=int, default=PORT, help="port on 127.0.0.1 (default: %(default)s)")
    parser.add_argument("--root", type=Path, default=Path(), help="the repository's root (default: this folder)")
    args = parser.parse_args()
    try:
        serve(args.root, args.port)
    except UserError as error:
        sys.exit(f"compass live: {error}")


def serve(root: Path, port: int) -> None:
    """Serve the page of the repository at `root` on 127.0.0.1.

    Raises:
        UserError: `root` has no pipeline, or the port is taken.
    """
    import uvicorn

    from compass.live.server import make_app

    if not (root / "dvc.yaml").exists():
        raise UserError(
            f"{root.resolve()}: no dvc.yaml here; run it in the repository's root, or name that with --root"
        )
    try:
        listening = socket.create_server((HOST, port))
    except (OSError, OverflowError) as error:
        if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
            raise UserError(f"--port {port}: another program listens there; end it or choose another port") from None
        raise UserError(f"--port {port}: {error}; choose a port from 1024 to 65535") from None
    print(f"live page: http://{HOST}:{listening.getsockname()[1]}", flush=True)
    config = uvicorn.Config(
        make_app(root.resolve()),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main()
