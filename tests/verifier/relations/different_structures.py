"""Collections, relations and expressions that look alike and do not mean the same: each changes one thing that matters."""

from __future__ import annotations

from hypothesis import strategies as st
from relations.drawing import (
    Pair,
    Relations,
    digits,
    distinct,
    ends,
    indices,
    letters,
    proper,
    radicands,
    signed,
    small,
    whole,
)

DIFFERENT_STRUCTURES = Relations()


@DIFFERENT_STRUCTURES.add
def another_end_point(draw: st.DrawFn) -> Pair:
    (low, high), (left, right) = draw(ends()), draw(st.sampled_from(["()", "[]", "(]", "[)"]))
    return f"{left}{low}, {high}{right}", f"{left}{low}, {high + 1}{right}"


@DIFFERENT_STRUCTURES.add
def another_openness(draw: st.DrawFn) -> Pair:
    (low, high), (one, two) = (
        draw(ends()),
        draw(st.lists(st.sampled_from(["()", "[]", "(]", "[)"]), min_size=2, max_size=2, unique=True)),
    )
    prefix = draw(st.sampled_from([r"x \in ", ""]))
    return f"{prefix}{one[0]}{low}, {high}{one[1]}", f"{prefix}{two[0]}{low}, {high}{two[1]}"


@DIFFERENT_STRUCTURES.add
def the_end_points_of_an_interval(draw: st.DrawFn) -> Pair:
    low, high = draw(ends())
    gold = draw(
        st.sampled_from([f"[{low}, {high}]", rf"({high}, \infty)", f"({low}, {high}]", rf"x \in ({low}, {high})"])
    )
    return gold, draw(
        st.sampled_from([f"{low}, {high}", f"x = {low} or x = {high}", rf"\{{{low}, {high}\}}", rf"{high}, \infty"])
    )


@DIFFERENT_STRUCTURES.add
def another_direction(draw: st.DrawFn) -> Pair:
    bound, (one, two) = (
        draw(whole),
        draw(st.lists(st.sampled_from(["<", ">", r"\le", r"\ge", "=", r"\ne"]), min_size=2, max_size=2, unique=True)),
    )
    return f"x {one} {bound}", f"x {two} {bound}"


@DIFFERENT_STRUCTURES.add
def or_for_and(draw: st.DrawFn) -> Pair:
    low, high = draw(ends())
    return draw(st.sampled_from([
        (f"x > {low} and x < {high}", f"x > {low} or x < {high}"), (f"x < {low} or x > {high}", f"x < {low} and x > {high}"),
        (rf"x \ne {low} and x \ne {high}", r"\mathbb{R}"), (rf"x \ge {low}, x \ne {high}", r"\mathbb{R}"), (rf"x \ge {low}, x \ne {high}", rf"x \ge {low}"),
    ]))  # fmt: skip


@DIFFERENT_STRUCTURES.add
def a_part_of_a_union(draw: st.DrawFn) -> Pair:
    low, high = draw(ends())
    gold = rf"(-\infty, {low}) \cup ({high}, \infty)"
    return gold, draw(
        st.sampled_from(
            [
                rf"({high}, \infty)",
                rf"(-\infty, {high}) \cup ({low}, \infty)",
                rf"({high}, {low}) \cup ({high}, \infty)",
                rf"(-\infty, {low}) \cap ({high}, \infty)",
            ]
        )
    )


@DIFFERENT_STRUCTURES.add
def another_order_of_a_tuple(draw: st.DrawFn) -> Pair:
    items = draw(distinct())
    return f"({', '.join(map(str, items))})", f"({', '.join(map(str, items[::-1]))})"


@DIFFERENT_STRUCTURES.add
def one_value_less_or_more(draw: st.DrawFn) -> Pair:
    items, form = [str(item) for item in draw(distinct(3))], draw(st.sampled_from([r"\{{{}\}}", "({})", "{}"]))
    one, two = form.format(", ".join(items)), form.format(", ".join(items[:-1]))
    return draw(st.sampled_from([(one, two), (two, one)]))


@DIFFERENT_STRUCTURES.add
def values_of_other_names(draw: st.DrawFn) -> Pair:
    one, two = draw(distinct(2, 2))
    return f"x = {one}, y = {two}", f"x = {two}, y = {one}"


@DIFFERENT_STRUCTURES.add
def another_name(draw: st.DrawFn) -> Pair:
    (one, two), value = draw(st.lists(letters, min_size=2, max_size=2, unique=True)), draw(whole)
    return f"{one} = {value}", f"{two} = {value}"


@DIFFERENT_STRUCTURES.add
def what_names_nothing(draw: st.DrawFn) -> Pair:
    value = draw(whole)
    return str(value), draw(
        st.sampled_from(
            [r"\text{{not}} = {}", r"\pi = {}", r"\lim = {}", r"x \in {}", r"x \ne {}", r"x > {}", "not {}"]
        )
    ).format(value)


@DIFFERENT_STRUCTURES.add
def a_variable_captured_by_a_parameter(draw: st.DrawFn) -> Pair:
    (one, two), constant = draw(st.lists(letters, min_size=2, max_size=2, unique=True)), draw(small)
    return f"f({one}) = {one} + {constant}", f"f({two}) = {one} + {constant}"


@DIFFERENT_STRUCTURES.add
def an_unknown_function_for_its_argument(draw: st.DrawFn) -> Pair:
    number = draw(st.integers(0, 9))
    name = draw(st.sampled_from(["p", "g", "y'", "I", "h"]))
    return str(number), f"{name}({number})"


@DIFFERENT_STRUCTURES.add
def another_family(draw: st.DrawFn) -> Pair:
    (top, bottom), step, name = draw(proper()), draw(small), draw(indices)
    gold = rf"x = \frac{{{top}\pi}}{{{bottom}}} + {2 * step}{name}\pi, {name} \in \mathbb{{Z}}"
    other = [rf"x = \frac{{{top}\pi}}{{{bottom}}} + {step}{name}\pi, {name} \in \mathbb{{Z}}", rf"x = \frac{{{top}\pi}}{{{bottom + 1}}} + {2 * step}{name}\pi, {name} \in \mathbb{{Z}}",
             rf"x = \frac{{{top}\pi}}{{{bottom}}}", rf"x = \frac{{{top}\pi}}{{{bottom}}} + {2 * step}\pi", rf"x = \frac{{{top}\pi}}{{{bottom}}} + {6 * step}{name}\pi"]  # fmt: skip
    return gold, draw(st.sampled_from(other))


@DIFFERENT_STRUCTURES.add
def a_conjugate(draw: st.DrawFn) -> Pair:
    real, imaginary, inside = draw(whole), draw(small), draw(radicands)
    return draw(
        st.sampled_from(
            [
                (f"{real}+{imaginary}i", f"{real}-{imaginary}i"),
                (rf"{real}+\sqrt{{{inside}}}", rf"{real}-\sqrt{{{inside}}}"),
                (rf"{real} \pm \sqrt{{{inside}}}", rf"{real} + \sqrt{{{inside}}}"),
            ]
        )
    )


@DIFFERENT_STRUCTURES.add
def another_variable(draw: st.DrawFn) -> Pair:
    (one, two), factor = draw(st.lists(letters, min_size=2, max_size=2, unique=True)), draw(small)
    return f"{factor}{one}^2 + 1", f"{factor}{two}^2 + 1"


@DIFFERENT_STRUCTURES.add
def another_coefficient(draw: st.DrawFn) -> Pair:
    first, second, third = draw(whole), draw(whole), draw(small)
    return f"{third}x^2{signed(first, 'x')}{signed(second)}", f"{third}x^2{signed(first + 1, 'x')}{signed(second)}"


@DIFFERENT_STRUCTURES.add
def another_function(draw: st.DrawFn) -> Pair:
    factor, (one, two) = (
        draw(small),
        draw(
            st.lists(
                st.sampled_from([r"\sin", r"\cos", r"\tan", r"\ln", r"\arcsin", r"\sqrt", "e^"]),
                min_size=2,
                max_size=2,
                unique=True,
            )
        ),
    )
    return rf"{factor}{one}{{x}}", rf"{factor}{two}{{x}}"


@DIFFERENT_STRUCTURES.add
def another_equation(draw: st.DrawFn) -> Pair:
    first, second, third = draw(digits), draw(digits), draw(whole)
    return f"{first}x + {second}y = {third}", draw(
        st.sampled_from(
            [
                f"{first}x + {second}y = {third + 1}",
                f"{first}x - {second}y = {third}",
                f"{first + 1}x + {second}y = {third}",
            ]
        )
    )


@DIFFERENT_STRUCTURES.add
def another_root_or_base_of_a_logarithm(draw: st.DrawFn) -> Pair:
    inside, index = draw(st.integers(2, 9)), draw(st.integers(2, 7))
    return draw(
        st.sampled_from(
            [
                (rf"\sqrt[{index}]{{{inside}}}", rf"\sqrt[{index + 1}]{{{inside}}}"),
                (rf"\log_{{{index}}} {inside}", rf"\log_{{{index + 1}}} {inside}"),
            ]
        )
    )


@DIFFERENT_STRUCTURES.add
def other_bounds_of_a_sum(draw: st.DrawFn) -> Pair:
    top, name = draw(small), draw(indices)
    return rf"\sum_{{{name}=1}}^{{{top}}} {name}^2", draw(
        st.sampled_from(
            [
                rf"\sum_{{{name}=1}}^{{{top + 1}}} {name}^2",
                rf"\sum_{{{name}=2}}^{{{top}}} {name}^2",
                rf"\prod_{{{name}=0}}^{{{top}}} {name}^2",
            ]
        )
    )


@DIFFERENT_STRUCTURES.add
def a_transposed_matrix(draw: st.DrawFn) -> Pair:
    one, two = draw(st.lists(whole, min_size=2, max_size=2, unique=True))
    return (
        rf"\begin{{pmatrix}} 1 & {one} \\ {two} & 3 \end{{pmatrix}}",
        rf"\begin{{pmatrix}} 1 & {two} \\ {one} & 3 \end{{pmatrix}}",
    )


@DIFFERENT_STRUCTURES.add
def a_row_for_a_column(draw: st.DrawFn) -> Pair:
    one, two = draw(whole), draw(whole)
    return rf"\begin{{pmatrix}} {one} & {two} \end{{pmatrix}}", rf"\begin{{pmatrix}} {one} \\ {two} \end{{pmatrix}}"


@DIFFERENT_STRUCTURES.add
def another_shape_of_fraction(draw: st.DrawFn) -> Pair:
    one, two, three = draw(small), draw(small), draw(small)
    return rf"\frac{{\frac{{{one}}}{{{two}}}}}{{{three}}}", rf"\frac{{{one}}}{{\frac{{{two}}}{{{three}}}}}"


@DIFFERENT_STRUCTURES.add
def another_arrangement(draw: st.DrawFn) -> Pair:
    order = draw(st.permutations("abcd"))
    other = draw(st.permutations("abcd").filter(lambda other: other != order))
    return " ".join(order), " ".join(other)


@DIFFERENT_STRUCTURES.add
def another_format(draw: st.DrawFn) -> Pair:
    one, two, three = sorted(draw(distinct(3, 3, small)))
    return rf"{one * 2} \times {two} \times {three}", rf"{one} \times {two * 2} \times {three}"
