"""Rows of the shapes that the field publishes become problems."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compass.settings import Source
from compass.sources.adapters import ADAPTERS, MISSING, choice_texts, last_user_message, reach, with_unit
from compass.sources.read import SourceError


def adapt(row, **fields):
    source = Source(name="s", path="x.jsonl", **fields)
    return ADAPTERS[source.adapter](row, source)


def test_the_page_on_sources_explains_every_adapter():
    page = (Path(__file__).parents[2] / "docs/reference/sources.md").read_text()
    assert [name for name in ADAPTERS if f"`{name}`: " not in page] == []


def test_columns_with_a_solution():
    row = {"problem": " What is 6·7? ", "solution": "It is $\\boxed{42}$.", "level": 3}
    found = adapt(row, answer_field="", solution_field="solution", level_field="level")
    assert (found.problem, found.answer, found.level) == ("What is 6·7?", "42", "3")
    assert found.solution == "It is $\\boxed{42}$."


@pytest.mark.parametrize(("level", "text"), [(0, "0"), ("hard", "hard"), (None, "")])
def test_the_level_is_text(level, text):
    assert adapt({"problem": "1", "answer": "1", "level": level}, level_field="level").level == text
    assert adapt({"problem": "1", "answer": "1"}, level_field="level").level == ""


@pytest.mark.parametrize(
    ("rate", "text"),
    [(0.53125, "solve rate 0.53125"), ("1", "solve rate 1"), (0, "solve rate 0"), (None, ""), ("", "")],
)
def test_a_level_that_is_a_solve_rate_says_so(rate, text):
    row = {"problem": "1", "answer": "1", "rate": rate}
    assert adapt(row, level_field="rate", level_means="solve_rate").level == text


@pytest.mark.parametrize("rate", [1.01, -0.1, "53%", "Level 3", "nan"])
def test_a_level_that_is_no_solve_rate_is_told(rate):
    row = {"problem": "1", "answer": "1", "rate": rate}
    with pytest.raises(
        SourceError, match=r"source 's': `rate` holds .*`level_means: solve_rate` asks for numbers from 0 to 1"
    ):
        adapt(row, level_field="rate", level_means="solve_rate")


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (3, "3"),
        (2.5, "2.5"),
        (None, ""),
        ([], ""),
        (["a", "b"], "a\nb"),
        ([["a", 1], ["b", None]], "a | 1\nb |"),
        ({"a": 1}, None),
        ([{"a": 1}], None),
    ],
)
def test_a_problem_is_text_or_a_number_or_a_list_or_a_table_of_them(value, problem):
    assert adapt({"problem": value, "answer": "1"}).problem == problem


CHAT = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "1+1? Box it."}]


@pytest.mark.parametrize(
    "prompt", [CHAT, json.dumps(CHAT), "1+1? Box it.", [{"from": "human", "value": "1+1? Box it."}]]
)
def test_chat_takes_the_last_user_message_without_its_instruction(prompt):
    row = {"prompt": prompt, "reward_model": {"ground_truth": ["2"]}}
    found = adapt(
        row,
        adapter="chat",
        problem_field="prompt",
        answer_field="reward_model.ground_truth",
        strip_suffixes=[" Box it."],
    )
    assert (found.problem, found.answer) == ("1+1?", "2")


USER, MODEL = {"role": "user", "content": "1+1?"}, {"role": "assistant", "content": "2"}


@pytest.mark.parametrize(
    ("messages", "problem"),
    [
        ([{"role": "user", "content": "first"}, MODEL, USER, MODEL], "1+1?"),
        ([MODEL], None),
        ([], None),
        ([USER, 3], None),
        ([{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image"}, {"text": "b"}]}], "a\n\nb"),
        ([{"role": "user", "content": [{"text": 3}]}], None),
        ([{"role": "user", "content": 3}], None),
        ("[{1}, {2}] is a set of sets", "[{1}, {2}] is a set of sets"),
        (" [{broken", "[{broken"),
        (' [ {"role": "user", "content": "1+1?"}]', "1+1?"),
        ("[1, 2] is an interval ", "[1, 2] is an interval "),
        (5, None),
    ],
)
def test_the_last_user_message_of_a_chat(messages, problem):
    assert last_user_message(messages) == problem


def test_chat_that_cannot_be_read_is_no_text():
    assert adapt({"prompt": [1, 2]}, adapter="chat", problem_field="prompt").problem is None
    assert adapt({"prompt": {"a": 1}}, adapter="chat", problem_field="prompt").problem is None


def test_prefixes_go_as_well():
    row = {"problem": "Solve this.\n\nWhat is 2+2?\n\nAnswer below.", "answer": "4"}
    assert adapt(row, strip_prefixes=["Solve this."], strip_suffixes=["Answer below."]).problem == "What is 2+2?"


@pytest.mark.parametrize(
    ("choices", "printed"),
    [
        (["1:00 A.M.", "11:40 P.M."], ["(A) 1:00 A.M.", "(B) 11:40 P.M."]),
        (["2:10 P.M.", "3:20 P.M."], ["(A) 2:10 P.M.", "(B) 3:20 P.M."]),
        (["1.4 mol", "2.5 mol"], ["(A) 1.4 mol", "(B) 2.5 mol"]),
        (["1) one", "2) two"], ["1) one", "2) two"]),
        (["A. one", "B. two"], ["A. one", "B. two"]),
        ({"A": "1:2", "B": "B. 2:3"}, ["(A) 1:2", "B. 2:3"]),
    ],
)
def test_an_option_that_begins_as_a_label_does_gets_its_letter(choices, printed):
    assert choice_texts(choices) == printed


def test_options_are_written_below_the_problem():
    row = {"question": "Pick", "options": ["(A)1", "(B)2"], "label": "B"}
    fields = {"adapter": "options", "problem_field": "question", "answer_field": "label", "options_field": "options"}
    assert adapt(row, **fields).problem == "Pick\n(A)1\n(B)2"
    assert adapt({"question": "Pick \n", "options": [1, 2], "label": "B"}, **fields).problem == "Pick\n(A) 1\n(B) 2"
    for no_list in (None, [], " ", 5):
        assert adapt({"question": "Pick", "options": no_list, "label": "B"}, **fields).problem == "Pick"
    assert adapt({"question": "", "options": ["A"], "label": "B"}, **fields).problem == ""
    assert adapt({"question": {"no": "text"}, "options": ["A"], "label": "B"}, **fields).problem is None


def test_options_in_fields_of_their_own_keep_their_letters_where_one_is_empty():
    fields = {"adapter": "options", "problem_field": "q", "answer_field": "gold", "options_field": "A,B,C"}
    row = {"q": "Pick", "A": 9, "B": "", "C": "15", "gold": "C"}
    assert adapt(row, **fields).problem == "Pick\n(A) 9\n(C) 15"
    assert adapt({**row, "gold": 2}, **fields, answer_is_index=True).answer == "C"


def test_an_empty_cell_is_no_cluster():
    fields = {"problem_field": "q", "answer_field": "a", "cluster_field": "c"}
    cells = ("x", 3, None, float("nan"), "")
    assert [adapt({"q": "1+1?", "a": "2", "c": cell}, **fields).cluster for cell in cells] == ["x", "3", "", "", ""]


def test_reach_follows_dots_positions_and_json_text():
    row = {"a": {"b": [{"c": 1}]}, "x.y": 2, "j": '{"k": [3]}', "n": None}
    assert reach(row, "a.b.0.c") == 1
    assert reach(row, "x.y") == 2
    assert reach(row, "j.k.0") == 3
    assert reach(row, "n") is None
    assert reach(row, "n.x") is MISSING
    assert reach(row, "a.b.1.c") is MISSING
    assert reach(row, "") is MISSING
    assert reach({"j": "{broken"}, "j.k") is MISSING
    assert reach({"j": '"text"'}, "j.k") is MISSING


@pytest.mark.parametrize(("position", "value"), [("0", 7), ("1", 8), ("-1", 8), ("-2", 7)])
def test_positions_count_from_both_ends(position, value):
    assert reach({"a": [7, 8]}, f"a.{position}") == value


@pytest.mark.parametrize("position", ["2", "-3", "first", "b"])
def test_a_position_that_a_list_lacks_is_missing(position):
    assert reach({"a": [7, 8]}, f"a.{position}") is MISSING


@pytest.mark.parametrize(
    ("answer", "unit", "problem", "gold"),
    [
        ("7.97", "$10^3$", "", r"7.97 \times 10^3"),
        ("2.5", "× 10³", "", r"2.5 \times 10³"),
        ("3", r"\times 10^{-6} \mathrm{C}", "", r"3 \times 10^{-6} \mathrm{C}"),
        ("93", "thousand", "What was the revenue?", "93 thousand"),
        ("93", "thousand", "What was the revenue, in thousands of dollars?", "93"),
        ("5 million", "thousand", "", "5 million"),
        ("5-6", "million", "", "5-6"),
        ("0.5", "%", "", r"0.5\%"),
        ("5", "cm", "", "5 cm"),
        ("Ann", "cm", "", "Ann"),
    ],
)
def test_a_gold_gets_the_unit_or_the_scale_that_stands_beside_it(answer, unit, problem, gold):
    assert with_unit(answer, unit, problem) == gold
