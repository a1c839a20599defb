"""What a stage read and wrote, by DVC's own hashes."""

import hashlib
import json
from pathlib import Path

import pytest

from compass.runs.dvc_files import Graph, digest, dvc_md5

DVC_YAML = """
stages:
  a: {cmd: x, deps: [raw], outs: [data/a, {data/b.txt: {cache: false}}], metrics: [m.json], plots: [{plots/a: {x: y}}]}
  b: {cmd: x, deps: [data/a/kept.parquet, code.py], outs: [data/c]}
  c: {cmd: x, deps: [data, m.json], outs: [d]}
  d: {cmd: x}
  e: {cmd: x, deps: [data/ab, d/x], outs: [e]}
"""


@pytest.fixture
def graph(tmp_path: Path) -> Graph:
    (tmp_path / "dvc.yaml").write_text(DVC_YAML)
    return Graph(tmp_path)


def test_a_folder_without_dvc_files_has_no_stages(tmp_path: Path) -> None:
    graph = Graph(tmp_path)
    assert (graph.stages, graph.lock) == ({}, {})
    assert (graph.deps("a"), graph.outs("a"), graph.locked_outs("a")) == ([], [], {})
    (tmp_path / "dvc.yaml").write_text("")
    (tmp_path / "dvc.lock").write_text("schema: '2.0'\n")
    assert (Graph(tmp_path).stages, Graph(tmp_path).lock) == ({}, {})


def test_deps_and_outs_are_those_of_dvc_yaml(graph: Graph) -> None:
    assert graph.deps("b") == ["data/a/kept.parquet", "code.py"]
    assert graph.outs("a") == ["data/a", "data/b.txt", "m.json", "plots/a"]
    assert (graph.deps("d"), graph.outs("d")) == ([], [])


@pytest.mark.parametrize(
    ("stage", "ancestors"), [("a", []), ("b", ["a"]), ("c", ["a", "b"]), ("d", []), ("e", ["a", "b", "c"])]
)
def test_ancestors_are_reached_through_files_in_folders_and_folders_of_files(
    graph: Graph, stage: str, ancestors: list[str]
) -> None:
    assert graph.ancestors(stage) == ancestors


def test_hashes_are_dvcs_own(tmp_path: Path) -> None:
    from dvc.repo import Repo

    folder = tmp_path / "folder"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub/x.txt").write_text("x")
    (folder / "a.txt").write_text("a")
    Repo.init(str(tmp_path), no_scm=True).close()
    with Repo(str(tmp_path)) as repo:
        (stage,) = repo.add(str(folder))
        assert dvc_md5(folder) == stage.outs[0].hash_info.value
    assert dvc_md5(folder).endswith(".dir")
    assert dvc_md5(folder / "a.txt") == hashlib.md5(b"a", usedforsecurity=False).hexdigest()


def test_byte_code_is_left_out_of_a_folders_hash(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("a")
    before = dvc_md5(tmp_path)
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__/a.pyc").write_text("b")
    assert dvc_md5(tmp_path) == before
    (tmp_path / "b.py").write_text("b")
    assert dvc_md5(tmp_path) != before


def test_hashes_of_what_exists_come_from_the_lock_where_another_stage_wrote_it(graph: Graph, tmp_path: Path) -> None:
    (tmp_path / "data/a").mkdir(parents=True)
    (tmp_path / "data/a/kept.parquet").write_text("rows")
    (tmp_path / "code.py").write_text("code")
    assert graph.dep_hashes("b") == {
        "data/a/kept.parquet": dvc_md5(tmp_path / "data/a/kept.parquet"),
        "code.py": dvc_md5(tmp_path / "code.py"),
    }
    assert graph.out_hashes("a") == {"data/a": dvc_md5(tmp_path / "data/a")}
    locked = {"a": {"outs": [{"path": "code.py", "md5": "1"}, {"path": "gone", "md5": "2"}]}, "b": {"cmd": "x"}}
    (tmp_path / "dvc.lock").write_text(json.dumps({"stages": locked}))
    (tmp_path / "data/a/kept.parquet").unlink()
    assert Graph(tmp_path).dep_hashes("b") == {"code.py": "1"}
    assert Graph(tmp_path).locked_outs("a") == {"code.py": "1", "gone": "2"}
    assert Graph(tmp_path).locked_outs("b") == Graph(tmp_path).locked_outs("c") == {}


def test_a_digest_does_not_depend_on_the_order_of_the_paths() -> None:
    assert digest({"a": "1", "b": "2"}) == digest({"b": "2", "a": "1"}) != digest({"a": "2", "b": "1"})
    assert len(digest({})) == 32


def test_what_changed_since_a_stage_last_ran(tmp_path: Path) -> None:
    """A stage before it ran again, or has other settings in the parameter file; one that is not before it does not count."""
    (tmp_path / "dvc.yaml").write_text(
        "stages:\n  train: {cmd: x, outs: [model]}\n  score: {cmd: x, deps: [model], outs: [scores]}\n  page: {cmd: x, deps: [scores], outs: [page]}\n"
    )

    def changed(model: str = "1", rate: object = 1, **params: object) -> list[str]:
        read = {"path": "model", "md5": "1"}
        stages = {
            "train": {"outs": [{"path": "model", "md5": model}], "params": {"params.yaml": {"rl.rate": rate}}},
            "score": {"deps": [read], "outs": [{"path": "scores", "md5": "2"}], "params": {"params.yaml": {"seed": 0}}},
            "page": {"deps": [{"path": "scores", "md5": "2"}], "params": {"params.yaml": {"title": "other"}}},
        }
        (tmp_path / "dvc.lock").write_text(json.dumps({"stages": stages}))
        (tmp_path / "params.yaml").write_text(json.dumps({"rl": {"rate": 1}, "seed": 0, "title": "mine", **params}))
        return Graph(tmp_path).changed_since("score")

    assert changed() == []
    assert changed(model="new") == ["train"]
    assert changed(rate=2) == ["train"]
    assert changed(seed=1) == ["score"]
    assert changed(model="new", seed=1) == ["train", "score"]
    assert changed(rl={}) == ["train"], "a setting that is gone"
    assert changed(rate=0.003, rl={"rate": "3e-3"}) == [], "one number in another notation"
    assert Graph(tmp_path).changed_since("never-ran") == []


def test_a_folder_that_lacks_what_its_paths_name_has_no_changes(tmp_path: Path) -> None:
    (tmp_path / "dvc.yaml").write_text("stages: {score: {cmd: x, deps: ['models/${rl.start}'], outs: [scores]}}")
    (tmp_path / "dvc.lock").write_text(json.dumps({"stages": {"score": {"outs": [{"path": "scores", "md5": "1"}]}}}))
    assert Graph(tmp_path).changed_since("score") == []
