"""Readings that the rows contradict, and fields that nothing reads."""

from __future__ import annotations

import json

import pytest

from compass.settings import Collect, Source
from compass.sources.adapters import ADAPTERS
from compass.sources.collect import collect
from compass.sources.read import SourceError, file_rows
from compass.sources.recognise import described, read_as

COUNT = range(60)
ASKED = [f"Tom had {n} boxes with {n * 7 % 11} pens each. How many pens had he at last?" for n in COUNT]
GOLDS = [str(n * 7 % 11 * n) for n in COUNT]
WORKED = [f"We count the pens one box after the other and get $\\boxed{{{gold}}}$." for gold in GOLDS]
TABLES = [f"Name | Pens\nTom | {n}\nAnn | {n * 7 % 11}" for n in COUNT]


def rows(**fields):
    """Sixty rows; a list of sixty gives each row its value, anything else stands in all of them."""
    return [
        {name: value[n] if isinstance(value, list) and len(value) == 60 else value for name, value in fields.items()}
        for n in COUNT
    ]


def write(path, made):
    path.write_text("".join(json.dumps(row) + "\n" for row in made))
    return path


def reading(tmp_path, made):
    """The problems and golds that a guess reads, the settings, and what is printed."""
    path = write(tmp_path / "mine.jsonl", made)
    source, lines = described(path)
    published = [ADAPTERS[source.adapter](row, source) for row in made]
    return [one.problem for one in published], [one.answer for one in published], source, "\n".join(lines)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (rows(question=ASKED, key=list(COUNT), solution="It is plain."), "`key` rises from row to row, as a counter does"),
        (rows(question=ASKED, target="7"), "`target` is the same in all rows"),
        (rows(question=ASKED, label="a.png"), "`label` is the same in all rows"),
        (rows(question=ASKED, answer=[str(n * 13 % 60) for n in COUNT], solution=WORKED, size=GOLDS),
         r"`answer` \(for example '0'\), but only \d of 60 equal the answer that the solution in `solution` ends with; "
         r"nearer are `size` \(for example '0'; 60 of 60 agree\); name the golds' field: --answer-field NAME"),
        (rows(question=ASKED, answer=list(COUNT), final=GOLDS, solution="We count."), None),
        (rows(question=ASKED, one=GOLDS, other=[f"{gold}/5" for gold in GOLDS]),
         r"several fields could be the gold or solution \(`one`, for example '0', `other`, for example '0/5'\).*--answer-field NAME"),
        (rows(question=ASKED, answer=GOLDS)[:40] + rows(problem_in_words=ASKED, answer=GOLDS)[40:],
         r"20 of 60 sampled rows have no `question` and hold `problem_in_words` instead \(for example 'Tom had 40"),
        (rows(text=[f"Tom had {n} boxes. He went home. " * 5 for n in COUNT], table=TABLES,
              questions=[[asked] for asked in ASKED], answer=GOLDS),
         r"several fields could be the problem \(`text`, .*, `questions`, for example .*--problem-field NAME"),
    ],
    ids=["counter", "constant", "picture", "contradicted", "counter beside golds", "two candidates", "changed in the middle",
         "what a question refers to"],
)  # fmt: skip
def test_a_reading_that_the_rows_contradict_is_asked_about(tmp_path, made, message):
    if message is None:
        assert reading(tmp_path, made)[1] == GOLDS
        return
    with pytest.raises(SourceError, match=message):
        read_as(write(tmp_path / "mine.jsonl", made), {})


def test_what_the_user_names_is_not_questioned(tmp_path):
    path = write(tmp_path / "mine.jsonl", rows(question=ASKED, answer=["0"] * 60, solution=WORKED))
    assert read_as(path, {"answer_field": "answer"})[0].answer_field == "answer"
    with pytest.raises(SourceError, match=r"only \d of 60 equal"):
        read_as(write(path, rows(question=ASKED, answer=[str(n % 2 - 9) for n in COUNT], solution=WORKED)), {})


def test_golds_that_count_under_a_golds_name_are_named(tmp_path):
    _, golds, _, said = reading(tmp_path, rows(question=ASKED, answer=list(COUNT)))
    assert golds == [str(n) for n in COUNT]
    assert "doubtful: `answer` rises from row to row, as a counter does" in said


def test_golds_under_no_usual_name_are_found_by_the_solutions(tmp_path):
    _, golds, source, said = reading(
        tmp_path, rows(question=ASKED, key=list(COUNT), value_at_end=GOLDS, solution=WORKED)
    )
    assert (golds, source.answer_field) == (GOLDS, "value_at_end")
    assert "60 of 60 values equal what `solution` marks" in said


def test_a_second_file_of_another_shape_is_asked_about(tmp_path):
    write(tmp_path / "a.jsonl", rows(question=ASKED, answer=GOLDS))
    write(tmp_path / "b.jsonl", rows(exercise=ASKED, outcome=GOLDS))
    with pytest.raises(
        SourceError, match=r"which most rows of b\.jsonl lack; they hold `exercise` \(for example 'Tom had"
    ):
        described(tmp_path)
    write(tmp_path / "b.jsonl", rows(question=ASKED, answer=GOLDS))
    assert described(tmp_path)[0].answer_field == "answer"


def test_a_solution_that_asks_itself_something_is_no_rival_of_the_problem(tmp_path):
    told = [f"Let x = {n} and y = {n * 7 % 11}. Give the value of x y." for n in COUNT]
    thought = [f"I need to find x y. What is it? We compute it and get \\boxed{{{gold}}}." for gold in GOLDS]
    problems, _, source, _ = reading(tmp_path, rows(question=told, solution=thought, code="# find x", answer=GOLDS))
    assert (problems, source.solution_field) == (told, "solution")


@pytest.mark.parametrize(
    ("name", "tables"),
    [
        ("table", TABLES),
        ("passage", TABLES),
        ("context", TABLES),
        ("tables", [[table] for table in TABLES]),
        ("table", [[line.split(" | ") for line in table.splitlines()] for table in TABLES]),
    ],
)
def test_what_a_question_refers_to_is_joined(tmp_path, name, tables):
    problems, _, _, _ = reading(tmp_path, rows(question=ASKED, answer=GOLDS, **{name: tables}))
    assert problems == [f"{table}\n{asked}" for table, asked in zip(TABLES, ASKED, strict=True)]


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"preamble": [f"The shop of row {n} sells pens in boxes." for n in COUNT]}, "if problems refer to it: `problem_field: preamble, question`"),
        ({"scale": ["thousand", "million", "percent"] * 20}, "if golds lack their unit: `unit_field: scale`"),
        ({"canary": "canary GUID 26b5c67b"}, "its publisher asks that these rows train no model"),
        ({"model_pass_rate": [n / 60 for n in COUNT]}, "`level_field: model_pass_rate` with `level_means: solve_rate`"),
        ({"variants": [[f"{n}a", f"{n}b", f"{n}c"] for n in COUNT]}, "`adapter: options` with `options_field: variants`"),
        ({"meta": [{"unit": "cm" if n % 2 else "m"} for n in COUNT]}, "if golds lack their unit: `unit_field: meta.unit`"),
        ({"other_question": [f"{asked} And then?" for asked in ASKED]}, "if this is the problem to solve: `problem_field: other_question`"),
        ({"ref": [f"P-{n:03}" for n in COUNT]}, "not read: `ref` in 60 of 60 sampled rows (for example 'P-000'): if it names the rows: `id_field: ref`"),
        ({"ref": [f"P-{n // 2:03}" for n in COUNT]}, "not read: ref"),
        ({"colour": ["red", "blue"] * 30, "meta": [{"a": 1, "b": 2}] * 60}, "not read: colour, meta"),
        ({"Kl.": ["8", "9"] * 30, "zul. Hilfen": ["keine", "Lineal"] * 30}, "not read: Kl., zul. Hilfen"),
    ],
    ids=["context", "multiples", "canary", "solve rate", "choices", "unit", "problem", "id", "no id", "others", "dots in names"],
)  # fmt: skip
def test_what_nothing_reads_is_named_with_the_setting_that_reads_it(tmp_path, fields, line):
    _, golds, _, said = reading(tmp_path, rows(question=ASKED, answer=GOLDS, **fields))
    assert golds == GOLDS
    assert line in said


@pytest.mark.parametrize(
    ("problem", "fields", "line"),
    [
        ("Tom had N_0 nuts and found N_1 more.", {"quantities": ["3 4", "5 6.5"] * 30}, "hold no numbers, and `quantities` does (for example '3 4')"),
        ("Tom had [NUM] nuts. How many are left?", {"values": [[3, 4], [5, 6]] * 30}, "hold no numbers, and `values` does"),
        ("Tom had 3 nuts and found 4 more.", {"asks": "How many are there?"}, "ask nothing, and `asks` does (for example 'How many are there?')"),
        ("How many are 3 and 4 nuts?", {"values": [[3, 4], [5, 6]] * 30, "asks": "How many are there?"}, None),
    ],
    ids=["numbered placeholders", "one placeholder", "question apart", "whole"],
)  # fmt: skip
def test_a_half_of_the_problem_in_another_field_is_named(tmp_path, problem, fields, line):
    *_, said = reading(
        tmp_path, rows(problem=[f"{problem} (Tom no. {chr(65 + n % 26)})" for n in COUNT], answer=GOLDS, **fields)
    )
    assert line in said if line else "doubtful" not in said


def test_units_are_read_though_some_are_long(tmp_path):
    units = ["cm", "pens", "$10^7 \\mathrm{~km}$", "a text of a publisher that is no unit, and far too long for one"]
    _, golds, source, _ = reading(
        tmp_path, rows(question=ASKED, answer=["7"] * 59 + ["8"], unit=(units[:3] * 20)[:59] + units[3:])
    )
    assert source.unit_field == "unit"
    assert golds[:3] == ["7 cm", "7 pens", "7 \\times $10^7 \\mathrm{~km}$"] or golds[:2] == ["7 cm", "7 pens"]


@pytest.mark.parametrize(
    ("golds", "letters"),
    [
        ([n % 4 for n in COUNT], "ABCD"),
        ([n % 4 + 1 for n in COUNT], "ABCD"),
        ([str(n % 4 + 1) for n in COUNT], "ABCD"),
    ],
    ids=["from 0", "from 1", "from 1 as text"],
)
@pytest.mark.parametrize("field", ["choices", "variants"])
def test_positions_among_choices_are_letters(tmp_path, golds, letters, field):
    choices = [[f"{n}{letter} pens" for letter in "wxyz"] for n in COUNT]
    _, read, _, said = reading(tmp_path, rows(question=ASKED, answer=golds, **{field: choices}))
    assert read == [letters[n % 4] for n in COUNT] or ("options_field" in said and field == "variants")


def test_choices_that_are_golds_stay_values(tmp_path):
    _, golds, source, _ = reading(
        tmp_path, rows(question=ASKED, answer=[n % 4 for n in COUNT], choices=[["0", "1", "2", "3"]] * 60)
    )
    assert (golds, source.answer_is_index) == ([str(n % 4) for n in COUNT], False)


@pytest.mark.parametrize(
    "picture", ["images/3.png", "data:image/png;base64,iVBO", {"path": "3.jpg", "bytes": "x"}, ["3.png"]]
)
def test_rows_with_a_picture_are_dropped_as_figures(tmp_path, picture):
    made = rows(question=ASKED, answer=GOLDS, image=[picture if n % 2 else None for n in COUNT])
    source, _ = described(write(tmp_path / "mine.jsonl", made))
    collected = collect([source], Collect(sources=[source], benchmarks=[]))
    assert collected.kept.num_rows == 30
    assert set(collected.dropped["reason"].to_pylist()) == {"figure"}


def test_licences_of_rows_are_read_and_allowed(tmp_path):
    made = rows(question=ASKED, answer=GOLDS, license=["MIT", "CC BY 4.0", None] * 20)
    path = write(tmp_path / "mine.jsonl", made)
    source = described(path)[0].model_copy(update={"licence": "Apache-2.0"})
    collected = collect([source], Collect(sources=[source], benchmarks=[], allow_licences=["MIT", "Apache-2.0"]))
    assert collected.kept["licence"].to_pylist() == ["MIT", "Apache-2.0"] * 20
    assert set(collected.dropped["reason"].to_pylist()) == {"licence"}
    assert len(list(file_rows(path))) == 60


def test_licences_of_rows_may_be_allowed_where_no_sources_own_is() -> None:
    source = Source(name="s", path="s.jsonl", licence="unknown", licence_field="license")
    assert Collect(sources=[source], benchmarks=[], allow_licences=["MIT"]).allow_licences == ["MIT"]
