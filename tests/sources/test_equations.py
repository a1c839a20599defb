"""Worked solutions from published equations: what can be computed is written out, and nothing that the answer contradicts."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from compass.settings import Collect, Source
from compass.sources.collect import collect
from compass.sources.equations import worked_solution
from compass.sources.read import SourceError

TWO_NUMBERS = "Tom has 7 red apples and 2 green ones."


@pytest.mark.parametrize(
    ("equation", "problem", "answer", "lines"),
    [
        ("+ number0 number1", TWO_NUMBERS, "9", ["7+2=9"]),
        ("* + number0 number1 3.0", TWO_NUMBERS, "27", ["7+2=9", "9*3=27"]),
        ("- 2 number0", TWO_NUMBERS, "-5", ["2-7=-5"]),
        ("( 76.0 - 25.0 )", "", "51.0", ["76-25=51"]),
        ("X=((32.0+42.0)-35.0)", "", "39", ["32+42=74", "74-35=39"]),
        ("45*3=x", "", "135", ["45*3=135"]),
        ("2-3-4", "", "-5", ["2-3=-1", "-1-4=-5"]),
        ("2+3*4", "", "14", ["3*4=12", "2+12=14"]),
        ("20/2/5", "", "2", ["20/2=10", "10/5=2"]),
        ("1.5*3", "", "4.5", ["1.5*3=4.5"]),
        ("number0*2", "It costs $1,200.", "2,400", ["1200*2=2400"]),
    ],
)
def test_operations_stand_in_their_order_before_the_boxed_answer(equation, problem, answer, lines) -> None:
    assert worked_solution(equation, problem, answer).splitlines() == [*lines, f"\\boxed{{{answer}}}"]


@pytest.mark.parametrize(
    ("equation", "answer"),
    [
        ("+ number0 number1", "10"),  # another answer
        ("+ number0 number7", "9"),  # no such number
        ("70-x=27", "43"),  # the unknown does not stand alone
        ("10/3", "3.33"),  # no exact decimal
        ("1/0", "0"),
        ("+ number0", "7"),
        ("(7+2", "9"),
        ("7 2", "9"),
        ("7+2", "nine"),
        ("__import__('os')", "9"),
        ("", "9"),
        ("9", "9"),  # nothing is worked out
        ("(" * 150 + "1+1" + ")" * 150, "2"),
    ],
)
def test_what_is_no_arithmetic_or_gives_another_answer_makes_no_solution(equation, answer) -> None:
    assert worked_solution(equation, TWO_NUMBERS, answer) == ""


def test_a_source_with_equations_has_solutions(tmp_path) -> None:
    path = tmp_path / "words.csv"
    path.write_text(
        "question,answer,equation,solution\n"
        "How many are 7 apples and 2 apples?,9,+ number0 number1,\n"
        "How many are 3 pears and 4 pears?,7,+ number0 number1,Three and four are seven.\n"
    )
    source = Source(
        name="words",
        path=str(path),
        problem_field="question",
        equation_field="equation",
        solution_field="solution",
    )
    kept = collect([source], Collect(sources=[source], benchmarks=[])).kept
    assert kept.column("solution").to_pylist() == ["7+2=9\n\\boxed{9}", "Three and four are seven."]


def test_calculator_notes_are_steps_and_each_has_to_give_its_result() -> None:
    text = "She sold 48/2 = <<48/2=24>>24 clips in May, and 48+24 = <<48+24=72>>72 altogether.\n#### 72"
    assert worked_solution(text, "", "72") == "48/2=24\n48+24=72\n\\boxed{72}"
    assert worked_solution("<<2*3+1=7>>", "", "7") == "2*3=6\n6+1=7\n\\boxed{7}"
    assert worked_solution(text, "", "71") == ""
    assert worked_solution("<<48/2=25>> <<25+1=26>>", "", "26") == ""
    assert worked_solution("<<x/2=25>> <<25+1=26>>", "", "26") == ""
    assert worked_solution("<<=26>>", "", "26") == ""


def test_sources_that_read_parts_of_one_file_share_no_row(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(
        "".join(json.dumps({"n": f"a{n}", "problem": f"{n} + 1 is?", "answer": str(n + 1)}) + "\n" for n in range(400))
    )
    parts = {"start": [0.0, 0.4], "rl": [0.4, 0.9], "held-out": [0.9, 1.0]}
    sources = [Source(name=name, path=str(path), id_field="n", part=part) for name, part in parts.items()]
    found = collect(sources, Collect(sources=sources, benchmarks=[]))
    ids = {name: set() for name in parts}
    for row in found.kept.to_pylist():
        ids[row["source"]].add(row["source_id"])
    assert sum(map(len, ids.values())) == len(set.union(*ids.values())) == found.read == 400
    assert {name: round(len(own) / 400, 1) for name, own in ids.items()} == {"start": 0.4, "rl": 0.5, "held-out": 0.1}
    with pytest.raises(ValidationError, match="`part` must be two rising numbers"):
        Source(name="none", path=str(path), part=[0.5, 0.5])
    none = Source(name="none", path=str(path), id_field="n", part=[0.5, 0.5001])
    with pytest.raises(SourceError, match="none of its 400 rows is in `part`"):
        collect([none], Collect(sources=[none], benchmarks=[]))


def test_a_source_reads_the_rows_of_so_many_operations(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    rows = [("7+2", "9"), ("(7+2)*3", "27"), ("7*2*2*2", "56"), ("x+y", "9")]
    path.write_text(
        "".join(json.dumps({"problem": f"{n}?", "e": e, "answer": a}) + "\n" for n, (e, a) in enumerate(rows))
    )
    source = Source(name="two", path=str(path), equation_field="e", operations=[2, 3])
    kept = collect([source], Collect(sources=[source], benchmarks=[])).kept
    assert kept.column("answer").to_pylist() == ["27", "56"]
    with pytest.raises(ValidationError, match=r"`operations` must be \[fewest, most\]"):
        Source(name="none", path=str(path), operations=[3, 2])
    none = source.model_copy(update={"operations": [4, 5]})
    with pytest.raises(SourceError, match="no row has a solution of 4 to 5 operations"):
        collect([none], Collect(sources=[none], benchmarks=[]))
