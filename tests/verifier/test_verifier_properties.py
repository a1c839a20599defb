"""Properties that hold for every expression: equal forms stay equal, perturbed ones do not, order does not matter."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from compass.verifier import Mode, Outcome, judge, verify
from compass.verifier.reading.normalise import normalise
from compass.verifier.reading.units import UNIT_WORDS, find_unit

COMMON = settings(max_examples=150)
integers = st.integers(-999, 999)
fractions = st.fractions(min_value=-50, max_value=50, max_denominator=60)
names = st.sampled_from("abxyz")


@st.composite
def polynomials(draw: st.DrawFn) -> str:
    """A sum of terms such as `-3x^{2}y`."""
    terms = draw(st.lists(st.tuples(integers.filter(bool), names, st.integers(1, 4)), min_size=1, max_size=4))
    return "+".join(f"{coefficient}{name}^{{{power}}}" for coefficient, name, power in terms).replace("+-", "-")


@st.composite
def constants(draw: st.DrawFn) -> str:
    """A constant with roots, π and functions."""
    number = draw(st.integers(2, 40))
    return draw(
        st.sampled_from(
            [
                rf"\sqrt{{{number}}}",
                rf"\frac{{\pi}}{{{number}}}",
                rf"\ln {number}",
                rf"{number}^{{1/3}}",
                rf"e^{{{number}}}",
                rf"\sin {number}",
            ]
        )
    )


expressions = st.one_of(
    polynomials(),
    constants(),
    integers.map(str),
    fractions.map(lambda value: rf"\frac{{{value.numerator}}}{{{value.denominator}}}"),
)
REWRITES = [
    lambda text: f"({text})", lambda text: f"{text}+0", lambda text: f"1\\cdot({text})", lambda text: rf"\frac{{2({text})}}{{2}}", lambda text: f"-(-({text}))",
    lambda text: f"({text})^1", lambda text: f"$ {text} $", lambda text: rf"\left({text}\right)", lambda text: f"({text})+x-x", lambda text: rf"\boxed{{{text}}}",
    lambda text: rf"\frac{{({text})(y^2+1)}}{{y^2+1}}", lambda text: f"0.5({text})+({text})/2",
]  # fmt: skip
PERTURBATIONS = [
    lambda text: f"{text}+1", lambda text: f"2({text})+1", lambda text: f"({text})-\\frac{{1}}{{1000}}", lambda text: f"{text}+x", lambda text: f"{text}, 1",
    lambda text: f"({text})+10^{{-60}}",
]  # fmt: skip


@COMMON
@given(expressions, st.sampled_from(REWRITES), st.sampled_from(REWRITES))
def test_rewriting_keeps_equal(text: str, first: object, second: object) -> None:
    rewritten = second(first(text))  # type: ignore[operator]
    verdict = verify(gold=text, answer=rewritten)
    assert verdict.outcome is Outcome.EQUAL, (text, rewritten, verdict)


@COMMON
@given(expressions, st.sampled_from(PERTURBATIONS), st.sampled_from(REWRITES))
def test_perturbing_makes_different(text: str, perturb: object, rewrite: object) -> None:
    perturbed = perturb(rewrite(text))  # type: ignore[operator]
    verdict = verify(gold=text, answer=perturbed)
    assert verdict.outcome is not Outcome.EQUAL, (text, perturbed, verdict)


@COMMON
@given(expressions, expressions)
def test_swapping_keeps_the_outcome(left: str, right: str) -> None:
    assert verify(gold=left, answer=right).outcome is verify(gold=right, answer=left).outcome


@COMMON
@given(fractions, fractions)
def test_fractions_agree_with_exact_arithmetic(left: Fraction, right: Fraction) -> None:
    verdict = verify(
        gold=rf"\frac{{{left.numerator}}}{{{left.denominator}}}", answer=f"{right.numerator}/{right.denominator}"
    )
    assert verdict.equal == (left == right)


@COMMON
@given(st.lists(expressions, min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_a_set_has_no_order(items: list[str], random: object) -> None:
    shuffled = list(items)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert verify(gold=rf"\{{{', '.join(items)}\}}", answer=rf"\{{{', '.join(shuffled)}\}}").equal


@COMMON
@given(st.lists(integers, min_size=2, max_size=4, unique=True))
def test_a_tuple_has_an_order(items: list[int]) -> None:
    gold, answer = (f"({', '.join(map(str, side))})" for side in (items, items[::-1]))
    assert verify(gold=gold, answer=answer).equal == (items == items[::-1])


@COMMON
@given(st.integers(2, 99), st.lists(st.sampled_from("abcfghjkmqrtuvwxyz"), min_size=4, max_size=6, unique=True))
def test_letters_right_after_a_number_are_a_product(number: int, letters: list[str]) -> None:
    run = "".join(letters)
    assume(run not in UNIT_WORDS and find_unit(run) is None)
    assert verify(gold=f"{number}{run}", answer=rf"{number}\cdot {' '.join(reversed(letters))}").equal
    assert not verify(gold=f"{number}{run}", answer=str(number)).equal


@COMMON
@given(st.permutations("xyz"), st.lists(integers, min_size=3, max_size=3, unique=True), st.permutations(range(3)))
def test_named_values_have_the_names_of_a_tuple(named: list[str], values: list[int], order: list[int]) -> None:
    point = f"({', '.join(named)}) = ({', '.join(map(str, values))})"
    right, wrong = (
        ", ".join(f"{named[at]} = {side[at]}" for at in order) for side in (values, values[1:] + values[:1])
    )
    assert verify(gold=point, answer=right).equal
    assert not verify(gold=point, answer=wrong).equal


letters = st.sampled_from("abcfghjkmpqrstuvwxyz")
ONE_SIGN_ONLY = [
    (r"|{0}-{2}|", "{2}-{0}"), (r"|{0}+{2}|", "{0}+{2}"), (r"\sqrt{{({0}+{2})^2}}", "{0}+{2}"), (r"(({0}-{2})^4)^{{1/4}}", "{2}-{0}"),
    (r"|{0}|+|{1}|", "|{0}+{1}|"), (r"|{0}|{1}", "{0}|{1}|"), (r"\ln({0}+{1})", r"\ln(|{0}|+{1})"), (r"\sqrt{{{0}^2{1}}}", r"{0}\sqrt{{{1}}}"),
    (r"(-1)^n\sin(\pi {0})", "0"), (r"\lceil\frac{{n}}{{{2}}}\rceil", r"\lfloor\frac{{n}}{{{2}}}\rfloor+1"),
]  # fmt: skip


@COMMON
@given(st.sampled_from(ONE_SIGN_ONLY), letters, letters, st.integers(2, 300))
def test_what_holds_for_some_signs_or_sizes_alone_is_no_equality(
    pair: tuple[str, str], one: str, two: str, number: int
) -> None:
    assume(one != two)
    gold, answer = (side.format(one, two, number) for side in pair)
    assert not verify(gold=gold, answer=answer).equal


@settings(max_examples=400)
@given(
    st.text(alphabet=st.sampled_from(list("0123456789abxyz\\{}()[]|^_+-*/=<>.,;:!%$&~'\" \n√π½²×−∞≤°，")), max_size=40)
)
def test_normalisation_is_idempotent(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once


@settings(max_examples=400)
@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_gets_a_verdict(gold: str, answer: str) -> None:
    assert verify(gold=gold, answer=answer).outcome in set(Outcome)


CONCLUSIONS = ["So {}.", "Therefore {}", "We get {}.", "This gives {}", "In conclusion, {}.", "Thus: {}", "The answer is {}.", "#### {}"]  # fmt: skip
PLAIN_FORMULAS = [
    "√{}", "sqrt({})", "sqrt {}", "ln {}", "log_2 {}", "e^{}", "x + {}", "x - {}", "x > {}", "x ≤ {}", "x != {}", "1 < x < {}", "{} x", "{}i", "± {}", "– {}",
    "{} million", "{} dozen", "{} squared", "f(x) = x + {}", "2x = {}", "{} percent",
]  # fmt: skip
CHANGED = ["half of {}", "the square root of {}", "a multiple of {}", "other than {}", "anything but {}", "twice {}", "{} and a half", "{} or more"]  # fmt: skip


@COMMON
@given(st.integers(2, 99), st.sampled_from(PLAIN_FORMULAS + CHANGED), st.sampled_from(CONCLUSIONS))
def test_a_number_inside_another_value_is_not_the_answer(number: int, value: str, conclusion: str) -> None:
    response = f"We solve the problem.\n{conclusion.format(value.format(number))}"
    if not verify(gold=str(number), answer=value.format(number)).equal:
        assert not judge(gold=str(number), response=response).equal, response


@COMMON
@given(st.integers(2, 99), st.sampled_from(PLAIN_FORMULAS), st.sampled_from(["So {}.", "Therefore {}", "We get {}."]))
def test_a_formula_in_plain_text_is_read_whole(number: int, value: str, conclusion: str) -> None:
    gold = value.format(number).replace("– ", "-").removeprefix("f(x) = ")
    response = f"We solve the problem.\n{conclusion.format(value.format(number))}"
    assert judge(gold=gold, response=response, mode=Mode.LENIENT).equal, response


LABELS = ["A: {}", "A: ({}).", "**A:** {}", "A: ${}$", "Ans: {}", "**Ans:** {}", "Answer - {}", "Answer → {}", "[Answer] {}", "(Answer: {})", r"\text{{Answer: }} {}", "Solution: {}"]  # fmt: skip


@COMMON
@given(
    st.sampled_from("ABCD"),
    st.sampled_from("ABCD"),
    st.sampled_from(LABELS),
    st.sampled_from(["", "7 is prime.\n", "So it is 7.\n\n"]),
)
def test_a_letter_after_a_label_is_the_choice(gold: str, letter: str, label: str, before: str) -> None:
    response = before + label.format(letter)
    assert judge(gold=gold, response=response).equal is (gold == letter), response


@COMMON
@given(expressions, st.sampled_from(LABELS))
def test_a_value_after_a_label_is_the_answer(value: str, label: str) -> None:
    response = f"We add the numbers.\n{label.format(value if '$' in label else f'${value}$')}"
    assert judge(gold=value, response=response).equal, response


VALUE_AND_LETTER = [r"\boxed{{{} ({})}}", r"\boxed{{{} \text{{ ({})}}}}", r"\boxed{{{}\quad\mathrm{{({})}}}}", "The answer is ${}$ ({}).", "The answer is ${}$. ∎", "**Answer:** ${}$ ∎", "#### {} □"]  # fmt: skip


@COMMON
@given(constants(), st.sampled_from("ABCD"), st.sampled_from("ABCD"), st.sampled_from(VALUE_AND_LETTER))
def test_what_follows_a_value_does_not_hide_it(value: str, letter: str, other: str, form: str) -> None:
    response = form.format(value, letter)
    assert judge(gold=value, response=response).equal, response
    assert judge(gold=other, response=response).equal is (other == letter and form.count("{}") == 2), response
    assert not judge(gold=f"{value}+1", response=response).equal, response
