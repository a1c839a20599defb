"""Numbers, units and words that look alike and do not mean the same: each relation changes one thing that matters."""

from __future__ import annotations

from hypothesis import strategies as st
from relations.drawing import (
    Pair,
    Relations,
    digits,
    frac,
    large,
    positive,
    proper,
    small,
)

DIFFERENT_NUMBERS = Relations()
_STYLES = st.sampled_from(
    [
        r"{}",
        r"${}$",
        r"\boxed{{{}}}",
        "x = {}",
        r"{} \text{{ cm}}",
        r"\sqrt{{{}}}",
        r"\frac{{{}}}{{7}}",
        r"{}\pi",
        r"-{}",
        "({}, 3)",
        r"\{{{}, 0\}}",
        "x > {}",
        r"\${}",
    ]
)


@DIFFERENT_NUMBERS.add
def another_value(draw: st.DrawFn) -> Pair:
    style, number = draw(_STYLES), draw(positive)
    return style.format(number), style.format(number + draw(st.integers(1, 3)))


@DIFFERENT_NUMBERS.add
def another_last_digit(draw: st.DrawFn) -> Pair:
    number = draw(large)
    return f"{number:,}", draw(st.sampled_from([str, lambda n: f"{n:,}", lambda n: f"{n:,}".replace(",", "{,}")]))(
        number + 1
    )


@DIFFERENT_NUMBERS.add
def another_sign(draw: st.DrawFn) -> Pair:
    style, number = draw(_STYLES.filter(lambda style: style[0] != "-" and "sqrt" not in style)), draw(positive)
    return style.format(number), style.format(-number)


@DIFFERENT_NUMBERS.add
def the_reciprocal(draw: st.DrawFn) -> Pair:
    top, bottom = draw(proper())
    return frac(top, bottom), draw(st.sampled_from([frac(bottom, top), f"{bottom}/{top}"]))


@DIFFERENT_NUMBERS.add
def another_exponent(draw: st.DrawFn) -> Pair:
    base, power = draw(st.sampled_from(["x", "10", "2", "e", r"\pi"])), draw(small)
    return f"{base}^{{{power}}}", f"{base}^{{{power + draw(st.sampled_from([1, -1]))}}}"


@DIFFERENT_NUMBERS.add
def another_power_of_ten(draw: st.DrawFn) -> Pair:
    lead, power = draw(st.integers(11, 99)), draw(st.integers(2, 9))
    return rf"{lead / 10} \times 10^{{{power}}}", rf"{lead / 10} \times 10^{{{power + 1}}}"


@DIFFERENT_NUMBERS.add
def a_word_of_size_after_the_number(draw: st.DrawFn) -> Pair:
    number = draw(st.integers(2, 400))
    return str(number), f"{number} " + draw(
        st.sampled_from(
            [
                "hundred",
                "million",
                "thousand",
                "squared",
                "factorial",
                "halves",
                "dozen",
                r"\text{ billion}",
                "cubed",
                "percent of 5",
                "negative",
            ]
        )
    )


@DIFFERENT_NUMBERS.add
def a_list_for_a_number_with_thousands(draw: st.DrawFn) -> Pair:
    first, second = draw(st.integers(1, 99)), draw(st.integers(100, 999))
    return f"{first},{second}", f"{first}, {second}"


@DIFFERENT_NUMBERS.add
def a_product_for_a_mixed_number(draw: st.DrawFn) -> Pair:
    (top, bottom), whole_part = draw(proper()), draw(small)
    return rf"{whole_part}\frac{{{top}}}{{{bottom}}}", frac(whole_part * top, bottom)


@DIFFERENT_NUMBERS.add
def another_base(draw: st.DrawFn) -> Pair:
    number = draw(st.integers(8, 400))
    return f"{number:o}_8", draw(st.sampled_from([f"{number:o}", f"{number:o}_9", f"{number + 1:o}_8"]))


@DIFFERENT_NUMBERS.add
def another_dimension(draw: st.DrawFn) -> Pair:
    number, (one, two) = (
        draw(positive),
        draw(
            st.lists(
                st.sampled_from(["cm", "kg", "seconds", "cm^2", "cm^3", "liters", "dollars", "joules", "m/s"]),
                min_size=2,
                max_size=2,
                unique=True,
            )
        ),
    )
    style = draw(st.sampled_from(["{} {}", r"{} \text{{ {}}}"]))
    return style.format(number, one), style.format(number, two)


@DIFFERENT_NUMBERS.add
def another_scale(draw: st.DrawFn) -> Pair:
    number, (one, two) = (
        draw(positive),
        draw(
            st.sampled_from(
                [
                    ("cm", "km"),
                    ("kg", "g"),
                    ("hours", "minutes"),
                    ("m", "cm"),
                    ("miles", "km"),
                    ("mL", "L"),
                    ("dollars", "cents"),
                    ("km/h", "m/s"),
                ]
            )
        ),
    )
    style = draw(
        st.sampled_from(
            [
                r"{} \text{{ {}}}",
                r"\{{1, {}\}} \text{{ {}}}",
                r"x \le {} \text{{ {}}}",
                r"15+{}\sqrt{{3}} \text{{ {}}}",
                r"({}, 0) \text{{ {}}}",
            ]
        )
    )
    return style.format(number, one), style.format(number, two)


@DIFFERENT_NUMBERS.add
def another_percent(draw: st.DrawFn) -> Pair:
    percent = draw(positive)
    return rf"{percent}\%", draw(
        st.sampled_from([rf"{percent + 1}\%", str(percent / 1000), str(10 * percent), rf"{percent * 100}\%"])
    )


@DIFFERENT_NUMBERS.add
def another_time_of_day(draw: st.DrawFn) -> Pair:
    hour, minute = draw(st.integers(1, 11)), draw(st.sampled_from([0, 0, 5, 15, 30, 45]))
    return f"{hour}:{minute:02}", draw(st.sampled_from([f"{hour}:{minute + 1:02}", f"{hour + 1}:{minute:02}"]))


@DIFFERENT_NUMBERS.add
def a_ratio_turned_round(draw: st.DrawFn) -> Pair:
    first, second = draw(st.lists(digits, min_size=2, max_size=2, unique=True))
    return f"{first}:{second}", f"{second}:{first}"


@DIFFERENT_NUMBERS.add
def another_choice(draw: st.DrawFn) -> Pair:
    one, two = draw(st.lists(st.sampled_from("ABCDE"), min_size=2, max_size=2, unique=True))
    return draw(st.sampled_from([one, f"({one})", rf"\textbf{{({one})}} 12"])), draw(
        st.sampled_from([two, f"({two})", rf"\textbf{{({two})}} 12"])
    )


@DIFFERENT_NUMBERS.add
def other_words(draw: st.DrawFn) -> Pair:
    one, two = draw(
        st.lists(
            st.sampled_from(
                [
                    "yes",
                    "no",
                    "Team A",
                    "Team B",
                    "Team",
                    "even",
                    "odd",
                    "Alice",
                    "Bob",
                    "parabola",
                    "circle",
                    "no solution",
                    "Monday",
                    "January 3",
                    "January 4",
                ]
            ),
            min_size=2,
            max_size=2,
            unique=True,
        )
    )
    return one, draw(st.sampled_from([two, rf"\text{{{two}}}"]))


@DIFFERENT_NUMBERS.add
def another_date(draw: st.DrawFn) -> Pair:
    month, day = draw(st.lists(st.integers(1, 12), min_size=2, max_size=2, unique=True))
    return f"2021-{month:02}-{day:02}", f"2021-{day:02}-{month:02}"
