import errno
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from compass.errors import UserError
from compass.ledger import LEDGER, Counts, Drop, split
from compass.records import RECORD, RecordError, read_records, table
from compass.rl.course import mark_finished
from compass.runs.dvc_files import dvc_md5
from compass.settings import Settings, SettingsError
from compass.settings.denoise import NoiseReason
from stages._stage import EmptyError, Summary, main, perform, write_pieces

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "params.yaml").write_text((ROOT / "profiles/tiny.yaml").read_text())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COMPASS_TRACKING", "off")


def test_the_summary_is_written_and_told(capsys: pytest.CaptureFixture[str]) -> None:
    perform("denoise", lambda settings: Summary("denoise", Counts("denoise", 1199, {"link": 1})))
    assert json.loads(Path("metrics/denoise.json").read_text())["dropped"] == {"link": 1}
    assert capsys.readouterr().out == "denoise: read 1,200, kept 1,199; dropped link 1\n"


@pytest.mark.parametrize("error", [UserError, RecordError, SettingsError])
def test_an_error_of_the_users_making_is_one_message_and_no_summary(error: type[UserError]) -> None:
    with pytest.raises(SystemExit, match=r"^dedup: data/x\.parquet: no such file$"):
        perform("dedup", failing(error("data/x.parquet: no such file")))
    assert not Path("metrics/dedup.json").exists()


def test_a_stage_that_curates_nothing_says_nothing_and_may_write_its_metrics_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    perform("evaluate", lambda settings: Summary("evaluate", metrics={"models": {"base": 1}}), metrics_alone=True)
    assert json.loads(Path("metrics/evaluate.json").read_text()) == {"models": {"base": 1}}
    perform("base", lambda settings: Summary("base", metrics={"steps": 2}))
    written = {"stage": "base", "read": None, "kept": None, "dropped": None, "metrics": {"steps": 2}}
    assert json.loads(Path("metrics/base.json").read_text()) == written
    assert capsys.readouterr().out == ""


def test_checkpoints_go_with_the_next_stage_once_the_lock_file_has_their_model() -> None:
    work, model = Path("work/rl-1/0123456789abcdef"), Path("models/rl-1")
    for folder in (work, model):
        folder.mkdir(parents=True)
    (model / "model.safetensors").write_bytes(b"weights")
    mark_finished(work, model, dvc_md5(model))
    perform("rl-2", lambda settings: Summary("rl-2"))
    assert work.exists()
    out = {"path": "models/rl-1", "hash": "md5", "md5": dvc_md5(model), "size": 7, "nfiles": 1}
    lock = {"schema": "2.0", "stages": {"rl-1": {"cmd": "train", "outs": [out]}}}
    Path("dvc.lock").write_text(yaml.safe_dump(lock))
    perform("rl-1", lambda settings: Summary("rl-1"))
    assert work.exists()  # the stage itself may go on from there
    perform("rl-2", lambda settings: Summary("rl-2"))
    assert not work.exists()


def test_a_split_is_written_whole_with_the_reasons_counted(tmp_path: Path) -> None:
    records = table([{"id": str(number), "problem": "?", "answer": "1"} for number in range(4)])
    drops = [None, Drop(NoiseReason.LINK), Drop(NoiseReason.PROOF), Drop(NoiseReason.LINK)]
    kept, dropped = split(records, drops, "denoise")
    summary = write_pieces(tmp_path, "denoise", read=4, pieces=[(kept, dropped)], items=7)
    assert summary == Summary("denoise", Counts("denoise", 1, {"link": 2, "proof": 1}), {"items": 7})
    assert read_records(tmp_path / "kept.parquet").schema.equals(RECORD)
    assert read_records(tmp_path / "dropped.parquet").schema.equals(LEDGER)
    assert read_records(tmp_path / "dropped.parquet")["id"].to_pylist() == ["1", "2", "3"]


def test_a_lost_row_stops_the_stage_before_anything_is_written(tmp_path: Path) -> None:
    kept, dropped = split(table([{"id": "1"}]), [None], "denoise")
    with pytest.raises(RecordError, match="read 2 rows but kept 1 and dropped 0"):
        write_pieces(tmp_path, "denoise", read=2, pieces=[(kept, dropped)])
    assert not list(tmp_path.glob("*.parquet"))


def test_a_stage_that_keeps_nothing_names_the_reason_that_took_most_and_leaves_the_dropped_rows(tmp_path: Path) -> None:
    records = table([{"id": str(n), "source": "gsm", "source_id": str(n + 7), "answer": "1"} for n in range(3)])
    kept, dropped = split(
        records, [Drop(NoiseReason.TOO_SHORT), Drop(NoiseReason.LINK), Drop(NoiseReason.TOO_SHORT)], "denoise"
    )
    with pytest.raises(
        EmptyError, match=r"all 3 rows were dropped: too_short 2, link 1\. The first as too_short is gsm:7, "
    ):
        write_pieces(tmp_path, "denoise", read=3, pieces=[(kept, dropped)])
    assert [path.name for path in tmp_path.glob("*.parquet")] == ["dropped.parquet"]


def failing(error: BaseException) -> Callable[[Settings], Summary]:
    def run(settings: Settings) -> Summary:
        raise error

    return run


@pytest.mark.parametrize(
    ("number", "named", "said"),
    [(errno.ENOSPC, "data/collect/kept.parquet", "data/collect/kept.parquet"), (errno.EDQUOT, None, None)],
)
def test_a_full_disk_or_quota_is_one_message(number: int, named: str | None, said: str | None) -> None:
    with pytest.raises(
        SystemExit, match=rf"^collect: the disk is full \({said or Path.cwd()}; \d+\.\d of \d+\.\d GB are free\)"
    ):
        perform("collect", failing(OSError(number, "No space left on device", named)))


def test_too_little_memory_is_one_message_with_the_figures_of_that_moment() -> None:
    with pytest.raises(
        SystemExit, match=r"^grade: out of memory \(\d+\.\d of \d+\.\d GB of memory are free, and the load"
    ):
        perform("grade", failing(MemoryError()))


@pytest.mark.parametrize("error", [OSError(errno.EIO, "Input/output error"), ZeroDivisionError("by zero")])
def test_any_other_error_keeps_its_traceback(error: Exception) -> None:
    with pytest.raises(type(error)):
        perform("collect", failing(error))


def test_an_interrupted_stage_says_how_to_go_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COMPASS_LINE", "off")
    monkeypatch.setattr("stages._stage.own_processes", lambda: None)
    with pytest.raises(SystemExit) as ended:
        main("collect", failing(KeyboardInterrupt()))
    assert ended.value.code == 130
    assert capsys.readouterr().err.splitlines()[-1].startswith("collect: stopped. Run it again")
