"""A recorded run's folder is put together from DVC's cache, and from nothing that leads out of it."""

import json
from pathlib import Path

from compass.tracking.from_cache import cache_folder, run_folder

FILE, FOLDER, BAD = "0" * 31 + "a", "0" * 31 + "b", "0" * 31 + "c"


def cached(root: Path, name: str, text: str) -> None:
    path = cache_folder(root) / name[:2] / name[2:]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_outputs_are_linked_and_those_that_the_cache_lacks_are_named(tmp_path: Path) -> None:
    cached(tmp_path, FILE, "rows")
    cached(tmp_path, f"{FOLDER}.dir", json.dumps([{"md5": FILE, "relpath": "kept.parquet"}]))
    outputs = {
        "dedup": {"metrics/dedup.json": FILE, "data/dedup": f"{FOLDER}.dir", "plots/x.csv": BAD, "models/a": BAD}
    }
    place, missing = run_folder("one", outputs, {"seed": 1}, {"dedup": {"seconds": 2}}, tmp_path)
    assert (place / "metrics/dedup.json").read_text() == (place / "data/dedup/kept.parquet").read_text() == "rows"
    assert json.loads((place / "work/times/dedup.json").read_text()) == {"seconds": 2}
    assert missing == ["plots/x.csv"]


def test_a_record_of_another_hand_reaches_no_file_outside(tmp_path: Path) -> None:
    cached(tmp_path, FILE, "x")
    cached(tmp_path, f"{BAD}.dir", json.dumps([{"md5": FILE, "relpath": "../../../../inner"}]))
    (tmp_path / "secret").write_text("secret")
    outputs = {
        "a": {
            "../../../up": FILE,
            str(tmp_path / "absolute"): FILE,
            "data/b": f"{BAD}.dir",
            "data/c": "../../../../secret",
        }
    }
    place, missing = run_folder("two", outputs, None, {"../../../../times": {}}, tmp_path)
    assert len(missing) == 4
    assert [path for path in tmp_path.rglob("*") if path.name in ("up", "absolute", "inner", "times.json")] == []
    assert not (place / "data/c").exists()
