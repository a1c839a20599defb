"""What is said of a port that somebody has."""

import os
import socket

from compass.services.lifetime import find_free_port, find_listener, is_free


def test_a_bound_port_is_not_free_and_its_holder_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert not is_free(port)
        assert find_listener(port).startswith(f"process {os.getpid()} (")
        assert "pytest" in find_listener(port)
        assert find_free_port(port) != port
    assert is_free(port)


def test_a_port_with_lingering_connections_is_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        client = socket.create_connection(("127.0.0.1", port))
        accepted, _ = server.accept()
        accepted.close()  # the server's side closes first and stays in TIME_WAIT
        client.close()
    assert is_free(port)
