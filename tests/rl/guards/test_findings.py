"""What guards found: format_finding, recorded, and an error where they stop."""

import json
from pathlib import Path

import pytest

from compass.rl.guards.findings import Findings, GuardError, forget_findings, read_findings


@pytest.fixture
def findings(tmp_path: Path) -> Findings:
    levels = {"loops": {"level": "warn"}, "agreement": {"level": "stop"}, "cut_off": {"level": "off"}}
    return Findings(tmp_path / "guards.jsonl", levels)


def test_a_warning_is_recorded_and_training_goes_on(findings: Findings) -> None:
    findings.fire("loops", 3, "30% loop", Path("samples/3.parquet"))
    assert read_findings(findings.path) == [
        {
            "step": 3,
            "guard": "loops",
            "level": "warn",
            "message": "iteration 3: 30% loop. Samples: samples/3.parquet. (guard `rl.guards.loops`: off, warn or stop)",
            "samples": "samples/3.parquet",
        }
    ]


def test_a_stop_is_recorded_and_an_error(findings: Findings) -> None:
    with pytest.raises(GuardError, match=r"^too far apart\. \(guard `rl\.guards\.agreement`"):
        findings.fire("agreement", 0, "too far apart")
    assert [line["level"] for line in read_findings(findings.path)] == ["stop"]


def test_a_guard_that_is_off_leaves_nothing_and_a_cut_line_is_not_read(findings: Findings) -> None:
    findings.fire("cut_off", 1, "all")
    assert read_findings(findings.path) == []
    findings.fire("loops", 1, "some")
    with findings.path.open("a") as file:
        file.write('{"step": 2, "gua')
    assert [line["step"] for line in read_findings(findings.path)] == [1]


def test_what_was_found_later_or_stopped_the_run_is_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "guards.jsonl"
    lines = [{"step": step, "level": level} for step, level in ((0, "stop"), (1, "warn"), (2, "warn"), (3, "warn"))]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    forget_findings(path, 2, last=3)
    assert [line["step"] for line in read_findings(path)] == [1, 2]


@pytest.mark.parametrize(("last", "kept"), [(2, [1]), (1, [0, 1])])
def test_what_was_found_before_the_first_iteration_is_told_once(tmp_path: Path, last: int, kept: list[int]) -> None:
    path = tmp_path / "guards.jsonl"
    path.write_text("".join(json.dumps({"step": step, "level": "warn"}) + "\n" for step in (0, 1)))
    forget_findings(path, 1, last=last)  # only a trainer that starts sends the canary again
    assert [line["step"] for line in read_findings(path)] == kept
