"""Equations, inequalities, sets of real numbers."""

from __future__ import annotations

import pytest

from compass.verifier import verify

EQUATIONS = [
    ("y=2x+1", "2x+1=y", "equal", "algebra", "as polynomials up to a factor"),
    ("y=2x+1", "2y=4x+2", "equal", "algebra", "as polynomials up to a factor"),
    ("y=2x+1", "y=2x+2", "different", "algebra", "as rational functions"),
    ("y=2x+1", "z=2x+1", "different", "structure", "equations in other variables"),
    ("x^2+y^2=1", "1-x^2=y^2", "equal", "algebra", "as polynomials up to a factor"),
    (r"\sin x=y", r"2y=2\sin x", "equal", "numeric", "up to a constant factor"),
    (r"\sin x=y", r"y=2\sin x", "different", "numeric", "up to a constant factor"),
    ("x=5", "y=5", "different", "structure", "equations in other variables"),
    ("x=5", "5=x", "equal", "algebra", "as polynomials up to a factor"),
    ("x+1=5", "x=4", "equal", "algebra", "as polynomials up to a factor"),
    ("x=y=z", "x=y=z+0", "equal", "algebra", "as rational functions"),
    ("x=y=z", "y=z", "different", "structure", "other equations"),
    ("a=b", "b=c", "different", "structure", "equations in other variables"),
    (r"2\pi=6.28", r"2\pi=6.28+0", "equal", "structure", "the same parts"),
    ("x+1=(1,2)", "x+1=(1,2+0)", "equal", "structure", "the same parts"),
    ("x+1=(1,2)", "(1,2)=x+1", "different", "structure", "part 1: 2 values against one"),
    (r"x+y=3\text{ cm}", r"x+y=3.0\text{ cm}", "equal", "structure", "the same parts"),
    (r"x+y=3\text{ cm}", r"x+y=3\text{ km}", "different", "rational", "part 2: 3 against 300000"),
    ("1+1=2", "2", "equal", "structure", "the same expression"),
    ("1+1=3", "3", "unrecognised", "structure", "an equation that does not hold"),
    ("2=1+1=2", "2", "equal", "structure", "the same expression"),
    ("2", "1+1=2", "equal", "structure", "the same expression"),
    ("x=1+1=2", "2", "equal", "structure", "the same expression"),
    ("1<2", "2", "different", "structure", "relation against scalar"),
    ("f(x)=x+1", "f(t)=t+1", "equal", "structure", "the same expression"),
    ("f(x)=x+1", "f(t)=t+2", "different", "algebra", "as rational functions"),
    ("f(x)=x+1", "g(x)=x+1", "different", "numeric", "up to a constant factor"),
    ("P(A)=1/2", "1/2", "equal", "structure", "the same expression"),
    ("AB=5", "5", "equal", "structure", "the same expression"),
    ("ab=5", "5", "different", "structure", "relation against scalar"),
    ("dx=5", "5", "equal", "structure", "the same expression"),
    ("|AB|=5", "5", "equal", "structure", "the same expression"),
    ("|x|=5", "5", "different", "structure", "relation against scalar"),
    ("e=5", "5", "equal", "rational", "both are 5"),
    (r"\text{area}=5", "5", "equal", "structure", "the same expression"),
    ("S_1:S_2=3", "3", "equal", "structure", "the same expression"),
    ("Mg=3", "3", "equal", "structure", "the same expression"),
]


@pytest.mark.parametrize(("gold", "answer", "outcome", "method", "detail"), EQUATIONS)
def test_equations(gold: str, answer: str, outcome: str, method: str, detail: str) -> None:
    assert verify(gold=gold, answer=answer)[:3] == (outcome, method, detail)


INEQUALITIES = [
    ("x>3", "3<x", "equal", "structure", "the same parts"),
    ("x>3", "x>=3", "different", "structure", "other sets of numbers"),
    ("x>3", "x>4", "different", "structure", "other sets of numbers"),
    ("x>3", "y>3", "different", "structure", "other relations"),
    ("2x>6", "x>3", "equal", "structure", "the same parts"),
    ("-2x>6", "x<-3", "equal", "structure", "the same parts"),
    ("x>y", "y<x", "equal", "structure", "the same parts"),
    ("x>y", "2x>2y", "equal", "algebra", "the same inequality up to a factor"),
    ("x>y", "-x<-y", "equal", "algebra", "the same inequality up to a factor"),
    ("x>y", "x<y", "different", "structure", "other relations"),
    ("1<x<3", "3>x>1", "equal", "structure", "the same parts"),
    ("1<x<3", "(1,3)", "equal", "structure", "the same parts"),
    ("1<x<=3", "(1,3]", "equal", "structure", "the same parts"),
    ("1<x<3", "1<x<=3", "different", "structure", "other sets of numbers"),
    ("|x|<2", "(-2,2)", "equal", "structure", "the same parts"),
    ("|x|>2", r"(-\infty,-2)\cup(2,\infty)", "equal", "structure", "the same parts"),
    ("|x|<=2", "[-2,2]", "equal", "structure", "the same parts"),
    ("|x|>=2", r"(-\infty,-2]\cup[2,\infty)", "equal", "structure", "the same parts"),
    ("|x-1|<2", "-1<x<3", "equal", "structure", "the same parts"),
    (r"x\ne 1", r"(-\infty,1)\cup(1,\infty)", "equal", "structure", "the same parts"),
    ("f(x)>1", r"(1,\infty)", "equal", "structure", "the same parts"),
    ("W(n)>1", "n>1", "different", "structure", "other relations"),
    ("x+y>1", "2x+2y>2", "equal", "algebra", "the same inequality up to a factor"),
    ("x+y+z>1", "1<x+y+z", "equal", "structure", "the same parts"),
    ("x^2>1", "1<x^2", "equal", "structure", "the same parts"),
    ("x^2>1", "x>1", "different", "structure", "other relations"),
    ("3x+1<7", "x<2", "equal", "structure", "the same parts"),
    ("7>3x+1", "x<2", "equal", "structure", "the same parts"),
    (r"\sin x>0", r"0<\sin x", "equal", "structure", "the same parts"),
    ("1<x,2<y", "1<x,2<y+0", "equal", "structure", "the same parts"),
]


@pytest.mark.parametrize(("gold", "answer", "outcome", "method", "detail"), INEQUALITIES)
def test_inequalities(gold: str, answer: str, outcome: str, method: str, detail: str) -> None:
    assert verify(gold=gold, answer=answer)[:3] == (outcome, method, detail)


SETS = [
    ("(1,3)", "1<x<3", "equal", "structure", "the same parts"),
    (r"x\in(1,3)", "(1,3)", "equal", "structure", "the same parts"),
    (r"x\in(1,3)", "1<x<3", "equal", "structure", "the same parts"),
    (r"x+1\in(1,3)", "(1,3)", "different", "structure", "relation against tuple"),
    (r"(1,2)\cup[2,3)", "1<x<3", "equal", "structure", "the same parts"),
    (r"(1,2)\cup(2,3)", "(1,3)", "different", "structure", "other sets of numbers"),
    (r"(1,2)\cup(2,3)", r"(1,3)\setminus\{2\}", "equal", "structure", "the same parts"),
    (r"(1,5)\cap(2,7)", "2<x<5", "equal", "structure", "the same parts"),
    (r"(1,5)\cap(2,7)", "2<x<=5", "different", "structure", "other sets of numbers"),
    (r"\mathbb{R}", r"(-\infty,\infty)", "equal", "structure", "the same parts"),
    (r"\mathbb{R}\setminus\{0\}", r"x\ne 0", "equal", "structure", "the same parts"),
    (r"\mathbb{Z}", r"\mathbb{R}", "different", "structure", "named set against named set"),
    (r"\mathbb{Z}", r"\mathbb{Z}+0", "different", "structure", "named set against scalar"),
    (r"\{1\}\cup\{2\}", r"\{1,2\}", "equal", "structure", "the same parts"),
    (r"[1,1]\cup\{2\}", r"\{1,2\}", "equal", "structure", "the same parts"),
    (r"(1,1)\cup\{2\}", r"\{2\}\cup\{2\}", "equal", "structure", "the same parts"),
    (r"(a,b)\cup(c,d)", r"(c,d)\cup(a,b)", "equal", "structure", "the same parts"),
    (r"(a,b)\cup(c,d)", r"(a,b)\cup(c,f)", "different", "structure", "a value that the other side lacks"),
    (r"A\setminus B", r"B\setminus A", "different", "algebra", "part 1: as rational functions"),
    (r"A\setminus B", r"A\setminus (B)", "equal", "structure", "the same parts"),
    (r"A\cup B\cup C", r"C\cup B\cup A", "equal", "structure", "the same parts"),
    (r"A\cup B", r"A\cup B\cup C", "different", "structure", "another number of sets"),
    (r"A\cup B", r"A\cap B", "different", "structure", "setop against setop"),
    (r"[-\infty,3)", "x<3", "equal", "structure", "the same parts"),
    (r"[0,\infty]", r"x\ge 0", "equal", "structure", "the same parts"),
    (r"(\sqrt2,\sqrt3)\cup(2,3)", r"(2,3)\cup(\sqrt2,\sqrt3)", "equal", "structure", "the same parts"),
    (r"x\le 3\text{ hours}", r"x\le 3\text{ minutes}", "different", "structure", "other sets of numbers"),
    (r"x\le 3\text{ hours}", r"x\le 180\text{ minutes}", "equal", "structure", "the same parts"),
    (r"x\le 3\text{ hours}", r"x\le 3\text{ metres}", "different", "structure", "other sets of numbers"),
    (r"x\le 3\text{ hours}", r"(-\infty,3]", "equal", "structure", "the same parts"),
    (
        r"(1\text{ cm},2\text{ s})\cup\{5\}",
        "x>1",
        "unrecognised",
        "structure",
        "an interval whose ends measure different things",
    ),
    (r"(2,1)\cup(3,4)", "3<x<4", "unrecognised", "structure", "an interval whose ends are in reverse"),
    (r"[1,2]\cup[2,3]", r"[1,3]\cup[2,3]", "equal", "structure", "the same parts"),
    (r"[1,5]\cup[2,3]", r"1\le x\le5", "equal", "structure", "the same parts"),
]


@pytest.mark.parametrize(("gold", "answer", "outcome", "method", "detail"), SETS)
def test_sets_of_reals(gold: str, answer: str, outcome: str, method: str, detail: str) -> None:
    assert verify(gold=gold, answer=answer)[:3] == (outcome, method, detail)
