"""Lists, sets and tuples."""

from __future__ import annotations

import pytest

from compass.verifier import verify

LISTS = [
    ("1,2", "2,1", "equal", "structure", "the same parts"),
    ("1,2", "1,2,3", "different", "structure", "2 values against 3"),
    ("1,2", "(1,2)", "equal", "structure", "the same parts"),
    ("1,2", "(2,1)", "different", "rational", "part 1: 1 against 2"),
    ("(1,2)", "2,1", "different", "rational", "part 1: 1 against 2"),
    ("(1,2)", "(1,2)+0", "different", "structure", "2 values against one"),
    ("(1,x)", "(1,y)", "different", "algebra", "part 2: as rational functions"),
    ("(1,2)", r"\{1,2\}", "different", "structure", "a set against an ordered tuple"),
    (r"\{1,2\}", r"\{2,1\}", "equal", "structure", "the same parts"),
    (r"\{1,2\}", "2,1", "equal", "structure", "the same parts"),
    ("[1,2]", "(1,2)", "different", "structure", "other brackets"),
    ("[1,2]", r"[1,\frac42]", "equal", "structure", "the same parts"),
    ("[1,2)", r"[1,\frac42)", "equal", "structure", "the same parts"),
    ("(1,2)", r"\langle 1,\frac42\rangle", "equal", "structure", "the same parts"),
    (r"\langle 1,2\rangle", "[1,2]", "different", "structure", "other brackets"),
    ("(1,2,3)", r"[1,2,\frac62]", "equal", "structure", "the same parts"),
    ("5", r"\{5\}", "equal", "structure", "the same expression"),
    (r"\{5\}", "5.0", "equal", "rational", "both are 5"),
    (r"\{5\}", "6", "different", "rational", "5 against 6"),
    ("5", "5,5", "different", "structure", "2 values against one"),
    ("5", "5,6", "different", "structure", "2 values against one"),
    ("(5,6)", "5", "different", "structure", "2 values against one"),
    (r"\pm 2", "2,-2", "equal", "structure", "the same parts"),
    (r"1\pm x", "1+x,1-x", "equal", "structure", "the same parts"),
    (r"1\mp x", "1-x,1+x", "equal", "structure", "the same parts"),
    (r"\pm 2", "2", "different", "structure", "2 values against one"),
    (r"\{1,1,2\}", r"\{1,2,2\}", "different", "structure", "a value that the other side lacks"),
    (r"x,\sqrt8", r"2\sqrt2,x", "equal", "structure", "the same parts"),
    ("x,x,y", "x,y,y", "different", "structure", "a value that the other side lacks"),
    ("x^2,y", "y,x*x", "equal", "structure", "the same parts"),
    ("1,2;3,4", "(3,4),(1,2)", "equal", "structure", "the same parts"),
    ("(1,2),(3,4)", "(1,2),(3,5)", "different", "structure", "a value that the other side lacks"),
]


@pytest.mark.parametrize(("gold", "answer", "outcome", "method", "detail"), LISTS)
def test_lists_sets_and_tuples(gold: str, answer: str, outcome: str, method: str, detail: str) -> None:
    assert verify(gold=gold, answer=answer)[:3] == (outcome, method, detail)


NAMED = [
    ("x=1,x=2", "2,1", "equal", "structure", "the same parts"),
    ("x=1,2", "x=2,1", "equal", "structure", "the same parts"),
    ("x=1,x=2", "y=1,y=2", "different", "structure", "other names"),
    ("x=1,y=2", "y=2,x=1", "equal", "structure", "the same parts"),
    ("x=1,y=2", "x=2,y=1", "different", "structure", "a value that the other side lacks"),
    ("x=1,y=2", "1,2", "equal", "structure", "the same parts"),
    ("x=1,y=2", "2,1", "different", "rational", "part 1: 1 against 2"),
    ("x=1,y=2", "(1,2)", "equal", "structure", "the same parts"),
    ("x=1,y=2", r"\{1,2\}", "different", "structure", "other names"),
    ("x=1,y=2", "x=1,x=2", "different", "structure", "other names"),
    ("x=1,y=2", "x=1,z=2", "different", "structure", "other names"),
    ("(x,y)=(1,2)", "(1,2)", "equal", "structure", "the same parts"),
    ("(x,y)=(1,2,3)", "(1,2,3)", "different", "structure", "relation against tuple"),
    ("x=1,x=2,y=3", "y=3,x=2,x=1", "equal", "structure", "the same parts"),
    ("x=1,x=2,y=3", "y=2,x=3,x=1", "different", "structure", "a value that the other side lacks"),
    ("f(x)=1,g(x)=2", "g(t)=2,f(t)=1", "equal", "structure", "the same parts"),
    ("1,y=2", "1,2", "equal", "structure", "the same parts"),
    ("x=1", "x=1.0", "equal", "rational", "both are 1"),
    ("x=1,", "1", "equal", "rational", "both are 1"),
]


@pytest.mark.parametrize(("gold", "answer", "outcome", "method", "detail"), NAMED)
def test_names_of_items(gold: str, answer: str, outcome: str, method: str, detail: str) -> None:
    assert verify(gold=gold, answer=answer)[:3] == (outcome, method, detail)
