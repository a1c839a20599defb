import random

import pytest

from compass.sampling.score import LEAST, LONGEST, REPEATS, ends_in_loop

STEP = "Now we multiply both sides by two and we get the same equation again. "
LONG = "".join(
    f"Case {n}: the remainder modulo {n + 7} is {n * n % (n + 7)}, which does not divide the sum. " for n in range(20)
)


@pytest.mark.parametrize(
    "text",
    [
        "We begin. " + STEP * 4,
        "We begin. " + STEP * 40,
        "We begin. " + STEP * 6 + STEP[:17],  # cut off by the token limit
        "First. " + LONG * 4,
        "The decimal is 0." + "3" * LEAST,
        "$$" + r"\frac{1}{2}+" * 30,
        "x" + "\n" * 300,
    ],
)
def test_a_passage_repeated_to_the_end_is_a_loop(text):
    assert ends_in_loop(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "12",
        STEP * 3,
        STEP * 40 + r"So the answer is $\boxed{12}$.",  # it left the loop again
        LONG,
        "The decimal is 0." + "3" * (LEAST // 2),
        "".join(f"Step {n}: add {n} to the total, which makes {n * (n + 1) // 2}.\n" for n in range(400)),
        "| n | f(n) |\n" + "".join(f"| {n} | {n % 3} |\n" for n in range(120)),
        "We check each pair in turn. " * 3 + "None fits, so the answer is 0.",
    ],
)
def test_an_honest_text_is_no_loop(text):
    assert not ends_in_loop(text)


def test_the_thresholds_are_where_they_are_said_to_be():
    unit = "".join(random.Random(0).choices("abcdefghij klmnop", k=LEAST // REPEATS))
    assert ends_in_loop("start " + unit * REPEATS)
    assert not ends_in_loop("start " + unit * (REPEATS - 1))
    assert not ends_in_loop("start " + (unit * REPEATS)[1:][: LEAST - 2])
    longest = "".join(random.Random(1).choices("abcdefghij klmnop", k=LONGEST))
    assert ends_in_loop(longest * REPEATS)
    assert not ends_in_loop((longest + "x") * REPEATS)


def test_it_agrees_with_a_plain_search_for_every_period():
    rng = random.Random(2)

    def plain(text):
        tail = text[-REPEATS * LONGEST :]
        return any(
            (covered := max(LEAST, REPEATS * period)) <= len(tail)
            and tail[-covered + period :] == tail[-covered:-period]
            for period in range(1, min(LONGEST, len(tail)) + 1)
        )

    found = []
    for _ in range(600):
        unit = "".join(rng.choices("ab", k=rng.randint(1, 70)))
        text = (
            "".join(rng.choices("ab", k=rng.randint(0, 40)))
            + unit * rng.randint(1, 9)
            + "".join(rng.choices("ab", k=rng.randint(0, 1)))
        )
        assert ends_in_loop(text) == plain(text), text
        found.append(plain(text))
    assert 100 < sum(found) < 500
