"""Expressions, complex numbers, vectors and matrices written in two ways that mean the same."""

from __future__ import annotations

from fractions import Fraction
from math import comb

from hypothesis import strategies as st
from relations.drawing import (
    Pair,
    Relations,
    digits,
    letters,
    proper,
    radicands,
    signed,
    small,
    tex,
    whole,
)

SAME_EXPRESSIONS = Relations()


@SAME_EXPRESSIONS.add
def products_can_be_expanded(draw: st.DrawFn) -> Pair:
    one, two, name = draw(whole.filter(bool)), draw(whole.filter(bool)), draw(letters)
    return f"({name}{signed(one)})({name}{signed(two)})", f"{name}^2{signed(one + two, name)}{signed(one * two)}"


@SAME_EXPRESSIONS.add
def terms_have_no_order(draw: st.DrawFn) -> Pair:
    terms = [f"{draw(whole.filter(bool))}{name}" for name in ("x^2", "xy", "y", "")]
    return tuple("+".join(order).replace("+-", "-") for order in (terms, draw(st.permutations(terms))))  # type: ignore[return-value]


@SAME_EXPRESSIONS.add
def fractions_have_a_common_denominator(draw: st.DrawFn) -> Pair:
    one, two = draw(digits), draw(digits)
    return rf"\frac{{{one}}}{{x}} + \frac{{{two}}}{{x+1}}", rf"\frac{{{one + two}x + {one}}}{{x(x+1)}}"


@SAME_EXPRESSIONS.add
def logarithms_turn_products_into_sums(draw: st.DrawFn) -> Pair:
    one, two, base = draw(small), draw(small), draw(small)
    log = draw(st.sampled_from([r"\ln {}", r"\log_{{{1}}} {0}"]))
    return log.format(one * two, base), f"{log.format(one, base)} + {log.format(two, base)}"


@SAME_EXPRESSIONS.add
def powers_of_one_base_are_added(draw: st.DrawFn) -> Pair:
    base, power = draw(small), draw(digits)
    return f"{base}^{{n+{power}}}", rf"{base}^{power} \cdot {base}^n"


@SAME_EXPRESSIONS.add
def trigonometric_identities_hold(draw: st.DrawFn) -> Pair:
    factor = draw(small)
    return draw(st.sampled_from([
        (rf"{factor}\sin 2x", rf"{2 * factor}\sin x\cos x"), (rf"\cos 2x + {factor}", rf"2\cos^2 x + {factor - 1}"), (rf"{factor}\tan x", rf"\frac{{{factor}\sin x}}{{\cos x}}"),
        (rf"\sin^2 x + {factor}", rf"{factor + 1} - \cos^2 x"),
    ]))  # fmt: skip


@SAME_EXPRESSIONS.add
def complex_numbers_have_no_order(draw: st.DrawFn) -> Pair:
    real, imaginary = draw(whole.filter(bool)), draw(small)
    return f"{real}+{imaginary}i", draw(
        st.sampled_from(
            [
                f"{imaginary}i{signed(real)}",
                f"{real} + {imaginary} i",
                rf"{real} + i \cdot {imaginary}",
                f"{real}+{imaginary}\\mathrm{{i}}",
            ]
        )
    )


@SAME_EXPRESSIONS.add
def combinations_are_written_in_many_ways(draw: st.DrawFn) -> Pair:
    top = draw(st.integers(3, 12))
    bottom = draw(st.integers(1, top - 1))
    ways = [rf"\binom{{{top}}}{{{bottom}}}", rf"\frac{{{top}!}}{{{bottom}!{top - bottom}!}}", f"C({top},{bottom})", f"C_{{{top}}}^{{{bottom}}}", rf"{{}}_{{{top}}}C_{{{bottom}}}",
            rf"{{{top} \choose {bottom}}}", rf"\dbinom{{{top}}}{{{bottom}}}"]  # fmt: skip
    return str(comb(top, bottom)), draw(st.sampled_from(ways))


@SAME_EXPRESSIONS.add
def matrices_are_set_in_many_ways(draw: st.DrawFn) -> Pair:
    entries = [draw(whole) for _ in range(4)]
    one, other = draw(
        st.lists(st.sampled_from(["pmatrix", "bmatrix", "array", "matrix"]), min_size=2, max_size=2, unique=True)
    )

    def written(kind: str) -> str:
        inside = rf"{entries[0]} & {entries[1]} \\ {entries[2]} & {entries[3]}"
        if kind in ("array", "matrix"):
            return rf"\left( \begin{{{kind}}}{'{cc}' if kind == 'array' else ''} {inside} \end{{{kind}}} \right)"
        return rf"\begin{{{kind}}} {inside} \end{{{kind}}}"

    return written(one), written(other)


@SAME_EXPRESSIONS.add
def a_vector_is_written_in_many_ways(draw: st.DrawFn) -> Pair:
    one, two, three = (draw(small) for _ in range(3))
    ways = [rf"\begin{{pmatrix}} {one} \\ {two} \\ {three} \end{{pmatrix}}", rf"\langle {one}, {two}, {three} \rangle", f"({one}, {two}, {three})",
            rf"{one}\mathbf{{i}} + {two}\mathbf{{j}} + {three}\mathbf{{k}}"]  # fmt: skip
    first, second = draw(st.lists(st.sampled_from(ways), min_size=2, max_size=2, unique=True))
    return first, second


@SAME_EXPRESSIONS.add
def entries_of_a_matrix_may_be_rewritten(draw: st.DrawFn) -> Pair:
    top, bottom, factor = *draw(proper()), draw(small)
    cell = r"\begin{pmatrix} {} & 0 \\ 1 & x \end{pmatrix}".replace("{}", "CELL")
    return cell.replace("CELL", tex(Fraction(top, bottom))), cell.replace("CELL", f"{top * factor}/{bottom * factor}")


@SAME_EXPRESSIONS.add
def cases_have_no_order(draw: st.DrawFn) -> Pair:
    bound, below, above = draw(whole), draw(whole), draw(small)
    rows = [rf"{below} & x < {bound}", rf"{above}x & x \ge {bound}"]
    one, other = (rf"\begin{{cases}} {order[0]} \\ {order[1]} \end{{cases}}" for order in (rows, rows[::-1]))
    return one, other


@SAME_EXPRESSIONS.add
def signs_of_unicode_are_their_commands(draw: st.DrawFn) -> Pair:
    one, two = draw(small), draw(radicands)
    return draw(st.sampled_from([
        (rf"{one}\pi", f"{one}π"), (rf"\sqrt{{{two}}}", f"√{two}"), (f"x^2 - {one}", f"x² − {one}"), (rf"x \le {one}", f"x ≤ {one}"), (rf"({one}, \infty)", f"({one}, ∞)"),
        (rf"{one} \pm \sqrt{{{two}}}", f"{one} ± √{two}"), (rf"x \ne {one}", f"x ≠ {one}"), (rf"{one}\theta", f"{one}θ"), (rf"x \in [{one}, \infty)", f"x ∈ [{one}, ∞)"),
        (rf"(-\infty, 0) \cup ({one}, \infty)", f"(−∞, 0) ∪ ({one}, ∞)"),
    ]))  # fmt: skip


@SAME_EXPRESSIONS.add
def spaces_between_signs_say_nothing(draw: st.DrawFn) -> Pair:
    parts = [str(draw(small)), "x", "^", "2", "+", str(draw(small)), "y", "-", "(", "z", "+", str(draw(small)), ")"]
    gap = draw(st.sampled_from([" ", r"\,", r"\;", r"\ ", r"\!"]))
    tight = "".join(parts)
    return tight, "".join(f"{gap}{part}{gap}" if part in "+-()" else part for part in parts)


@SAME_EXPRESSIONS.add
def multiplication_has_many_signs(draw: st.DrawFn) -> Pair:
    one, name = draw(small), draw(letters)
    return f"{one}{name}(q+1)", draw(
        st.sampled_from(
            [
                rf"{one} \cdot {name} \cdot (q+1)",
                f"{one}*{name}*(q+1)",
                rf"{one} \times {name} \times (1+q)",
                f"({one}{name})(1+q)",
            ]
        )
    )
