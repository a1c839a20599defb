from __future__ import annotations

import pytest

from compass.curation.survivor import only_phrasing, settle

RANK = {"best": 0, "good": 1}


def row(id_: str, source: str = "best", problem: str = "Find x.", answer: str | None = "1", **more) -> dict:
    return {
        "id": id_,
        "source": source,
        "problem": problem,
        "answer": answer,
        "solution": None,
        "solve_rate": None,
    } | more


def settled(*rows: dict, exact: list[int] | None = None, conflicts: str = "majority"):
    """The survivors' ids and each row's drop; all rows have the same tokens unless `exact` says otherwise."""
    heads, drops = settle(rows, exact or [0] * len(rows), lambda one, other: 0.87654321, RANK, conflicts)
    return [rows[head]["id"] for head in heads], drops


def test_rows_agree_by_any_of_their_golds():
    heads, drops = settled(row("a", answer="1/2", alternatives=["3"]), row("b", source="good", answer="0.5"))
    assert (heads, drops[1].reason) == (["a", "a"], "exact_duplicate")
    heads, drops = settled(row("a", answer="7", alternatives=["3", "1/2"]), row("b", source="good", answer="0.5"))
    assert drops[1].reason == "exact_duplicate"
    heads, drops = settled(row("a", answer="7", alternatives=["3"]), row("b", source="good", answer="0.5"))
    assert drops[1].reason == "answer_conflict"


@pytest.mark.parametrize(
    ("loser", "winner"),
    [
        (row("a", answer="1 +"), row("b", source="good")),  # a gold that can be read comes before the source
        (row("a", source="good"), row("b")),
        (row("a", source="unlisted"), row("b", source="good")),
        (row("a", source="good", solve_rate=0.5), row("b")),  # the source before the grade
        (row("a", solution="long"), row("b", solve_rate=0.0)),  # the grade before the length
        (row("a"), row("b", solution="s")),
        (row("a"), row("b", problem="Find $x$.")),
        (row("a", problem="FIND THE VALUE."), row("b", problem="Find the value.")),
        (row("a", problem="FIND $\\frac{1}{2}$ ."), row("b", problem="Find $\\frac{1}{2}$.")),
        (row("a", problem="find the value."), row("b", problem="Find the value.")),
        (row("a", problem="Find  x. Or  y."), row("b", problem="Find  x. Or y.")),
        (row("a", problem="Find the value ?"), row("b", problem="Find the value?")),
        (row("a", problem="Find the value."), row("b", problem="FIND THE VALUE.", solution="s")),
        (row("b"), row("a")),
    ],
)
def test_the_preferred_row(loser, winner):
    survivors, drops = settled(loser, winner, conflicts="preferred")
    assert survivors == [winner["id"]] * 2
    assert drops[1] is None
    assert drops[0].evidence["twin"] == winner["id"]


def test_the_longest_copy_counts_where_texts_differ_in_more_than_typesetting():
    """A clean copy has the length of its untidy one, so that the same text wins as without the copy."""
    rows = row("a", problem="Find x?"), row("b", problem="FIND X  PLEASE?"), row("c", problem="Find x please?")
    survivors, _ = settled(*rows, exact=[0, 1, 1])
    assert survivors == ["c"] * 3


def test_exact_and_near_duplicates_and_their_evidence():
    rows = row("a"), row("b", "good"), row("c", "good", answer="1.0")
    survivors, drops = settled(*rows, exact=[0, 0, 2])
    assert survivors == ["a", "a", "a"]
    assert [drop and str(drop.reason) for drop in drops] == [None, "exact_duplicate", "near_duplicate"]
    assert drops[1].evidence == {
        "twin": "a",
        "twin_source": "best",
        "similarity": 1.0,
        "answer": "1",
        "twin_answer": "1",
    }
    assert drops[2].evidence["similarity"] == 0.8765
    assert drops[2].evidence["answer"] == "1.0"


def test_the_answer_of_most_sources_wins():
    rows = row("a"), row("b", "good", answer="2"), row("c", "other", answer="2.0"), row("d", "best", answer="1")
    survivors, drops = settled(*rows)
    assert survivors == ["b"] * 4
    assert drops[1] is None
    assert drops[0].evidence == {
        "twin": "b",
        "twin_source": "good",
        "similarity": 1.0,
        "answer": "1",
        "twin_answer": "2",
        "duplicate": "exact_duplicate",
        "sources": ["best"],
        "twin_sources": ["good", "other"],
        "rule": "most independent rows",
    }
    assert str(drops[2].reason) == "exact_duplicate"
    assert "sources" not in drops[2].evidence


@pytest.mark.parametrize(
    ("rows", "conflicts", "kept"),
    [
        ([row("a"), row("b", "good", answer="2")], "majority", ""),
        ([row("a"), row("b", "good", answer="2")], "preferred", "a"),
        ([row("a"), row("b", "good", answer="1"), row("c", answer="2")], "drop", ""),
        # more than half, not most of several
        ([row("a"), row("b", "good"), row("c", "x", answer="2"), row("d", "y", answer="3")], "majority", ""),
        # copies within a source have one vote, rows with solutions of their own one each
        ([row("a"), row("b"), row("c", answer="2")], "majority", ""),
        ([row("a", solution="s"), row("b", solution="s"), row("c", answer="2")], "majority", ""),
        ([row("a", solution="s"), row("b", solution="another"), row("c", answer="2")], "majority", "b"),
        # a worked solution decides where it leads to one of the answers, whichever row has it
        ([row("a"), row("b", answer="2", solution=r"so \boxed{2}")], "majority", "b"),
        ([row("a", solution="1+1=2\n#### 2"), row("b", "good", answer="2")], "majority", "b"),
        ([row("a", solution="3-2=1\n#### 1"), row("b", answer="2", solution=r"so \boxed{2}")], "majority", ""),
        ([row("a", solution="3+4=7\n#### 7"), row("b", answer="2")], "majority", ""),
        # a mark that its own working does not reach is the gold once more
        ([row("a"), row("b", answer="2", solution="3-2=1\n#### 2")], "majority", ""),
        ([row("a"), row("b", answer="2", solution="3-2=1\n\\boxed{2}")], "majority", ""),
        # a gold that cannot be read may be the right one, damaged; none at all contradicts nothing
        ([row("a", answer="1 +"), row("b", "good")], "majority", ""),
        ([row("a", answer=""), row("b", "good")], "majority", "b"),
    ],
)
def test_without_a_majority_or_a_solution_nothing_survives_a_conflict(rows, conflicts, kept):
    _, drops = settled(*rows, conflicts=conflicts)
    assert "".join(one["id"] for one, drop in zip(rows, drops, strict=True) if drop is None) == kept


def test_all_rows_of_a_conflict_can_be_dropped():
    rows = row("a"), row("b", "good", answer="2"), row("c", "good")
    survivors, drops = settled(*rows, conflicts="drop", exact=[0, 1, 0])
    assert survivors == ["a"] * 3
    assert [str(drop.reason) for drop in drops] == ["answer_conflict"] * 3
    assert [drop.evidence["twin"] for drop in drops] == ["b", "a", "b"]
    assert [drop.evidence["duplicate"] for drop in drops] == ["near_duplicate"] * 3
    assert all(drop.evidence["answer"] != drop.evidence["twin_answer"] for drop in drops)
    assert drops[0].evidence["sources"] == ["best", "good"]
    assert drops[0].evidence["rule"] == "answers disagree: all dropped"


def test_similar_problems_with_other_answers_are_two():
    one, other = "Arrange the letters of TOOTH.", "Arrange the letters of RADII."
    rows = row("a", problem=one), row("b", problem=other, answer="2"), row("c", "good", problem=other, answer="2")
    survivors, drops = settled(*rows, exact=[0, 1, 1])
    assert survivors == ["a", "b", "b"]
    assert drops[:2] == [None, None]
    assert drops[2].evidence["twin"] == "b"


def test_a_rewording_with_another_answer_is_a_conflict():
    rows = row("a", problem="Find the sum of x."), row("b", "good", problem="Compute the sum of x.", answer="2")
    survivors, drops = settled(*rows, exact=[0, 1])
    assert survivors == ["a", "a"]
    assert [str(drop.reason) for drop in drops] == ["answer_conflict"] * 2
    assert drops[1].evidence["duplicate"] == "near_duplicate"


@pytest.mark.parametrize(
    ("answer", "problems"),
    [("5", 2), ("$-3$", 2), ("7 apples", 2), (r"\text{(B)}", 2), ("yes", 2), ("15", 1), ("1/2", 1), ("x+1", 1)],
)
def test_an_answer_that_many_problems_have_does_not_make_two_problems_one(answer, problems):
    one, other = row("a", problem="How many are left over?"), row("b", problem="How many are in each package?")
    survivors, _ = settled(one | {"answer": answer}, other | {"answer": answer}, exact=[0, 1])
    assert len(set(survivors)) == problems
    longer = row("b", problem="In the figure, how many are left over?", answer=answer)
    survivors, _ = settled(one | {"answer": answer}, longer, exact=[0, 1])
    assert len(set(survivors)) == 1


def test_rows_without_an_answer_or_text():
    survivors, _ = settled(row("a", answer=None), row("b", "good", answer="1"))
    assert survivors == ["b", "b"]
    survivors, _ = settled(row("b", problem=None), row("a", problem=None, answer="1.0"))
    assert survivors == ["a", "a"]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Find the sum of x and y.", "Determine the sum of x and y.", True),
        ("Find the value of x.", "Find the value of y.", False),
        ("How many ways are there?", "So how many ways are there? Show your work.", True),
        ("Show your work. How many ways are there?", "How many ways are there?", True),
        ("How many ways are there?", "How many red ways are there?", False),
        ("How many red ways are there?", "How many ways are there?", False),
        ("Find angle A.", "Find angle B.", False),
        ("Solve $5^{-x} = 2$.", "Solve $5^{x} = -2$.", False),
        ("Simplify $2(x + 3)$.", "Simplify $(2x + 3)$.", False),
        ("Let $x + 1 = 2$. Find x.", r"Let \(x+1 = 2\). Determine the value of $x$.", True),
        ("", "", True),
    ],
)
def test_only_phrasing(one, other, same):
    assert only_phrasing(one, other) is same
