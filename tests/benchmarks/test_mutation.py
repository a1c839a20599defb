"""`benchmarks/mutation.py`: which mutations it makes, what it leaves alone, and which tests it runs first."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import mutants
import mutation


def made(source: str) -> list[tuple[str, str]]:
    """(operator, the changed lines) of every mutation of `source`."""
    mutations = mutants.Mutations("x.py", source)
    return [(m.operator, m.after) for number in range(len(mutations)) if (m := mutations.make(number))]


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("x = a < b", ["x = a <= b"]),
        ("x = a + 1", ["x = a - 1", "x = a + 2"]),
        ("x = a and b", ["x = a or b"]),
        ("x = not a", ["x = a"]),
        ("x = a is b", ["x = a is not b"]),
        ("x = a in b", ["x = a not in b"]),
        ("x = True", ["x = False"]),
        ("x = lambda: a", ["x = lambda: None"]),
        ("x = a if b else c", ["x = a if not (b) else c"]),
        ("x = [a for a in b if a]", ["x = [a for a in b if not (a)]"]),
        ("def f(): return a", ["def f(): return None"]),
        ("def f(): return None", []),
        ("def f(): return", []),
        ("while a: break", ["while not (a): break"]),
        ("if a == b: x", ["if a != b: x"]),
        ("if not a: x", ["if a: x"]),
        ("match a:\n    case 1 if b < c: x", ["case 2 if b < c: x", "case 1 if b <= c: x"]),
    ],
)
def test_mutations_of_a_line(line: str, after: list[str]) -> None:
    found = [lines for _, lines in made(line)]
    assert sorted(set(after)) == sorted(set(after) & set(found))
    assert len(found) == len(after) or "break" in line


@pytest.mark.parametrize(
    "line",
    [
        '"""Of 3 and 4."""',
        "x: Literal[1, 2]",
        "def f(x: int | None) -> dict[str, int | None]: pass",
        "@dataclass(frozen=True)\nclass A: pass",
        "if TYPE_CHECKING:\n    x = 1",
        "if __name__ == '__main__':\n    x = 1",
        "__all__ = [a + b]",
        "print(a + 1)",
        "log.info(a + 1)",
        "f(strict=True, help=1)",
    ],
)
def test_what_has_no_result_stays(line: str) -> None:
    assert made(line) == []


def test_a_line_belongs_to_the_innermost_function_whose_body_has_it() -> None:
    source = (
        "x = 1\nclass A:\n    y = 2\n    def f(self, z=3):\n        def g():\n            return 1\n        return g\n"
    )
    assert [mutants.function_at(source, line) for line in range(1, 8)] == ["", "", "", "", "A.f", "A.f.g", "A.f"]


def test_tests_that_mirror_a_file_begin_with_the_one_of_its_name() -> None:
    tests = [
        "tests/sources/test_collect.py",
        "tests/sources/test_read.py",
        "tests/rl/cpu/test_x.py",
        "tests/test_seeded_draw.py",
    ]
    assert mutation.mirrors("compass/sources/read.py", tests) == tests[1::-1]
    assert mutation.mirrors("compass/rl/launch.py", tests) == ["tests/rl/cpu/test_x.py"]
    assert mutation.mirrors("compass/seeded_draw.py", tests) == ["tests/test_seeded_draw.py"]


def test_the_same_seed_draws_the_same_mutants() -> None:
    one, again, other = (mutation.draw(["compass/seeded_draw.py"], seed, 3) for seed in (1, 1, 2))
    assert one == again != other
    assert len(one) == 3


def test_counts_by_folder_add_up() -> None:
    rows = [
        {"file": "compass/a/x.py", "outcome": "noticed", "step": "folder"},
        {"file": "compass/a/y.py", "outcome": "hang", "step": "all"},
        {"file": "compass/b.py", "outcome": "survived", "step": ""},
        {"file": "stages/c.py", "outcome": "equivalent", "step": ""},
    ]
    counts = mutation.summary(rows)
    assert list(counts) == ["compass", "compass/a", "stages", "all"]
    assert counts["compass/a"] == {"mutants": 2, "noticed": 2, "by_folder": 1, "equivalent": 0, "survived": 0}
    assert counts["all"] == {"mutants": 4, "noticed": 2, "by_folder": 1, "equivalent": 1, "survived": 1}
