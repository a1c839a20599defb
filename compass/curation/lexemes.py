r"""The signs of a problem's text that can mean something, one after the other: words, numbers, commands, operators, braces.

What vanishes here is typesetting alone: case, white space, punctuation, `$`, `\left`, `\,`, font commands and
environments such as `aligned`. What stays is spelt in one way: `\dfrac` is `frac`, `×` is `*`, `≠` and `\neq` are `!=`,
`1\,000` is `1000`, `two` is `2`, `x²` is `x^2`, `\pmod` is `mod`, and letters in a product (`j x`, `d\,x`) are `jx`, `dx`.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_GREEK = "αβγδεζηθικλμνξπρστυφχψωΔΣΩΓΛΠΦΨ"
_GREEK_NAMES = """
    alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega
    delta sigma omega gamma lambda pi phi psi
"""
_UNICODE = {
    **dict.fromkeys("−–—‐‑‒", "-"),
    **dict.fromkeys("×·⋅∙", r"\cdot "),
    **dict.fromkeys("‘’ʼ′", "'"),
    **dict.fromkeys("⋯…", " "),
    "÷": r"\div ",
    "±": r"\pm ",
    "≤": r"\le ",
    "⩽": r"\le ",
    "≥": r"\ge ",
    "⩾": r"\ge ",
    "≠": "!=",
    "≡": r"\equiv ",
    "≈": r"\approx ",
    "√": r"\sqrt ",
    "∑": r"\sum ",
    "∏": r"\prod ",
    "∫": r"\int ",
    "∂": r"\partial ",
    "∞": r"\infty ",
    "°": r"^\circ ",
    "∠": r"\angle ",
    "△": r"\triangle ",
    "→": r"\to ",
    "∪": r"\cup ",
    "∩": r"\cap ",
    "∈": r"\in ",
    "∉": r"\notin ",
    "⊂": r"\subset ",
    "⊆": r"\subseteq ",
    "∅": r"\emptyset ",
    "⌊": r"\lfloor ",
    "⌋": r"\rfloor ",
    "⌈": r"\lceil ",
    "⌉": r"\rceil ",
    **{letter: f"\\{name} " for letter, name in zip(_GREEK, _GREEK_NAMES.split(), strict=True)},
}
_TRANSLATION = str.maketrans(_UNICODE)
_SUPERSCRIPT = re.compile("[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹ⁿ]+")

# Kept as text, one word after the other: a list of quoted words takes a line each.
_WITHOUT_MEANING = """
    left right big bigl bigr bigg biggl biggr bigm text textbf textit textrm textup mbox hbox mathrm mathbf mathit
    mathsf mathbb mathcal boldsymbol bm operatorname displaystyle textstyle scriptstyle limits nolimits quad qquad
    rm bf it emph underline ldots cdots dots dotsc dotsb dotsm dotso vdots hspace vspace noindent hfill newline par
    middle mathop mathrel mathbin mathord hskip kern tag label nonumber enspace thinspace colon
"""
_COMMANDS_WITHOUT_MEANING = frozenset(_WITHOUT_MEANING.split())
_COMMANDS = {
    **dict.fromkeys(("cdot", "times", "ast"), "*"),
    **dict.fromkeys(("le", "leq", "leqslant", "leqq", "lt"), "<"),
    **dict.fromkeys(("ge", "geq", "geqslant", "geqq", "gt"), ">"),
    **dict.fromkeys(("mid", "vert", "lvert", "rvert"), "|"),
    **dict.fromkeys(("ne", "neq"), "! ="),
    **dict.fromkeys(("pmod", "bmod"), "mod"),
    "div": "/",
    "lbrace": "{",
    "rbrace": "}",
    "lbrack": "[",
    "rbrack": "]",
    "rightarrow": "to",
    "degree": "^ circ",
    "varepsilon": "epsilon",
    "varphi": "phi",
    "vartheta": "theta",
    "varrho": "rho",
}
"""Commands that are spelt as other tokens, which blanks part."""

_NUMBER_WORDS = """
    two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
    nineteen twenty
"""
_TENS = """thirty forty fifty sixty seventy eighty ninety"""
_NUMBERS = {
    **{word: str(number) for number, word in enumerate(_NUMBER_WORDS.split(), start=2)},
    **{word: f"{tens}0" for tens, word in enumerate(_TENS.split(), start=3)},
}
_WORDS = {**_NUMBERS, "modulo": "mod"}
_ESCAPED_OPERATORS = frozenset("{}|%")
_DIGITS = frozenset("0123456789")

# Text is lower case here. Letters up to U+07FF make words (Latin, Greek, Cyrillic, Hebrew, Arabic); of the alphabets
# beyond, Chinese above all, each character is a word. Punctuation (U+2000, U+3000) and all other signs are no tokens.
# Single letters that only white space parts are a product; "a" is one only where it cannot be the article.
_LEXEME = re.compile(
    r"""
      [a-z\u0080-\u07ff]{3,}                                     # most of a text; first, so that nothing else is tried on it
    | \\(?:[dtc]?frac|[dt]?binom)(?![a-z])(?:[ ]*[0-9]{1,2})?    # \frac12: an argument is one digit
    | \\(?:begin|end)[ ]*\{(?:align|aligned|equation|gather|gathered|split|center|math|displaymath|multline)\*?\}
    | \\[a-z]+
    | \\[{}|%]
    | \\.                                                        # spacing, such as \,
    | (?=[a-z]{1,2}[\s~\\]) (?<!['_^])                           # j x, d x
      (?: d(?!o)[a-z] | [b-z] | (?:(?<=[$({\[=+*/^_|<>0-9-]) | (?<=[$({\[=+*/^_|<>0-9-][ ])
                                 | (?=a\\[,;:!]) | (?=a\s[b-z][=+*/^_<>|$)}]) | (?=a\s[b-z]\s[b-z](?![a-z])))a)
      (?: (?:[\s~]|\\[,;:!\ ])+ (?:d(?!o)[a-z]|[b-z]|a(?!\s[a-z]{2})) )+ (?![a-z\u0080-\u07ff])
    | [a-z\u0080-\u07ff]+
    | [0-9](?:[0-9] | \.(?=[0-9]) | (?:,\\! | \{,\} | \\, | ,)(?=[0-9]{3}(?![0-9])))*    # 3.5  1,000  1{,}000  1\,000
    | -(?![ ]*[a-z]{2})                                          # a minus; the hyphen of a word is no token
    | _(?=[ ]*[{\\]) | (?<![_\s])_(?![_\s])                      # an index, not a blank to fill in
    | [+*/^=<>|!%()[\]{}]
    | (?<=[a-z}])'+(?![a-z])                                     # f', not the quotes and apostrophes of prose
    | [^\x00-\u07ff\u2000-\u207f\u3000-\u303f]
    """,
    re.VERBOSE | re.DOTALL,
)
_FRACTION = re.compile(r"\\[dtc]?(frac)[ ]*([0-9]*)|\\[dt]?(binom)[ ]*([0-9]*)")
_NOT_NUMBER = re.compile(r"[^0-9.]")
_NOT_LETTER = re.compile(r"\\.|[^a-z]")
_PRIME = re.compile(r"\^\s*(?:\\prime|\{((?:\s*\\prime)+)\s*\})")
_UPRIGHT_D = re.compile(r"\\(?:mathrm|text|rm|mathit|operatorname)\s*\{\s*d\s*\}\s*(?=[a-z])")
# An arrow over a letter and a bold letter are two ways to print one vector; over two letters it is not their segment.
_VECTOR = re.compile(
    r"\\vec\s*(?:\{\s*((?:\\[a-z]+|[a-z])(?:_(?:\w|\{\w+\}))?)\s*\}|((?<!\s)\s[a-z]|\\[a-z]+)(?![a-z]))"
)
_WIKI_LINK = re.compile(r"\[\[(?:[^\[\]|]*\|)?([a-z][^\[\]|,]*)\]\]")


def lexemes(text: str) -> list[str]:
    """The signs of a text in order, as they stand in it in lower case; `read` says what each means."""
    return _LEXEME.findall(_plain(text))


@lru_cache(maxsize=1 << 16)
def read(lexeme: str) -> tuple[str, ...]:
    """The tokens that a lexeme stands for; none of spacing, fonts and layout."""
    if lexeme[0] in _DIGITS:
        return (_NOT_NUMBER.sub("", lexeme),)
    if lexeme[0] == "'":
        return tuple(lexeme)
    if lexeme[0] != "\\":
        word = _NOT_LETTER.sub("", lexeme) if is_word(lexeme) and lexeme.isascii() else lexeme
        return (_WORDS.get(word, word),)
    if fraction := _FRACTION.fullmatch(lexeme):
        name, arguments = (group for group in fraction.groups() if group is not None)
        return (name, *arguments)
    name = lexeme[1:]
    is_name = "a" <= name[0] <= "z" and name.isalpha()
    if name in _COMMANDS_WITHOUT_MEANING or not (is_name or name in _ESCAPED_OPERATORS):
        return ()
    return tuple(_COMMANDS.get(name, name).split())


def is_word(lexeme: str) -> bool:
    """Whether a lexeme is a word of two letters or more."""
    return len(lexeme) > 1 and lexeme[0] not in "\\'" and lexeme[0] not in _DIGITS


def _plain(text: str) -> str:
    """Lower case; other alphabets' digits, forms and symbols made plain."""
    if not text.isascii():
        text = _SUPERSCRIPT.sub(_exponent, text).translate(_TRANSLATION)
        text = unicodedata.normalize("NFKC", text).translate(_TRANSLATION)
    text = text.lower()
    if "\\prime" in text:
        text = _PRIME.sub(lambda match: "'" * max(1, (match[1] or "").count("p")), text)
    if "{d}" in text:
        text = _UPRIGHT_D.sub("d", text)
    if "\\vec" in text:
        text = _VECTOR.sub(lambda match: rf"\mathbf{{{(match[1] or match[2]).strip()}}}", text)
    return _WIKI_LINK.sub(r"\1", text) if "[[" in text else text


def _exponent(match: re.Match[str]) -> str:
    return f"^{{{unicodedata.normalize('NFKC', match[0])}}}"
