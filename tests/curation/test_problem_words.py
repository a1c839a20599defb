from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compass.curation.decontamination import BenchmarkIndex
from compass.curation.dedup import dedup
from compass.curation.problem_words import numbers, similarity, tokens, words
from compass.settings import Dedup, Denoise
from tests.conftest import data_rows


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        (None, ""),
        ("What is $\\frac{3}{4}$ of 1,200?", "what is frac 3 4 of 1200"),
        ("99页 café", "99 页 café"),
        ("Сколько чисел?", "сколько чисел"),
        # numbers
        ("3.5 and 3. 5", "3.5 and 3 5"),
        ("1,000 12,345,678", "1000 12345678"),
        (r"1{,}000 and 2,\!000", "1000 and 2000"),
        ("1,2 1,23 1,2345", "1 2 1 23 1 2345"),
        ("two, TWENTY and thirty or ninety", "2 20 and 30 or 90"),
        ("three ten one", "3 10 one"),
        ("x10y", "x 10 y"),
        # fractions, whose arguments without braces are one digit each
        (r"\dfrac12 \tfrac 1 2 \cfrac{1}{2}", "frac 1 2 frac 1 2 frac 1 2"),
        (r"\frac123", "frac 1 2 3"),
        (r"\frac12 3", "frac 1 2 3"),
        (r"\frac1{23}", "frac 1 23"),
        (r"\frac  12", "frac 1 2"),
        (r"\binom52 \dbinom{5}{2} \tbinom nk", "binom 5 2 binom 5 2 binom n k"),
        (r"\fractional12", "fractional 12"),
        # products of letters
        (r"j x, 2\,x y and d t", "jx 2 xy and dt"),
        ("let x be a k-gon, I x", "let x be a k gon ix"),
        ("$a b$ with n a positive number", "ab with n a positive number"),
        ("Tom's x", "tom s x"),
        # groups
        (r"\sqrt[3]{x+8} + \sqrt{9}", "sqrt [ 3 ] ( x + 8 ) + sqrt 9"),
        (r"\frac{x+1}2 \frac1{23} a_{n+1} b_1", "frac ( x + 1 ) 2 frac 1 23 a ( n + 1 ) b 1"),
        (r"x^{2} y^{-1} \text{if }\{x+1\}", "x ^ 2 y ^ - 1 if { x + 1 }"),
        (r"}\sqrt{2 {x", "sqrt 2 x"),
        (r"x \pmod{n+1}, (mod 6), modulo 3", "x mod n + 1 mod 6 mod 3"),
        ("____ is _a_", "is a"),
        # commands
        (r"\left( 0, 1 \right)", "( 0 1 )"),
        (r"\text{km} \mathbb{R} \quad \ldots", "km r"),
        (r"\sin x \Delta", "sin x delta"),
        (r"a\,b\;c\\d\ e", "abc de"),
        (r"\{1\} \|v\| 5\%", "{ 1 } | v | 5 %"),
        (r"\(x\) \[y\] \!z \-w", "x y z w"),
        (r"\1 \é", ""),
        ("\\", ""),
        # operators
        (r"a \cdot b \times c \ast d", "a * b * c * d"),
        (r"x \le 3 \leqslant 4 \lt 5", "x ≤ 3 ≤ 4 < 5"),
        (r"x \ge 3 \geqq 4 \gt 5", "x ≥ 3 ≥ 4 > 5"),
        (r"6 \div 3 \mid x \vert y", "6 / 3 | x | y"),
        ("x+1=(y*2)/[3^4]", "x + 1 = ( y * 2 ) / [ 3 ^ 4 ]"),
        ("n! < 5 > 3 | 7%", "n ! < 5 > 3 | 7 %"),
        ("n!=6 but x != 6", "n ! = 6 but x ≠ 6"),
        (r"in lowest terms! (2n)! nk! n!", "in lowest terms ( 2 n ) ! nk ! n !"),
        ("{a}_b: c; $d$ & e?", "a b c d e"),
        # minus signs and hyphens
        ("x - 1", "x - 1"),
        ("3-4", "3 - 4"),
        ("a 9-kilometer walk", "a 9 kilometer walk"),
        ("x- axis", "x axis"),
        ("x-y", "x - y"),
        ("the $-3$", "the 3"),
        ("ab - 3", "ab 3"),
        ("a - 3", "a - 3"),
        (r"\sin -3", "sin - 3"),
        ("12-3", "12 - 3"),
        ("two - 3", "2 3"),
        ("(-3", "( - 3"),
        # quotes
        ("f'(x)", "f ' ( x )"),
        ("f''(x)", "f ' ' ( x )"),
        ("Tom's 'dog'", "tom s dog '"),
        ("3'", "3"),
        # other alphabets' forms
        ("１２ x² π≤∞ 5−3 a×b Tom’s ½", "12 x ^ 2 pi ≤ infty 5 - 3 a * b tom s 1 2"),
        ("√2 ≠ 3 ÷ 4", "sqrt 2 ≠ 3 / 4"),
        ("a — b … 3", "a - b 3"),
        ("，。「三」", "三"),
        ("\u07ff\u0800", "\u07ff \u0800"),
    ],
)  # fmt: skip
def test_tokens(text, expected):
    assert tokens(text) == expected.split()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Find $x^{10}$.", r"find \( x^10 \)"),
        (r"\pi r^2", "π r²"),
        ("x − 1", "x - 1"),
        ("芳芳有３页", "芳芳有3页"),
    ],
)
def test_markup_does_not_make_another_problem(one, other):
    assert tokens(one) == tokens(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x + 1", "x - 1"),
        (r"\frac{1}{23}", r"\frac{12}{3}"),
        ("[0, 1)", "(0, 1)"),
        ("3.5", "35"),
        ("n!", "n"),
        ("f'(x)", "f(x)"),
        ("x < 3", "x > 3"),
        ("芳芳有3页", "芳芳有4页"),
    ],
)
def test_mathematics_makes_another_problem(one, other):
    assert tokens(one) != tokens(other)


MEANINGS = r"""
    =
    < \lt
    > \gt
    <= \le \leq \leqslant \leqq ≤ ⩽ ≦
    >= \ge \geq \geqslant \geqq ≥ ⩾ ≧
    ≠ \ne \neq \not=
    ≡ \equiv
    ≢ \not\equiv
    ≈ \approx
    ≅ \cong
    ∼ \sim
    ≃ \simeq
    ≪ \ll
    ≫ \gg
    ∝ \propto
    ≮ \nless \not<
    ≯ \ngtr \not>
    ≰ \nleq \not\leq \not\le
    ∈ \in
    ∉ \notin \not\in
    ∋ \ni
    ⊂ \subset
    ⊆ \subseteq
    ⊊ \subsetneq
    ⊄ \not\subset
    ⊈ \nsubseteq \not\subseteq
    ⊃ \supset
    ⊇ \supseteq
    ∪ \cup
    ∩ \cap
    ∖ \setminus
    ∥ \parallel
    ∦ \nparallel
    ⊥ \perp
    | \mid
    ∤ \nmid
    +
    - −
    ± \pm
    ∓ \mp
    ⊕ \oplus
    ⊗ \otimes
    ∧ \land
    ∨ \lor
    ⇒ \implies \Rightarrow \Longrightarrow
    ⇔ \iff \Leftrightarrow \Longleftrightarrow
    ≺ \prec
    ≻ \succ
"""
"""Signs between two terms, one meaning a line in all its spellings."""
SPELLINGS = [line.split() for line in MEANINGS.strip().splitlines()]


@pytest.mark.parametrize("spellings", SPELLINGS, ids=lambda spellings: spellings[0])
def test_a_sign_is_one_token_however_it_is_spelt(spellings):
    assert len({tuple(tokens(f"Say when $2x^2 - 3 {sign} 5$.")) for sign in spellings}) == 1


@pytest.mark.parametrize("gold", ["77/19", "{}/19"], ids=["equal golds", "other golds"])
def test_problems_that_differ_in_one_sign_are_no_duplicates(gold, records):
    signs = [spellings[0] for spellings in SPELLINGS if spellings[0] not in "∈|"]  # beside "=", others write a word
    texts = [SENTENCE.format(f"2x^2 - 3 {sign} 5") for sign in signs]
    assert len({tuple(tokens(text)) for text in texts}) == len(texts)
    rows = [(text, gold.format(number + 20), "web") for number, text in enumerate(texts)]
    _, dropped = dedup(records(*rows), Dedup(), ["web"])
    assert dropped["problem"].to_pylist() == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("add 3 to 4", "3 4"),
        ("take three and then 4", "3 4"),
        ("x^2 + y - 1 = n! < 5 > 6 * 7 / 8", "^ 2 + - 1 ! < 5 > 6 7 8"),
        ("the smallest even or the greatest odd", "minimum even maximum odd"),
        (r"\sin 3 + cosine 4", "sin 3 + cos 4"),
        ("a hexagon, a third of the mean", "hexagon third mean"),
        ("the average of all", "mean"),
        ("no figure at all", ""),
        ("2(x + 3) in f(x) (see page)", "2 ( + 3 )"),
        ("(a/b)/c (in cm)", "( / ) /"),
        ("f''(x)", "' '"),
        ("[0, 1) or (0, 1) or [x]", "[ 0 1 ) 0 1"),
        ("(2n)! (xy)^2 (x, y)", "( 2 ) ! ( ) ^ 2"),
    ],
)
def test_numbers_are_numbers_signs_and_deciding_words(text, expected):
    assert numbers(tokens(text)) == expected.split()


def test_similarity_is_of_word_ngrams():
    assert similarity("we b, c, d.", "We, b, c + e", 2) == 2 / 4
    assert similarity("we, b, c, d", "we, b, c, e", 3) == 1 / 3


@settings(max_examples=300)
@given(st.text(max_size=60))
def test_any_text_is_read(text):
    read = tokens(text)
    assert all(read)
    assert len(words(read)) <= len(read)


@settings(max_examples=300)
@given(st.text(st.characters(max_codepoint=127), max_size=60))
def test_case_is_no_difference(text):
    assert tokens(text.upper()) == tokens(text.lower())


SENTENCE = (
    "For all values for which it is defined, work carefully and write the expression ${}$ as simply as you can; "
    "then give what it is equal to."
)


FORMULAS = data_rows("formula_pairs.jsonl")
"""Two ways to set a formula each: `same` where they mean the same."""


def fates(pair: tuple[str, str], records) -> list[str]:
    """What becomes of two problems with different golds: `kept`, or the reason of the drop."""
    table = records(*((SENTENCE.format(formula), gold, "web") for formula, gold in zip(pair, "12", strict=True)))
    kept, dropped = dedup(table, Dedup(), ["web"])
    return ["kept"] * kept.num_rows + dropped["reason"].to_pylist()


def benchmark_rules(pair: tuple[str, str], records) -> list[str]:
    """The rules that find the first problem, a benchmark's item, in the second."""
    index = BenchmarkIndex(records((SENTENCE.format(pair[0]), "1", "bench")), Denoise())
    return [match.rule for match in index.search(SENTENCE.format(pair[1]))]


@pytest.mark.parametrize("pair", [one["pair"] for one in FORMULAS if not one["same"]])
def test_other_grouping_makes_another_problem(pair, records):
    assert tokens(pair[0]) != tokens(pair[1])
    assert fates(pair, records) == ["kept", "kept"]
    assert "exact" not in benchmark_rules(pair, records)


@pytest.mark.parametrize("pair", [one["pair"] for one in FORMULAS if one["same"]])
def test_other_typesetting_makes_no_other_problem(pair, records):
    assert tokens(pair[0]) == tokens(pair[1])
    assert fates(pair, records) == ["answer_conflict", "answer_conflict"]
    assert benchmark_rules(pair, records) == ["exact"]
