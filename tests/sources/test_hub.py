"""Hub datasets, with the hub itself replaced: it is out of reach of a test."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import datasets
import huggingface_hub
import pytest

from compass.settings import Collect, Source, load_settings
from compass.sources.collect import collect
from compass.sources.hub import resolve_commit
from compass.sources.pin import main, pin
from compass.sources.read import SourceError

ROOT = Path(__file__).resolve().parents[2]
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def hub(monkeypatch):
    """The hub's one branch points at COMMIT; what is asked of it is in `asked`."""
    fake = SimpleNamespace(
        sha=COMMIT, asked=[], rows=[{"problem": "1+1?", "answer": "2"}, {"problem": "", "answer": "3"}]
    )

    def dataset_info(self, repository, revision):
        fake.asked.append((repository, revision))
        return SimpleNamespace(sha=fake.sha)

    def load_dataset(*where, **options):
        fake.asked.append((where, options))
        return fake.rows

    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", dataset_info)
    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    return fake


def test_a_branch_is_resolved_and_a_commit_taken_as_it_is(hub):
    assert resolve_commit("owner/set", "main") == COMMIT
    assert resolve_commit("owner/set", COMMIT[::-1]) == COMMIT[::-1]
    assert hub.asked == [("owner/set", "main")]
    hub.sha = None
    with pytest.raises(SourceError, match="owner/set: the hub names no commit for revision 'main'"):
        resolve_commit("owner/set", "main")


def gather(revision, **fields):
    source = Source(name="s", hub="owner/set", revision=revision, **fields)
    return collect([source], Collect(sources=[source], benchmarks=[]))


def test_rows_are_read_at_the_commit_that_the_branch_names_now(hub):
    found = gather("main", subset="part", split="test")
    assert hub.asked[1] == (("owner/set", "part"), {"split": "test", "revision": COMMIT, "streaming": False})
    assert found.kept.column("source_id").to_pylist() == ["0"]
    assert found.dropped.column("source_id").to_pylist() == ["1"]
    facts = found.sources["s"]
    assert (facts["hub"], facts["revision"], facts["commit"]) == ("owner/set", "main", COMMIT)
    assert facts["warning"] == f"owner/set: revision 'main' can move; pin `revision: {COMMIT}` to repeat this run"


def test_a_pinned_source_has_no_warning_and_no_subset_unless_named(hub):
    assert "warning" not in gather(COMMIT).sources["s"]
    assert hub.asked == [(("owner/set", None), {"split": "train", "revision": COMMIT, "streaming": False})]
    hub.asked.clear()
    gather(COMMIT, stream=True)
    assert hub.asked[0][1]["streaming"] is True


def test_what_the_hub_refuses_is_one_line(hub, monkeypatch):
    def refuse(*_, **__):
        raise ValueError("x" * 400 + "\nsecond line")

    monkeypatch.setattr(datasets, "load_dataset", refuse)
    with pytest.raises(SourceError, match=rf"set at {COMMIT}, subset 'part', split 'train': .*ValueError: x{{300}}\);"):
        gather(COMMIT, subset="part")
    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", lambda *_, **__: (_ for _ in ()).throw(OSError("")))
    with pytest.raises(SourceError, match=r"^owner/set at main: cannot be read from the hub \(OSError: OSError\);"):
        gather("main")


SOURCES = """\
    - {name: a, hub: owner/set, revision: main} # a comment
    - name: b
      hub: "owner/other"
      revision: "v1"
    - {name: c, hub: owner/pinned, revision: "COMMIT"}
    - {name: d, path: rows.jsonl}
""".replace("COMMIT", COMMIT[::-1])


@pytest.fixture
def parameters(tmp_path):
    """A whole parameter file whose sources are SOURCES."""
    text = (ROOT / "profiles/small.yaml").read_text()
    path = tmp_path / "params.yaml"
    path.write_text(
        re.sub(r"(\n  sources:\n).*?(\n  benchmarks:)", lambda m: m[1] + SOURCES + m[2], text, count=1, flags=re.S)
    )
    return path


def test_pinning_writes_commits_in_place_of_branches_and_nothing_else(hub, parameters):
    before = parameters.read_text()
    assert pin(parameters) == {"owner/set": COMMIT, "owner/other": COMMIT}
    assert sorted(hub.asked) == [("owner/other", "v1"), ("owner/set", "main")]
    assert parameters.read_text() == before.replace("revision: main}", f"revision: {COMMIT}}}").replace("v1", COMMIT)
    assert [source.revision for source in load_settings(parameters).collect.sources] == [
        COMMIT,
        COMMIT,
        COMMIT[::-1],
        "",
    ]
    assert pin(parameters) == {}


def test_a_revision_apart_from_its_hub_is_not_guessed(hub, parameters):
    text = parameters.read_text().replace("hub: owner/set, revision: main}", "revision: main, hub: owner/set}")
    parameters.write_text(text)
    with pytest.raises(SourceError, match="write `revision: main` right behind `hub: owner/set`"):
        pin(parameters)
    assert parameters.read_text() == text


def test_the_command_names_what_it_pinned_and_what_it_could_not(hub, parameters, capsys):
    main([str(parameters)])
    assert f"{parameters}: owner/set -> {COMMIT}\n" in capsys.readouterr().out
    with pytest.raises(SystemExit, match=r"^pin: .*nowhere\.yaml"):
        main(["nowhere.yaml"])
    with pytest.raises(SystemExit, match="usage"):
        main([])
