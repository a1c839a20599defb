"""What `compass up` refuses."""

from compass.cli import main


def test_a_port_above_the_last_is_refused() -> None:
    assert main(["up", "--live-port", "65536"]) == 2
