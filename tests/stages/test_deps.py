"""Which files a stage depends on, from the imports of a small tree."""

from pathlib import Path

import pytest
import yaml

from compass.settings import Settings
from stages._deps import code_deps, write_deps
from tests.conftest import changed_profile

FILES = {
    "stages/__init__.py": "# every stage",
    "stages/_stage.py": "import compass.hidden",
    "stages/dedup.py": "import os\nimport numpy\nfrom stages._stage import main\nfrom compass import files\nfrom compass.curation.dedup import dedup",
    "stages/rl.py": "def run():\n    import compass.rl.train",
    "compass/__init__.py": "",
    "compass/files.py": "x = 1",
    "compass/hidden.py": "x = 1",
    "compass/errors.py": "import compass.hidden",
    "compass/settings/data.py": "import compass.hidden",
    "compass/curation/__init__.py": "# content",
    "compass/curation/dedup.py": "from . import words\nfrom .clusters import find\nfrom .. import errors\nfrom compass.settings import data",
    "compass/curation/words.py": "from compass.curation.noise.damaged_text import check",
    "compass/curation/clusters.py": "from ..both import a, b\nimport compass.both.a",
    "compass/curation/unused.py": "x = 1",
    "compass/curation/noise/__init__.py": "",
    "compass/curation/noise/damaged_text.py": "x = 1",
    "compass/curation/noise/proof.py": "import compass.far",
    "compass/both/__init__.py": "",
    "compass/both/a.py": "x = 1",
    "compass/both/b.py": "x = 1",
    "compass/far.py": "import json",
    "compass/rl/train.py": "LOADED = ['pkg://compass.rl.sampler', 'compass.rl.worker.Worker', 'see compass.rl.shown']",
    "compass/rl/sampler.py": "import compass.files",
    "compass/rl/worker.py": "x = 1",
    "compass/rl/shown.py": "import compass.far",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_stage_depends_on_what_it_imports_directly_and_through_others(root: Path) -> None:
    assert code_deps("dedup", root) == [
        "compass/both",  # all of the folder is used
        "compass/curation/__init__.py",
        "compass/curation/clusters.py",
        "compass/curation/dedup.py",
        "compass/curation/noise",  # always named whole, with what its files import
        "compass/curation/words.py",
        "compass/far.py",
        "compass/files.py",
        "stages/dedup.py",
    ]


def test_a_folder_of_which_a_file_is_not_used_is_named_by_its_files(root: Path) -> None:
    (root / "compass/both/c.py").write_text("x = 1")
    assert [dep for dep in code_deps("dedup", root) if "both" in dep] == ["compass/both/a.py", "compass/both/b.py"]
    (root / "compass/both/c.py").write_text("")
    assert [dep for dep in code_deps("dedup", root) if "both" in dep] == ["compass/both"]


def test_every_rl_stage_has_one_script_and_depends_on_the_modules_that_strings_name(root: Path) -> None:
    assert code_deps("rl-1", root) == code_deps("rl-2", root)
    assert code_deps("rl-1", root) == [
        "compass/files.py",
        "compass/rl/sampler.py",
        "compass/rl/train.py",
        "compass/rl/worker.py",
        "stages/rl.py",
    ]


DVC_YAML = """\
# a comment
stages:
  dedup:
    cmd: python -m stages.dedup
    deps:
      - data/collect
      - compass/gone.py
    params:
      - dedup
    outs:
      - data/dedup
  rl-1:
    cmd: python -m stages.rl rl-1
    deps:
      - models/${rl.stages.rl-1.init_from}
    outs:
      - models/rl-1
"""


def test_deps_of_code_are_written_anew_and_all_else_stays(root: Path) -> None:
    settings = Settings.model_validate(changed_profile("tiny", {}))
    written = write_deps(DVC_YAML, root, settings)
    values = yaml.safe_load(written)["stages"]
    assert values["dedup"]["deps"] == sorted([*code_deps("dedup", root), "data/collect"])
    assert values["rl-1"]["deps"] == [
        *code_deps("rl-1", root)[:-1],
        "models/${rl.stages.rl-1.init_from}",
        "stages/rl.py",
    ]
    listed = [line for line in written.splitlines() if not line.startswith("      - ")]
    assert listed == [line for line in DVC_YAML.splitlines() if not line.startswith("      - ")]
    assert values["dedup"]["params"] == ["dedup"]
    assert values["dedup"]["outs"] == ["data/dedup"]
    assert write_deps(written, root, settings) == written
