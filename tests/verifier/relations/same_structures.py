"""Sets, lists, intervals, equations and families of solutions written in two ways that mean the same."""

from __future__ import annotations

from hypothesis import strategies as st
from relations.drawing import (
    Pair,
    Relations,
    digits,
    distinct,
    ends,
    indices,
    large,
    letters,
    proper,
    radicands,
    signed,
    small,
    whole,
)

SAME_STRUCTURES = Relations()


@SAME_STRUCTURES.add
def a_set_has_no_order(draw: st.DrawFn) -> Pair:
    items = draw(distinct())
    return rf"\{{{', '.join(map(str, items))}\}}", rf"\{{{','.join(map(str, draw(st.permutations(items))))}\}}"


@SAME_STRUCTURES.add
def a_list_has_no_order(draw: st.DrawFn) -> Pair:
    items = draw(distinct())
    return ", ".join(map(str, items)), ", ".join(map(str, draw(st.permutations(items))))


@SAME_STRUCTURES.add
def a_list_of_large_numbers_has_no_order(draw: st.DrawFn) -> Pair:
    items = draw(distinct(2, 4, st.one_of(large, st.integers(2, 999))))
    return ", ".join(map(str, items)), ", ".join(map(str, draw(st.permutations(items))))


@SAME_STRUCTURES.add
def a_list_is_joined_in_many_ways(draw: st.DrawFn) -> Pair:
    items = [str(item) for item in draw(distinct(2, 4))]
    last = draw(st.sampled_from([" and ", r" \text{ and } ", " or ", r" \text{ or } ", ", and ", "; "]))
    joined = last.join(items) if last == "; " else ", ".join(items[:-1]) + last + items[-1]
    return ", ".join(items), joined


@SAME_STRUCTURES.add
def solutions_are_a_set(draw: st.DrawFn) -> Pair:
    items, name = draw(distinct(2, 4)), draw(letters)
    return rf"\{{{', '.join(map(str, items))}\}}", " or ".join(f"{name} = {item}" for item in items)


@SAME_STRUCTURES.add
def plus_minus_is_two_values(draw: st.DrawFn) -> Pair:
    middle, inside = draw(whole.filter(bool)), draw(radicands)
    return rf"{middle} \pm \sqrt{{{inside}}}", rf"{middle} - \sqrt{{{inside}}}, {middle} + \sqrt{{{inside}}}"


@SAME_STRUCTURES.add
def spaces_in_a_tuple_say_nothing(draw: st.DrawFn) -> Pair:
    items = draw(distinct(2, 4))
    way = draw(st.sampled_from([r"\left({}\right)", "( {} )", r"\bigl({}\bigr)", r"${}$", "({})"]))
    inside = draw(st.sampled_from([",", ", ", r",\ ", r",\,", " , "])).join(map(str, items))
    return f"({', '.join(map(str, items))})", way.format(f"({inside})" if way == "${}$" else inside)


@SAME_STRUCTURES.add
def named_values_are_a_tuple(draw: st.DrawFn) -> Pair:
    first, second = draw(whole), draw(whole)
    way = draw(
        st.sampled_from(
            [
                "x = {}, y = {}",
                r"x = {} \text{{ and }} y = {}",
                r"\begin{{cases}} x = {} \\ y = {} \end{{cases}}",
                "(x, y) = ({}, {})",
            ]
        )
    )
    return f"({first}, {second})", way.format(first, second)


@SAME_STRUCTURES.add
def named_values_have_no_order(draw: st.DrawFn) -> Pair:
    first, second, third = draw(whole), draw(whole), draw(whole)
    return f"a = {first}, b = {second}, c = {third}", f"c = {third}, a = {first}, b = {second}"


@SAME_STRUCTURES.add
def an_interval_is_an_inequality(draw: st.DrawFn) -> Pair:
    (low, high), name = draw(ends()), draw(letters)
    left, right = draw(st.sampled_from("([")), draw(st.sampled_from(")]"))
    below, above = "<" if left == "(" else r"\le", "<" if right == ")" else r"\le"
    ways = [f"{name} \\in {left}{low}, {high}{right}", rf"\{{{name} \mid {low} {below} {name} {above} {high}\}}", f"{low} {below} {name} {above} {high}",
            rf"\{{{name} : {low} {below} {name} {above} {high}\}}", rf"\left{left}{low}, {high}\right{right}"]  # fmt: skip
    return f"{left}{low}, {high}{right}", draw(st.sampled_from(ways))


@SAME_STRUCTURES.add
def a_chain_is_two_inequalities(draw: st.DrawFn) -> Pair:
    (low, high), name = draw(ends()), draw(letters)
    joint = draw(st.sampled_from([" and ", r" \text{ and } ", ", "]))
    return f"{low} < {name} < {high}", f"{name} > {low}{joint}{name} < {high}"


@SAME_STRUCTURES.add
def outer_inequalities_are_a_union(draw: st.DrawFn) -> Pair:
    (low, high), joint = draw(ends()), draw(st.sampled_from([" or ", r" \text{ or } "]))
    return rf"(-\infty, {low}) \cup ({high}, \infty)", f"x < {low}{joint}x > {high}"


@SAME_STRUCTURES.add
def a_union_has_no_order(draw: st.DrawFn) -> Pair:
    low, high = draw(ends())
    return rf"(-\infty, {low}] \cup [{high}, \infty)", rf"[{high}, +\infty) \cup (-\infty, {low}]"


@SAME_STRUCTURES.add
def a_point_taken_out_splits_the_line(draw: st.DrawFn) -> Pair:
    point = draw(whole)
    way = draw(
        st.sampled_from([r"x \neq {0}", r"\mathbb{{R}} \setminus \{{{0}\}}", r"x \ne {0}", r"\{{x \mid x \neq {0}\}}"])
    )
    return rf"(-\infty, {point}) \cup ({point}, \infty)", way.format(point)


@SAME_STRUCTURES.add
def an_inequality_can_be_turned_round(draw: st.DrawFn) -> Pair:
    bound, (sign, turned) = (
        draw(whole),
        draw(st.sampled_from([("<", ">"), (r"\le", r"\ge"), (">", "<"), (r"\geq", r"\leqslant")])),
    )
    return f"x {sign} {bound}", f"{bound} {turned} x"


@SAME_STRUCTURES.add
def an_inequality_can_be_multiplied(draw: st.DrawFn) -> Pair:
    bound, factor = draw(whole), draw(small)
    return draw(
        st.sampled_from(
            [(f"x < {bound}", f"{factor}x < {factor * bound}"), (f"x < {bound}", f"-{factor}x > {-factor * bound}")]
        )
    )


@SAME_STRUCTURES.add
def an_absolute_inequality_is_an_interval(draw: st.DrawFn) -> Pair:
    middle, radius = draw(whole.filter(bool)), draw(small)
    return f"({middle - radius}, {middle + radius})", f"|x {signed(-middle)}| < {radius}"


@SAME_STRUCTURES.add
def terms_move_across_an_equation(draw: st.DrawFn) -> Pair:
    first, second, third, factor = draw(digits), draw(digits), draw(whole), draw(digits)
    moved = draw(
        st.sampled_from(
            [
                f"{first}x = {third} - {second}y",
                f"{third} = {first}x + {second}y",
                f"{first}x + {second}y {signed(-third)} = 0",
            ]
        )
    )
    return f"{first * factor}x + {second * factor}y = {third * factor}", moved


@SAME_STRUCTURES.add
def the_variable_of_a_function_has_any_name(draw: st.DrawFn) -> Pair:
    (first, second), factor, constant = (
        draw(st.lists(letters, min_size=2, max_size=2, unique=True)),
        draw(small),
        draw(whole),
    )
    body = rf"{factor}{{}}^2 {signed(constant)}"
    return f"f({first}) = " + body.replace("{}", first), f"f({second}) = " + body.replace("{}", second)


@SAME_STRUCTURES.add
def the_index_of_a_sum_has_any_name(draw: st.DrawFn) -> Pair:
    (first, second), top, power = (
        draw(st.lists(indices, min_size=2, max_size=2, unique=True)),
        draw(small),
        draw(st.integers(1, 3)),
    )
    big = draw(st.sampled_from(["sum", "prod"]))
    one, other = (rf"\{big}_{{{name}=1}}^{{{top}}} ({name}^{{{power}}} + 1)" for name in (first, second))
    return one, other


@SAME_STRUCTURES.add
def the_parameter_of_a_family_has_any_name(draw: st.DrawFn) -> Pair:
    (first, second), (top, bottom), step = (
        draw(st.lists(indices, min_size=2, max_size=2, unique=True)),
        draw(proper()),
        draw(small),
    )
    one, other = (
        rf"x = \frac{{{top}\pi}}{{{bottom}}} + {step}{name}\pi, {name} \in \mathbb{{Z}}" for name in (first, second)
    )
    return one, other


@SAME_STRUCTURES.add
def the_parameter_of_a_family_may_be_shifted(draw: st.DrawFn) -> Pair:
    start, step, shift = draw(whole.filter(bool)), draw(small), draw(st.integers(-3, 3).filter(bool))
    return rf"{start} + {step}k, k \in \mathbb{{Z}}", rf"{start + shift * step} + {step}k, k \in \mathbb{{Z}}"


@SAME_STRUCTURES.add
def the_parameter_of_a_family_may_be_turned(draw: st.DrawFn) -> Pair:
    start, step = draw(whole.filter(bool)), draw(small)
    return rf"x = {start} + {step}n\pi, n \in \mathbb{{Z}}", rf"x = {start} - {step}n\pi, n \in \mathbb{{Z}}"


@SAME_STRUCTURES.add
def the_clause_of_a_family_may_be_left_out(draw: st.DrawFn) -> Pair:
    (top, bottom), step = draw(proper()), draw(small)
    clause = draw(
        st.sampled_from(
            [
                r", k \in \mathbb{Z}",
                r" (k \in \mathbb{Z})",
                r" \text{ where } k \text{ is an integer}",
                r" \quad (k \in Z)",
            ]
        )
    )
    family = rf"x = \frac{{{top}\pi}}{{{bottom}}} + {step}k\pi"
    return family + clause, family
