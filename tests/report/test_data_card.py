"""The data card counts what the stages kept and dropped, as Markdown and as one HTML page with bars."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from compass.ledger import Drop, Reason, split
from compass.page.blocks import Bars, Bullets, Table
from compass.records import write_records
from compass.report.data_card import LIMITS, card_sections, write_card
from compass.report.outputs import Outputs, open_outputs

ROOT = Path(__file__).resolve().parents[2]
Pipeline = tuple[Path, list[str]]


@dataclass
class Shown:
    """A section by its kinds of parts."""

    text: str = ""
    table: Sequence[Any] = ()
    bars: list[str] | None = None


def sections(outputs: Outputs) -> dict[str, Shown]:
    found = {}
    for section in card_sections(outputs):
        shown = found[section.title] = Shown()
        for part in section.parts:
            match part:
                case str():
                    shown.text = part
                case Bullets():
                    shown.text = "\n".join(part.lines)
                case Table():
                    shown.table = [tuple(part.head), *part.rows]
                case Bars():
                    shown.bars = [name for name, *_ in part.items]
    return found


def collected(folder: Path, rows: pa.Table, drops: dict[int, Drop] | None = None) -> Outputs:
    """Outputs of a collect stage alone."""
    kept, dropped = split(rows, [(drops or {}).get(row) for row in range(rows.num_rows)], "collect")
    write_records(folder / "collect" / "kept.parquet", kept)
    write_records(folder / "collect" / "dropped.parquet", dropped)
    return open_outputs(folder)


def test_the_card_counts_the_rows_of_a_pipeline(pipeline: Pipeline) -> None:
    shown = sections(open_outputs(pipeline[0]))
    assert re.findall(r"\d+", shown["Summary"].text) == ["2", "7", "2", "2"]
    assert shown["Composition"].table == [
        ("source", "licence", "read", "kept", "share kept"),
        ("web", "MIT", 5, 2, "40.0%"),
        ("book", "CC0", 2, 0, "0.0%"),
    ]
    assert shown["Dropped rows"].table == [
        ("stage", "reason", "rows"),
        ("collect", "missing_answer", 1),
        ("dedup", "near_duplicate", 1),
        ("denoise", "link", 1),
        ("verify", "unreadable_gold", 1),
        ("curriculum", "solve_rate", 1),
    ]
    assert shown["Levels"].text.endswith("Known for 2 of 2 rows.")
    assert shown["Graded levels"].table == [("level", "rows", "share"), ("4", 2, "100.0%")]
    assert shown["Answer types"].table == [("answer_type", "rows", "share"), ("integer", 2, "100.0%")]
    assert shown["Contamination"].table == [("benchmark", "items", "rows dropped"), ("bench", 2, 0)]
    assert shown["Duplicates"].table == [("cluster size", "problems"), ("1 row", 1), ("2 rows", 1)]
    assert " 0 rows " in shown["Duplicates"].text
    with_bars = [title for title, section in shown.items() if section.bars]
    assert with_bars == [title for title, section in shown.items() if section.table]
    assert len(shown["Known limits"].text.splitlines()) == 5


def test_the_page_that_the_card_names_gives_precision_and_recall() -> None:
    (page,) = re.findall(r"docs/\S+\.md", " ".join(LIMITS))
    assert re.search(r"\| reason \|.*\| precision \| recall \|", (ROOT / page).read_text(encoding="utf-8"))


def test_lengths_fall_into_classes_at_their_edges(tmp_path: Path, records) -> None:
    lengths = [1, 49, 50, 99, 100, 3999, 4000, 9000]
    outputs = collected(tmp_path, records(*[("x" * length, "1", "web") for length in lengths]))
    section = sections(outputs)["Problem length"]
    counts = dict(section.table[1:])
    assert {name: count for name, count in counts.items() if count} == {
        "0 to 49": 2,
        "50 to 99": 2,
        "100 to 199": 1,
        "2,000 to 3,999": 1,
        "4,000 and more": 2,
    }
    assert list(counts)[:2] == ["0 to 49", "50 to 99"]
    assert len(counts) == 11
    assert section.text == "In characters. Median 100."


def test_a_set_without_rows_has_a_card(tmp_path: Path, records) -> None:
    outputs = collected(tmp_path, records(("x", "1", "web")), {0: Drop(Reason.LICENCE)})
    shown = sections(outputs)
    assert re.findall(r"\d+", shown["Summary"].text) == ["0", "1", "1"]
    assert shown["Composition"].table[1] == ("web", "None", 1, 0, "0.0%")
    assert shown["Problem length"].text == "In characters."
    assert shown["Levels"].text.endswith(" Not known for any row.")
    assert not shown["Levels"].table
    assert shown["Levels"].bars is None
    assert not shown["Contamination"].table


def test_only_the_most_frequent_values_and_the_smallest_clusters_are_shown(tmp_path: Path, records) -> None:
    levels = [str(n) for n in range(20)]
    rows = [("x", "1", "web", {"source_level": level}) for level in [*levels, *levels[:2], "", ""]]
    section = sections(collected(tmp_path / "20", records(*rows)))["Levels"]
    assert section.text.endswith(" Known for 22 of 24 rows.")
    assert section.table[1:4] == [("0", 2, "8.3%"), ("1", 2, "8.3%"), ("10", 1, "4.2%")]
    assert len(section.table) == 21
    section = sections(collected(tmp_path / "21", records(*rows, ("x", "1", "web", {"source_level": "z"}))))["Levels"]
    assert section.text.endswith(" The 20 most frequent of 21.")
    assert len(section.table) == 21
    rows = [("x", "1", "web", {"cluster_size": size}) for size in [*range(1, 14), 2]]
    table = sections(collected(tmp_path / "clusters", records(*rows)))["Duplicates"].table
    assert table[1:3] == [("1 row", 1), ("2 rows", 2)]
    assert (table[-1], len(table)) == (("12 rows", 1), 13)


def test_contaminated_and_contradicted_rows_are_counted(tmp_path: Path, records) -> None:
    rows = records(*[(f"{number}?", "1", "web") for number in range(6)])
    drops = {n: Drop(Reason.CONTAMINATED, {"benchmark": name}) for n, name in enumerate(("a", "a", "gone"))}
    drops |= {3: Drop(Reason.ANSWER_CONFLICT, {"twin": "x"}), 4: Drop(Reason.ANSWER_CONFLICT, {"twin": "x"})}
    outputs = collected(tmp_path, rows, drops)
    items = [("1", "1", "b"), ("2", "2", "a"), ("3", "3", "a")]
    write_records(tmp_path / "collect" / "benchmarks.parquet", records(*items))
    shown = sections(outputs)
    assert shown["Contamination"].table == [("benchmark", "items", "rows dropped"), ("a", 2, 2), ("b", 1, 0)]
    assert "2 rows were dropped for an answer that others contradict" in shown["Duplicates"].text


def test_the_files_are_written_and_belong_together(pipeline: Pipeline, tmp_path: Path) -> None:
    out = tmp_path / "new" / "card"
    written = write_card(open_outputs(pipeline[0]), out)
    names = {path.name for path in written}
    assert {path.name for path in out.iterdir()} == names
    assert names == {"card.md", "card.html", "croissant.json"}
    text, page = (out / "card.md").read_text(), (out / "card.html").read_text()
    assert text.split("---\n\n")[1].startswith("# Data card\n\n## Summary\n\n2 problems")
    assert "stage, reason and evidence.\n\n| stage | reason | rows |\n| --- | --- | --- |\n" in text
    assert "| dedup | near_duplicate | 1 |\n" in text
    assert "## Known limits\n\n- Golds are" in text
    assert "<tr><td>dedup</td><td>near_duplicate</td><td class='n'>1</td></tr>" in page
    assert "<ul><li>Golds are" in page
    assert page.count("<div class='bars'>") == 8
    assert "<span>near_duplicate</span>" in page
    again = tmp_path / "again" / "card"  # as deep, for the paths of the rows
    write_card(open_outputs(pipeline[0]), again)
    assert {path.name: path.read_bytes() for path in again.iterdir()} == {
        path.name: path.read_bytes() for path in out.iterdir()
    }


def test_hostile_names_are_shown_as_they_are(tmp_path: Path, records) -> None:
    hostile = "<b>|`[x](y)\x1b"
    outputs = collected(tmp_path, records(("x", "1", hostile + "\n" + "z" * 90)))
    write_card(outputs, tmp_path / "card")
    text, page = (tmp_path / "card" / "card.md").read_text(), (tmp_path / "card" / "card.html").read_text()
    assert "| \\<b\\>\\|\\`\\[x\\](y) " + "z" * 67 + "… |" in text
    assert "<b>" not in page
    assert "\x1b" not in text + page
