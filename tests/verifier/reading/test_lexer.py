"""LaTeX and plain text as tokens."""

from __future__ import annotations

import pytest

from compass.verifier.reading.lexer import MAX_TOKENS, tokenize
from compass.verifier.tree import OverBudget, Unreadable

TOKENS = [
    ("12.5", "num:12.5"),
    ("1e5", "num:1e5"),
    ("1e5x", "num:1 sym:e num:5 sym:x"),
    ("1.5.2", "num:1.5 num:.2"),
    (".5", "num:.5"),
    ("2e", "num:2 sym:e"),
    ("x", "sym:x"),
    ("xy", "sym:x sym:y"),
    ("sin", "cmd:sin"),
    ("sinx", "word:sinx"),
    ("xsin", "sym:x cmd:sin"),
    ("2sin", "num:2 cmd:sin"),
    ("pi", "cmd:pi"),
    ("pix", "cmd:pi sym:x"),
    ("2pir", "num:2 cmd:pi sym:r"),
    ("asin", "cmd:arcsin"),
    ("tg", "cmd:tan"),
    ("th", "sym:t sym:h"),
    ("abc", "sym:a sym:b sym:c"),
    ("abcd", "word:abcd"),
    ("Abcd", "word:Abcd"),
    ("ABCD", "sym:A sym:B sym:C sym:D"),
    ("aBcd", "sym:a sym:B sym:c sym:d"),
    ("cm", "sym:c sym:m"),
    ("5cm", "num:5 word:cm"),
    ("5m", "num:5 sym:m"),
    ("5 in", "num:5 word:in"),
    ("(1)in", "op:( num:1 op:) word:in"),
    ("x%cm", "sym:x op:% word:cm"),
    ("5and6", "num:5 cmd:and num:6"),
    ("3orx", "num:3 cmd:or sym:x"),
    ("3orA", "num:3 cmd:or sym:A"),
    ("3orab", "num:3 word:orab"),
    ("a and b", "sym:a cmd:and sym:b"),
    ("AND", "cmd:and"),
    (r"\sin", "cmd:sin"),
    (r"\sinx", "cmd:sin sym:x"),
    (r"\pix", "cmd:pi sym:x"),
    (r"\foo", "cmd:foo"),
    (r"\alpha2", "cmd:alpha num:2"),
    (r"\vert x", "op:| sym:x"),
    (r"\Vert", "op:|"),
    (r"\left(", "op:("),
    (r"\{", r"op:\{"),
    (r"\}", r"op:\}"),
    (r"\|", r"op:\|"),
    (r"\%", "op:%"),
    (r"\#", "op:#"),
    (r"\&", "op:and"),
    ("\\\\", "op:\\\\"),
    (r"\ x", "sym:x"),
    ("**", "op:^"),
    ("2**3", "num:2 op:^ num:3"),
    ("<=", "op:<="),
    (">=", "op:>="),
    ("!=", "op:!="),
    ("==", "op:=="),
    ("=", "op:="),
    ("!", "op:!"),
    (r"\text{cm}", "word:cm"),
    (r"\text{m}", "roman:m"),
    (r"\text{x}", "roman:x"),
    (r"\text{B}", "sym:B"),
    (r"\text{sin}", "cmd:sin"),
    (r"\text{min}", "cmd:min"),
    (r"5\text{min}", "num:5 word:min"),
    (r"\pi\text{ min}", "cmd:pi word:min"),
    (r"x/\text{sec}", "sym:x op:/ word:sec"),
    (r"\text{min}(1,2)", "cmd:min op:( num:1 op:, num:2 op:)"),
    (r"\text{2 apples}", "num:2 word:apples"),
    (r"\text{and}", "cmd:and"),
    (r"\text{a and b}", "roman:a cmd:and roman:b"),
    (r"\text{x or y}", "sym:x cmd:or sym:y"),
    (r"\mathrm{e}", "sym:e"),
    (r"\mathrm{d}x", "sym:d sym:x"),
    (r"\mathbf{v}", "sym:v"),
    (r"\textbf{c}", "sym:c"),
    (r"\mathrm{12}", "num:12"),
    (r"\operatorname{foo}", "cmd:foo"),
    (r"\operatorname{cis}", "cmd:cis"),
    (r"\text x", "roman:x"),
    (r"\text", ""),
    (r"\text{a", "roman:a"),
    (r"\mathbb{R}", "cmd:mathbb op:{ sym:R op:}"),
    (r"\text{it's}", "word:it's"),
    (r"\text{p.m.}", "word:p.m"),
    (r"\mathcal{A}", "op:{ sym:A op:}"),
    ("lncosx", "word:lncosx"),
    ("logx", "word:logx"),
    ("lnx", "sym:l sym:n sym:x"),
    ("sqrtx", "word:sqrtx"),
    ("xsqrt", "sym:x cmd:sqrt"),
    ("abln", "sym:a sym:b cmd:ln"),
    ("inf", "cmd:inf"),
    ("infinity", "cmd:infinity"),
    ("mod", "cmd:plain mod"),
    ("union", "cmd:union"),
    ("GCD", "cmd:gcd"),
    ("root", "word:root"),
    ("bar", "cmd:bar"),
    (r"x\cdoty", "sym:x cmd:cdot sym:y"),
    (r"\cdotx", "cmd:cdot sym:x"),
    (r"\leqx", "cmd:leq sym:x"),
    (r"\timesx", "cmd:times sym:x"),
]


@pytest.mark.parametrize(("text", "tokens"), TOKENS)
def test_text_becomes_tokens(text: str, tokens: str) -> None:
    assert " ".join(f"{kind}:{value}" for kind, value in tokenize(text)) == tokens


def test_signs_that_are_no_notation_cannot_be_read() -> None:
    with pytest.raises(Unreadable, match="cannot read '#'"):
        tokenize("5#")


def test_the_number_of_tokens_is_bounded() -> None:
    assert len(tokenize("+" * MAX_TOKENS)) == MAX_TOKENS == 1200
    with pytest.raises(OverBudget, match="more than 1200 tokens"):
        tokenize("+" * (MAX_TOKENS + 1))
