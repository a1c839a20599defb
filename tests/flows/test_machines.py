"""The pipeline cut into parts for machines of two kinds."""

from pathlib import Path

from compass.settings import load_settings
from flows.machines import compute_fingerprint, split_parts


def test_the_pipeline_is_cut_where_the_kind_of_machine_changes() -> None:
    settings = load_settings("profiles/tiny.yaml")
    assert split_parts(settings) == [
        ("data", ["collect", "dedup", "denoise"]),
        ("gpu", ["base", "grade"]),
        ("data", ["verify", "curriculum"]),
        ("gpu", ["rl-1", "rl-2", "rl-3", "evaluate"]),
        ("data", ["report"]),
    ]
    assert split_parts(settings, "base") == [("data", ["collect", "dedup", "denoise"]), ("gpu", ["base"])]


def test_clones_with_other_settings_have_another_fingerprint(toy: Path) -> None:
    same = compute_fingerprint(toy, {})
    assert compute_fingerprint(toy, {"seed": 0}) == same
    changed = compute_fingerprint(toy, {"seed": 1})
    assert changed != same
    assert changed.partition("-")[0] == same.partition("-")[0]
    (toy / "params.yaml").write_text((toy / "params.yaml").read_text().replace("seed: 0", "seed: 1"))
    assert compute_fingerprint(toy, {}) == changed
