"""What `compass up` prints."""

from compass.cli import main
from compass.commands.up import format_table


def test_a_long_address_leaves_the_others_on_lines_of_a_hundred_columns() -> None:
    long = "http://127.0.0.1:5000/#/experiments/1/runs?workflowType=machine_learning&viewStateShareKey=compass"
    live = "http://127.0.0.1:5050"
    assert list(
        format_table([("mlflow", long, "compare runs"), ("live", live, "watch"), ("deployments", "", "serves")])
    ) == [
        f"mlflow       {long}",
        f"{'':<34}  compare runs",
        f"live         {live}  watch",
        f"{'deployments':<34}  serves",
    ]


def test_a_port_above_the_last_is_refused() -> None:
    assert main(["up", "--live-port", "65536"]) == 2
