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
from compass.sources.recognise import check_named, for_file, present, read_as

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


WORDED = [(f"How many are {n} and {7 * n % 20} apples in all?", str(n + 7 * n % 20)) for n in range(20)]


def write_rows(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize(
    ("row", "named", "read"),
    [
        (
            lambda asked, gold: {"question": asked, "why": f"So \\boxed{{{gold}}}.", "solution": gold},
            {"solution_field": "why"},
            {"problem_field": "question", "answer_field": "solution", "solution_field": "why"},
        ),
        (
            lambda asked, gold: {"text": asked, "problem": {"id": asked[9:25].replace(" ", "-")}, "answer": gold},
            {"problem_field": "text"},
            {"problem_field": "text", "answer_field": "answer", "id_field": "problem.id"},
        ),
        (
            lambda asked, gold: {"question": asked, "info": {"alpha": gold, "beta": f"{gold}1"}},
            {"answer_field": "info.alpha"},
            {"problem_field": "question", "answer_field": "info.alpha"},
        ),
        (
            lambda asked, gold: {"talk": [{"says": asked}, {"says": f"So \\boxed{{{gold}}}."}]},
            {"problem_field": "talk.0.says", "solution_field": "talk.1.says"},
            {"problem_field": "talk.0.says", "solution_field": "talk.1.says"},
        ),
    ],
    ids=["a field of the usual name", "fields inside of it", "a dotted path", "a path through a list"],
)
def test_named_fields_are_read_and_the_others_keep_their_names(tmp_path, row, named, read):
    path = write_rows(tmp_path / "a.jsonl", [row(*one) for one in WORDED])
    check_named([path], named)
    assert present(path, named) == named
    source, lines = read_as(path, named)
    assert {name: value for name, value in source if name.endswith("_field") and value} == read
    assert "__" not in "".join(lines)


def test_what_cannot_be_guessed_is_told_in_the_files_own_names(tmp_path):
    rows = [{"text": asked, "problem": gold, "b": gold + "1"} for asked, gold in WORDED]
    with pytest.raises(
        SourceError, match=r"could be the gold or solution \(`problem`, .*, `b`, .*\); found: .*problem, b"
    ):
        read_as(write_rows(tmp_path / "a.jsonl", rows), {"problem_field": "text"})


def test_a_file_that_cannot_be_read_hides_no_named_field(tmp_path):
    whole = write_rows(tmp_path / "a.jsonl", [{"question": asked, "answer": gold} for asked, gold in WORDED])
    broken = tmp_path / "b.jsonl"
    broken.write_text("{}\n{")
    check_named([whole, broken], {"problem_field": "question"})
    check_named([broken], {"problem_field": "question"})
    with pytest.raises(SourceError, match=r"no file has the field 'x': \S+a\.jsonl has question, answer$"):
        check_named([whole, broken], {"problem_field": "x"})
