"""The registry of known sources, and its adapters on real files of the same shape."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compass.settings import Collect, load_settings
from compass.sources.collect import collect
from compass.sources.read import SourceError
from compass.sources.recognise import REGISTRY, described, find, for_file

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "data"
needs_data = pytest.mark.skipif(not SHARED.exists(), reason=f"real data is not beside the repository ({SHARED})")

# Rows as published, kept, and the first gold of each real source.
REAL = {
    "math-train": (7_500, 7_498, "0"),
    "gsm8k-train": (7_473, 7_473, "72"),
    "aime-1983-2023": (975, 975, "60"),
    "dsr-sub": (1_209, 1_208, "\\frac{3}{7}"),
    "deepscaler": (39_808, 39_808, "28"),
    "numina-20k": (20_000, 20_000, "55"),
    "agieval-math": (1_000, 1_000, "(3,4]"),
    "aqua": (508, 508, "A"),
    "gaokao-mathqa": (351, 351, "D"),
    "cmath": (960, 960, "9"),
    "harp-proof": (310, 28, None),
    "proofnet": (371, 0, None),
}


@needs_data
@pytest.mark.parametrize("name", REAL)
def test_a_known_source_reads_the_real_file(name, monkeypatch):
    monkeypatch.setenv("COMPASS_DATA", str(SHARED))
    source = find(name).source
    found = collect([source], Collect(sources=[source], benchmarks=[]))
    rows, kept, gold = REAL[name]
    assert (found.read, found.kept.num_rows) == (rows, kept)
    assert found.read == find(name).rows
    if gold is not None:
        assert found.kept.column("answer")[0].as_py() == gold
    problems = found.kept.column("problem").to_pylist()
    assert not any("output the final answer within" in problem for problem in problems)


def test_the_small_profile_reads_the_sources_of_the_registry():
    for source in load_settings(ROOT / "profiles/small.yaml").collect.sources:
        assert source == find(source.name).source


def test_every_entry_has_a_licence_and_a_description():
    for name, known in REGISTRY.items():
        assert known.about, name
        assert known.source.licence, name
        assert known.source.path or known.source.revision, name


def test_the_page_on_sources_lists_the_registry():
    page = (ROOT / "docs/reference/sources.md").read_text(encoding="utf-8")
    for name, known in REGISTRY.items():
        source = known.source
        hub = f"`{source.hub}`" + (f", `{source.subset}`" if source.subset else "")
        where = hub if source.hub else f"file `{Path(source.path).name}`"
        assert f"\n| `{name}` | {where} | {known.rows:,} | {source.licence} | {known.about} |\n" in page


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(SourceError, match=r"there are numina-1\.5, numina-cot"):
        find("numina-2")


@pytest.mark.parametrize("name", ["gsm8k_train.jsonl", "gsm8k_train.json"])
def test_a_file_of_a_known_name_has_the_settings_of_the_registry(tmp_path, name):
    (tmp_path / name).write_text('{"question": "1?", "answer": "#### 1"}\n')
    source = for_file(tmp_path / name)
    assert source == find("gsm8k-train").source.model_copy(update={"path": str(tmp_path / name)})


def test_a_file_that_is_only_named_as_a_known_source_is_guessed_and_says_so(tmp_path):
    path = tmp_path / "math_train_hendrycks.jsonl"
    path.write_text("".join(json.dumps({"Frage": f"What is {n} + 1?", "gold": n + 1}) + "\n" for n in range(3)))
    source, said = described(path)
    assert (source.name, source.problem_field, source.answer_field) == ("math_train_hendrycks", "Frage", "gold")
    assert said[0].startswith(f"{path}: is named as the known source math-train, but no row has its field 'prompt'")
    assert collect([source], Collect(sources=[source], benchmarks=[])).kept.num_rows == 3


def test_a_guess_looks_at_rows_of_the_whole_file_and_of_each_file(tmp_path):
    rows = [{"problem": f"{n}?", "answer": ""} for n in range(500)]
    late = [{"problem": f"{n}?", "gold": str(n % 7)} for n in range(2000)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in [*rows, *late]))
    (tmp_path / "b.jsonl").write_text("".join(json.dumps(row) + "\n" for row in late))
    assert for_file(tmp_path / "a.jsonl").answer_field == for_file(tmp_path).answer_field == "gold"
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(SourceError, match="no field looks like a gold or solution"):
        for_file(tmp_path / "a.jsonl")


def test_known_local_files_are_read_from_the_data_folder_by_their_name():
    local = [known for known in REGISTRY.values() if known.source.path.startswith("$COMPASS_DATA/raw/")]
    assert [known.source.path for known in local] == [f"$COMPASS_DATA/raw/{known.files[0]}.jsonl.gz" for known in local]
    assert {known.source.name: known.rows for known in local} == {name: rows for name, (rows, _, _) in REAL.items()}
