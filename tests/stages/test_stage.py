import errno
import json
from pathlib import Path

import pytest

from compass.errors import UserError
from compass.records import RecordError
from compass.settings import Settings, SettingsError
from stages._stage import Summary, main

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "params.yaml").write_text((ROOT / "profiles/tiny.yaml").read_text())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COMPASS_TRACKING", "off")


def test_the_summary_is_written_and_told(capsys: pytest.CaptureFixture[str]) -> None:
    main("denoise", lambda settings: Summary("denoise", read=1200, kept=1199, dropped={"link": 1}))
    assert json.loads(Path("metrics/denoise.json").read_text())["dropped"] == {"link": 1}
    assert capsys.readouterr().out == "denoise: read 1,200, kept 1,199; dropped link 1\n"


@pytest.mark.parametrize("error", [UserError, RecordError, SettingsError])
def test_an_error_of_the_users_making_is_one_message_and_no_summary(error: type[UserError]) -> None:
    def run(settings: Settings) -> Summary:
        raise error("data/x.parquet: no such file")

    with pytest.raises(SystemExit, match=r"^dedup: data/x\.parquet: no such file$"):
        main("dedup", run)
    assert not Path("metrics/dedup.json").exists()


def test_a_full_disk_is_told_as_such() -> None:
    def run(settings: Settings) -> Summary:
        raise OSError(errno.ENOSPC, "No space left on device", "data/collect/kept.parquet")

    with pytest.raises(SystemExit, match=r"^collect: the disk is full \(data/collect/kept\.parquet\); free some space"):
        main("collect", run)


def test_any_other_error_keeps_its_traceback() -> None:
    def run(settings: Settings) -> Summary:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        main("collect", run)
