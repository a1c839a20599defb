"""`compass why`: by id, by text, and where nothing is like it."""

from __future__ import annotations

from pathlib import Path

import pytest

from compass.cli import main

Pipeline = tuple[Path, list[str]]


def why(folder: Path, *words: str) -> int:
    return main(["why", *words, "--data", str(folder)])


def test_an_id_tells_its_story(pipeline: Pipeline, capsys: pytest.CaptureFixture[str]) -> None:
    folder, ids = pipeline
    assert why(folder, ids[0]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0] == f"{ids[0]}  web, row 0  licence MIT"
    assert told[-2:] == ["denoise     DROPPED: link", "              text             example.org"]


def test_a_text_with_the_same_words_tells_the_story_at_once(
    pipeline: Pipeline, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, ids = pipeline
    assert why(folder, "what", "is", "5", "plus 5") == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith(ids[5])
    assert told[-1] == "              answer           10"


def test_a_similar_text_says_how_similar_and_what_else_is(
    pipeline: Pipeline, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, ids = pipeline
    assert why(folder, "Tom has 2 books and buys 3 more of them. How many books does Tom have?") == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "No row has exactly these words; the most similar one (word trigrams, 0.93):"
    assert told[2].startswith(ids[2])
    assert told[-1].startswith("Also similar: ")
    assert told[-1].count("(web, 0.") == 2


def test_nothing_found_is_an_error(pipeline: Pipeline, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, _ = pipeline
    assert why(folder, "0" * 16) == 1
    assert "compass why: no row has the id '0000000000000000'" in capsys.readouterr().err
    assert why(folder, "quite another thing") == 1
    assert capsys.readouterr().err == f"compass why: no collected problem is like that text in {folder}\n"
    assert why(tmp_path / "none", "0" * 16) == 1
    assert "holds no collected rows" in capsys.readouterr().err


def test_a_word_that_is_no_id_is_a_text(pipeline: Pipeline, capsys: pytest.CaptureFixture[str]) -> None:
    for text in ("0" * 15, "0" * 17, "G" * 16):
        assert why(pipeline[0], text) == 1
        assert "no collected problem is like that text" in capsys.readouterr().err


def test_a_truncated_file_is_named(pipeline: Pipeline, capsys: pytest.CaptureFixture[str]) -> None:
    folder, ids = pipeline
    (folder / "verify" / "kept.parquet").write_bytes(b"PAR1 cut")
    assert why(folder, ids[1]) == 1
    assert "verify/kept.parquet: unreadable" in capsys.readouterr().err
