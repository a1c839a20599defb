"""Guards: what each does when it fires, and where its limit is."""

from pathlib import Path

import pytest
import yaml

from compass.settings import SettingsError, load_settings
from compass.settings.guards import Guards

PROFILE = yaml.safe_load((Path(__file__).parents[2] / "profiles/tiny.yaml").read_text())


def guards(tmp_path: Path, text: str) -> Guards:
    path = tmp_path / "params.yaml"
    given = {**PROFILE, "rl": {**PROFILE["rl"], "guards": yaml.safe_load(text)}}
    path.write_text(yaml.safe_dump(given))
    return load_settings(path).rl.stages["rl-1"].guards


def test_what_a_guard_does_not_give_has_its_default(tmp_path: Path) -> None:
    ours = guards(tmp_path, "{cut_off: {level: stop}, watchdog: {limit: 3.0}}")
    assert (ours.cut_off.level, ours.cut_off.limit) == ("stop", 0.5)
    assert (ours.watchdog.level, ours.watchdog.limit, ours.watchdog.least_seconds) == ("stop", 3.0, 600)
    assert ours.loops == Guards().loops


def test_a_bare_off_is_the_word(tmp_path: Path) -> None:
    assert guards(tmp_path, "{cut_off: {level: off}}").cut_off.level == "off"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{cutoff: {level: stop}}", r"rl\.guards\.cutoff: unknown key; allowed here: agreement, cut_off"),
        ("{cut_off: {level: loud}}", r"rl\.guards\.cut_off\.level: .*'off', 'warn' or 'stop'"),
        ("{cut_off: {level: on}}", r"rl\.guards\.cut_off\.level"),
        ("{cut_off: {limit: 1.5}}", r"rl\.guards\.cut_off\.limit: .*less than or equal to 1"),
        ("{gradient_spike: {limit: 0.0}}", r"rl\.guards\.gradient_spike\.limit: .*greater than 0"),
        ("{not_finite: {limit: 0.5}}", r"rl\.guards\.not_finite\.limit: unknown key; allowed here: level"),
        ("{cut_off: stop}", r"rl\.guards\.cut_off: .*found 'stop'"),
        ("[]", r"rl\.guards: "),
    ],
)
def test_a_guard_that_cannot_be_set_so_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        guards(tmp_path, text)
