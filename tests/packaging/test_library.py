"""`import compass` as a library: what it offers, that it costs nothing, and what it says where an extra is missing."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import compass
from compass.cli import main

ROOT = Path(__file__).parents[2]


def test_every_name_is_what_its_module_has() -> None:
    from compass import records, settings, verifier
    from compass.report import run

    assert compass.verify is verifier.verify
    assert compass.judge is verifier.judge
    assert compass.Mode is verifier.Mode
    assert compass.extract_answer is verifier.extract_answer
    assert compass.load_run is run.read_run
    assert compass.load_settings is settings.load_settings
    assert compass.read_records is records.read_records
    assert set(compass.__all__) <= set(dir(compass))
    assert all(getattr(compass, name) is not None for name in dir(compass))


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="no attribute 'verifi'"):
        compass.verifi  # noqa: B018 - looking it up is the test


def test_the_version_stands_in_one_place(capsys: pytest.CaptureFixture[str]) -> None:
    assert compass.__version__ == version("compass-thinker")
    assert main(["--version"]) == 0
    assert compass.__version__ in capsys.readouterr().out


def test_importing_it_imports_nothing_else() -> None:
    code = "import sys; before = set(sys.modules); import compass; print([m for m in set(sys.modules) - before if '.' not in m])"
    shown = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    outside = set(json.loads(shown.stdout.replace("'", '"'))) - set(sys.stdlib_module_names)
    assert outside == {"compass"}


def test_the_docstring_s_examples_hold(tmp_path: Path) -> None:
    assert compass.verify(gold="1/2", answer="0.5").equal
    assert compass.judge(gold="1/2", response=r"So \boxed{0.5}.").equal
    (tmp_path / "metrics").mkdir()
    scores = {"models": {"rl-3": {"level-1": {"accuracy": 0.5, "problems": 60}}}}
    (tmp_path / "metrics/evaluate.json").write_text(json.dumps(scores))
    assert compass.load_run(tmp_path).results.scores["rl-3"]["level-1"]["accuracy"] == 0.5


def test_a_missing_package_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "compass.records", raising=False)
    with pytest.raises(ImportError, match=r"compass-thinker\[curate\]"):
        compass.read_records  # noqa: B018 - looking it up is the test
