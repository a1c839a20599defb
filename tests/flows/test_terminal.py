"""What `compass run` says at its end."""

from flows.run import RunResult
from flows.terminal import summary


def result(**changed: object) -> RunResult:
    nothing = {"command": "dvc repro", "ran": (), "restored": (), "unchanged": (), "changes": (), "experiment": None}
    return RunResult(**{**nothing, "seconds": 5.0, "waited_s": 0.0, **changed})


def test_a_run_that_wrote_the_report_says_where_it_is() -> None:
    assert summary(result(ran=("evaluate", "report"), unchanged=("collect",), experiment="tiny"))[1:] == [
        "kept as the experiment tiny; `dvc exp show` lists it beside the others",
        "which model is better, and how sure: reports/index.html",
    ]
    assert "reports/index.html" in summary(result(restored=("report",)))[-1]


def test_a_run_that_left_the_report_as_it_was_does_not_name_it() -> None:
    assert summary(result(ran=("dedup",), unchanged=("report",))) == ["ran dedup; 1 unchanged (5 s)"]
    assert summary(result(unchanged=("report",))) == ["nothing to do: all is up to date"]
