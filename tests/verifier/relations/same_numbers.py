"""Numbers, units and words written in two ways that mean the same."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st
from relations.drawing import Pair, Relations, digits, frac, large, positive, proper, radicands, small, tex, whole

SAME_NUMBERS = Relations()

_WORDS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]

SAME_NUMBERS.one_of(
    "thousands_are_marked_in_many_ways",
    [str, lambda n: f"{n:,}", lambda n: f"{n:,}".replace(",", "{,}"), lambda n: f"{n:,}".replace(",", r",\!"),
     lambda n: f"{n:,}".replace(",", r"\,")],
    large,
)  # fmt: skip
SAME_NUMBERS.one_of(
    "money_is_written_in_many_ways",
    [lambda n: rf"\${n}", lambda n: rf"\${n}.00", lambda n: f"{n} dollars", lambda n: rf"\${n:,}", lambda n: rf"{n} \text{{ dollars}}",
     lambda n: f"${n}"],
    large,
)  # fmt: skip
SAME_NUMBERS.one_of(
    "percents_are_written_in_many_ways",
    [
        lambda n: rf"{n}\%",
        lambda n: f"{n}%",
        lambda n: f"{n} percent",
        lambda n: rf"{n} \text{{ percent}}",
        lambda n: rf"{n}\text{{\%}}",
    ],
    positive,
)
SAME_NUMBERS.one_of(
    "degrees_are_written_in_many_ways",
    [
        lambda n: rf"{n}^\circ",
        lambda n: rf"{n}^{{\circ}}",
        lambda n: f"{n} degrees",
        lambda n: f"{n}°",
        lambda n: rf"{n}\text{{ degrees}}",
    ],
    positive,
)
SAME_NUMBERS.one_of(
    "a_length_is_written_in_many_ways",
    [lambda n: rf"{n} \text{{ cm}}", lambda n: rf"{n}\,\mathrm{{cm}}", lambda n: f"{n} cm", lambda n: rf"{n}~\text{{cm}}", lambda n: f"{n}cm",
     lambda n: f"{n} centimeters", lambda n: rf"{n}\mathrm{{~cm}}", lambda n: rf"{n} \mbox{{ centimetres}}"],
    positive,
)  # fmt: skip
SAME_NUMBERS.one_of(
    "a_speed_is_written_in_many_ways",
    [lambda n: rf"{n} \text{{ m/s}}", lambda n: rf"{n}\,\mathrm{{m/s}}", lambda n: f"{n} m/s", lambda n: rf"{n}\ \frac{{\text{{m}}}}{{\text{{s}}}}",
     lambda n: f"{n} meters per second", lambda n: rf"{n}\ \mathrm{{m\,s^{{-1}}}}", lambda n: rf"{n} \text{{ m}}/\text{{s}}"],
    positive,
)  # fmt: skip
SAME_NUMBERS.one_of(
    "an_area_is_written_in_many_ways",
    [lambda n: rf"{n} \text{{ cm}}^2", lambda n: rf"{n}\,\mathrm{{cm}}^{{2}}", lambda n: f"{n} cm^2", lambda n: rf"{n}\ \mathrm{{cm^2}}",
     lambda n: f"{n} square centimeters", lambda n: rf"{n} \text{{ sq cm}}", lambda n: f"{n} cm²"],
    positive,
)  # fmt: skip
SAME_NUMBERS.one_of(
    "small_numbers_are_written_in_words",
    [str, lambda n: _WORDS[n] if n < 20 else _TENS[n // 10 - 2] + (f"-{_WORDS[n % 10]}" if n % 10 else "")],
    st.integers(0, 99),
)
SAME_NUMBERS.one_of(
    "a_base_is_written_in_many_ways",
    [lambda n: f"{n:b}_2", lambda n: f"{n:b}_{{2}}", lambda n: f"({n:b})_2", lambda n: rf"{n:b}_{{\text{{two}}}}"],
    positive,
)
SAME_NUMBERS.one_of(
    "a_wrapper_says_nothing",
    [str, lambda n: f"${n}$", lambda n: rf"\boxed{{{n}}}", lambda n: rf"\({n}\)", lambda n: rf"\text{{{n}}}", lambda n: f"{n}.",
     lambda n: f"**{n}**", lambda n: rf"\displaystyle {n}", lambda n: rf"\mathbf{{{n}}}", lambda n: rf"\left({n}\right)", lambda n: f" {n} ",
     lambda n: rf"{{{n}}}", lambda n: rf"\color{{red}}{{{n}}}", lambda n: rf"\[{n}\]"],
    whole,
)  # fmt: skip
SAME_NUMBERS.one_of(
    "a_choice_is_written_in_many_ways",
    [lambda n: "ABCDE"[n], lambda n: f"({'ABCDE'[n]})", lambda n: rf"\textbf{{({'ABCDE'[n]})}}", lambda n: rf"\text{{{'ABCDE'[n]}}}",
     lambda n: rf"\mathrm{{({'ABCDE'[n]})}}", lambda n: f"{'ABCDE'[n]}."],
    st.integers(0, 4),
)  # fmt: skip
SAME_NUMBERS.one_of(
    "a_time_of_day_is_written_in_many_ways",
    [
        lambda n: f"4:{n} p.m.",
        lambda n: f"4:{n} PM",
        lambda n: rf"4:{n}\text{{ p.m.}}",
        lambda n: rf"\text{{4:{n} pm}}",
        lambda n: f"04:{n} pm",
    ],
    st.integers(10, 59),
)


@SAME_NUMBERS.add
def thousands_are_marked_inside_expressions(draw: st.DrawFn) -> Pair:
    number = draw(large)
    form = draw(
        st.sampled_from(
            [
                r"\sqrt{{{}}}",
                "x > {}",
                r"\frac{{1}}{{{}}}",
                r"\approx {}",
                "x = {}",
                r"{} \text{{ km}}",
                r"{}\pi",
                r"-{}",
            ]
        )
    )
    return form.format(number), form.format(f"{number:,}")


@SAME_NUMBERS.add
def fractions_can_be_reduced(draw: st.DrawFn) -> Pair:
    (top, bottom), factor, style = draw(proper()), draw(small), draw(st.sampled_from(["frac", "dfrac", "tfrac"]))
    other = draw(st.sampled_from([frac(top, bottom, style), f"{top}/{bottom}", rf"{{{top} \over {bottom}}}"]))
    return frac(top * factor, bottom * factor), other


@SAME_NUMBERS.add
def mixed_numbers_are_sums(draw: st.DrawFn) -> Pair:
    (top, bottom), whole_part = draw(proper()), draw(small)
    mixed = draw(
        st.sampled_from(
            [
                rf"{whole_part}\frac{{{top}}}{{{bottom}}}",
                f"{whole_part} {top}/{bottom}",
                f"{whole_part} + {top}/{bottom}",
            ]
        )
    )
    return frac(whole_part * bottom + top, bottom), mixed


@SAME_NUMBERS.add
def finite_decimals_are_fractions(draw: st.DrawFn) -> Pair:
    thousandths = draw(st.integers(1, 99_999))
    return tex(Fraction(thousandths, 1000)), f"{thousandths // 1000}.{thousandths % 1000:03}"


@SAME_NUMBERS.add
def zeros_at_the_end_of_a_decimal_say_nothing(draw: st.DrawFn) -> Pair:
    number = f"{draw(whole)}.{draw(digits)}"
    return number, number + "0" * draw(st.integers(1, 3))


@SAME_NUMBERS.add
def repeating_decimals_are_fractions(draw: st.DrawFn) -> Pair:
    block, length, start = draw(st.integers(1, 998)), 3, draw(st.integers(0, 9))
    period = f"{block:0{length}}"
    way = draw(
        st.sampled_from(
            [rf"{start}.\overline{{{period}}}", f"{start}.({period})", f"{start}.{period}{period}{period}..."]
        )
    )
    return tex(start + Fraction(block, 999)), way


@SAME_NUMBERS.add
def powers_of_ten_move_the_point(draw: st.DrawFn) -> Pair:
    lead, tail, power = draw(digits), draw(digits), draw(st.integers(2, 9))
    plain = str((10 * lead + tail) * 10 ** (power - 1))
    mark = draw(st.sampled_from([r"\times 10^{{{}}}", r"\cdot 10^{}", "e{}", "×10^{}", "*10^{}"]))
    return plain, f"{lead}.{tail}" + mark.format(power)


@SAME_NUMBERS.add
def a_percent_is_a_hundredth(draw: st.DrawFn) -> Pair:
    percent = draw(positive)
    return rf"{percent}\%", draw(st.sampled_from([tex(Fraction(percent, 100)), str(percent / 100)]))


@SAME_NUMBERS.add
def a_minus_moves_within_a_fraction(draw: st.DrawFn) -> Pair:
    top, bottom = draw(proper())
    ways = ["-" + frac(top, bottom), frac(-top, bottom), frac(top, -bottom), f"-{top}/{bottom}", f"−{top}/{bottom}"]
    first, second = draw(st.lists(st.sampled_from(ways), min_size=2, max_size=2, unique=True))
    return first, second


_SCALES = [
    ("m", 100, "cm"), ("km", 1000, "m"), ("cm", 10, "mm"), ("kg", 1000, "g"), ("hours", 60, "minutes"), ("minutes", 60, "seconds"),
    ("L", 1000, "mL"), ("days", 24, "hours"), ("feet", 12, "inches"), ("weeks", 7, "days"), ("g", 1000, "mg"), ("m^2", 10_000, "cm^2"),
    ("kJ", 1000, "J"), ("m^3", 1_000_000, "cm^3"), ("kHz", 1000, "Hz"), ("tons", 1000, "kg"),
]  # fmt: skip


@SAME_NUMBERS.add
def units_can_be_rescaled(draw: st.DrawFn) -> Pair:
    number, (unit, factor, finer) = draw(positive), draw(st.sampled_from(_SCALES[:-1]))
    style = draw(st.sampled_from([r"{} \text{{ {}}}", "{} {}"]))
    return style.format(number, unit), style.format(number * factor, finer)


@SAME_NUMBERS.add
def the_unit_of_a_value_may_be_left_out(draw: st.DrawFn) -> Pair:
    number, unit = (
        draw(positive),
        draw(st.sampled_from(["cm", "kg", "hours", "km/h", "dollars", "square meters", "apples", "cm^2"])),
    )
    return rf"{number} \text{{ {unit}}}", str(number)


@SAME_NUMBERS.add
def ratios_can_be_scaled(draw: st.DrawFn) -> Pair:
    first, second, factor = draw(digits), draw(digits), draw(st.integers(2, 5))
    return f"{first}:{second}", f"{first * factor} : {second * factor}"


@SAME_NUMBERS.add
def a_named_value_is_the_value(draw: st.DrawFn) -> Pair:
    value, name = (
        tex(Fraction(*draw(proper()))),
        draw(st.sampled_from(["x", "f(2)", "P(A)", "|AB|", r"\angle ABC", r"\theta", "a_1", "S_n", r"\tan\theta"])),
    )
    return value, f"{name} = {value}"


@SAME_NUMBERS.add
def a_root_loses_its_square_factor(draw: st.DrawFn) -> Pair:
    factor, inside = draw(small), draw(radicands)
    way = draw(
        st.sampled_from(
            [
                rf"{factor}\sqrt{{{inside}}}",
                rf"{factor} \cdot \sqrt{{{inside}}}",
                f"{factor}√{inside}",
                f"{factor}*sqrt({inside})",
            ]
        )
    )
    return rf"\sqrt{{{factor * factor * inside}}}", way


@SAME_NUMBERS.add
def a_denominator_can_be_rationalised(draw: st.DrawFn) -> Pair:
    top, inside = draw(small), draw(radicands)
    return rf"\frac{{{top}}}{{\sqrt{{{inside}}}}}", rf"\frac{{{top}\sqrt{{{inside}}}}}{{{inside}}}"


@SAME_NUMBERS.add
def a_choice_with_its_value_is_the_choice(draw: st.DrawFn) -> Pair:
    letter, value = draw(st.sampled_from("ABCDE")), draw(positive)
    gold = draw(st.sampled_from([rf"\textbf{{({letter})}} {value}", f"{letter}) {value}", f"({letter}) {value}"]))
    return gold, draw(st.sampled_from([letter, f"({letter})", str(value)]))


@SAME_NUMBERS.add
def words_have_no_case_and_no_article(draw: st.DrawFn) -> Pair:
    words = draw(
        st.sampled_from(["right triangle", "ellipse", "yes", "isosceles trapezoid", "monday", "odd function", "even"])
    )
    return draw(st.sampled_from([words, rf"\text{{{words}}}"])), draw(
        st.sampled_from([words.capitalize(), f"{words}.", words.upper(), rf"\text{{{words.title()}}}"])
    )
