"""Files that nobody described, and the profile's sources on their real files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from compass.settings import Collect, load_settings
from compass.sources.collect import collect
from compass.sources.read import SourceError
from compass.sources.recognise import for_file

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


SMALL = {source.name: source for source in load_settings(ROOT / "profiles/small.yaml").collect.sources}


@needs_data
@pytest.mark.parametrize("name", REAL)
def test_a_source_of_the_small_profile_reads_its_real_file(name, monkeypatch):
    monkeypatch.setenv("COMPASS_DATA", str(SHARED))
    found = collect([SMALL[name]], Collect(sources=[SMALL[name]], benchmarks=[]))
    rows, kept, gold = REAL[name]
    assert (found.read, found.kept.num_rows) == (rows, kept)
    if gold is not None:
        assert found.kept.column("answer")[0].as_py() == gold
    problems = found.kept.column("problem").to_pylist()
    assert not any("output the final answer within" in problem for problem in problems)


@needs_data
@pytest.mark.parametrize("name", ["aime-1983-2023", "dsr-sub", "numina-20k", "agieval-math", "aqua", "gaokao-mathqa"])
def test_a_file_is_guessed_as_the_small_profile_describes_it(name):
    path = Path(SMALL[name].path.replace("$COMPASS_DATA", str(SHARED)))
    described = SMALL[name].model_copy(
        update={"name": path.name.split(".")[0], "path": str(path), "licence": "unknown"}
    )
    assert for_file(path) == described


def test_the_page_lists_the_sources_of_the_small_profile():
    page = (ROOT / "docs/reference/sources.md").read_text(encoding="utf-8")
    for name, source in SMALL.items():
        rows, _, _ = REAL[name]
        assert f"\n| `{name}` | `{Path(source.path).name}` | {rows:,} | {source.licence} |" in page


def test_the_entries_for_the_hub_on_the_page_are_sources():
    page = (ROOT / "docs/reference/sources.md").read_text(encoding="utf-8")
    block = re.search(r"\n## Open sets on the hub\n.*?```yaml\n(.*?)```", page, re.DOTALL)
    sources = Collect(**yaml.safe_load(block[1])["collect"], benchmarks=[]).sources
    assert [source.name for source in sources if not (source.path or source.revision)] == []


def test_a_guess_looks_at_rows_of_the_whole_file_and_of_each_file(tmp_path):
    rows = [{"problem": f"{n}?", "answer": ""} for n in range(500)]
    late = [{"problem": f"{n}?", "gold": str(n % 7)} for n in range(2000)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in [*rows, *late]))
    (tmp_path / "b.jsonl").write_text("".join(json.dumps(row) + "\n" for row in late))
    assert for_file(tmp_path / "a.jsonl").answer_field == for_file(tmp_path).answer_field == "gold"
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(SourceError, match="no field looks like a gold or solution"):
        for_file(tmp_path / "a.jsonl")
