r"""A problem as words: the one normalised form that deduplication and decontamination compare, and their n-grams.

Two texts that a reader takes for the same problem should give the same tokens, whatever their typesetting. Three steps:

1. Lexemes: what vanishes is typesetting alone: case, white space, punctuation, `$`, `\left`, `\,`, font commands and
   environments such as `aligned`. What stays is spelt in one way: `\dfrac` is `frac`, `×` is `*`, `\neq` is `≠`, `>=` is `≥`,
   `1\,000` is `1000`, `two` is `2`, `x²` is `x^2`, `\pmod` is `mod`, and letters in a product (`j x`, `d\,x`) are `jx`, `dx`.
2. Grouping: TeX groups by braces what an exam prints without them: the bar of a root, the line of a fraction, a raised
   exponent. As text without braces `\sqrt{9+16}` and `\sqrt{9}+16` would be the same words. So braces around the argument of
   such a command become brackets where they hold more than one sign: `2^{n+1}` and `2^(n+1)` are the same, `2^{3}` and `2^3`
   too. All other braces are layout.
3. Tokens: words and numbers are *words*; operators and brackets are tokens that no n-gram counts, so that `x + 1` and `x - 1`
   are near each other and still two problems.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence, Set
from functools import lru_cache
from itertools import pairwise

_GREEK = "αβγδεζηθικλμνξπρστυφχψωΔΣΩΓΛΠΦΨ"
_GREEK_NAMES = """
    alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega
    delta sigma omega gamma lambda pi phi psi
"""
_SIGNS = r"""
    ≤ ⩽ ≦ le leq leqslant leqq
    ≥ ⩾ ≧ ge geq geqslant geqq
    ≠ ne neq
    ≡ equiv
    ≈ approx thickapprox
    ≅ cong
    ∼ sim thicksim
    ≃ simeq
    ≪ ll
    ≫ gg
    ∝ propto varpropto
    ≺ prec
    ≻ succ
    ∥ parallel
    ⊥ ⟂ perp
    ⊂ subset
    ⊆ ⫅ subseteq subseteqq
    ⊊ ⫋ subsetneq subsetneqq varsubsetneq
    ⊃ supset
    ⊇ ⫆ supseteq supseteqq
    ⊋ ⫌ supsetneq supsetneqq varsupsetneq
    ∉ notin
    ∋ ni owns
    ∪ cup bigcup
    ∩ cap bigcap
    ∖ setminus smallsetminus
    ± pm
    ∓ mp
    ⊕ oplus
    ⊗ otimes
    ∧ wedge land
    ∨ vee lor
    ¬ neg lnot
    ∀ forall
    ∏ prod
    ∫ int
    ∮ oint
    ⇒ ⟹ implies
    ⇔ ⟺ iff
    < lt
    > gt
    | ∣ mid vert lvert rvert
"""
"""Relations and operators of one meaning a line: the sign that is their token, then other signs and commands for it."""
_SPELT = {other: signs[0] for signs in map(str.split, _SIGNS.strip().splitlines()) for other in signs[1:]}
_POSITIVE = _SPELT | {"=": "=", "<": "<", ">": ">", "less": "<", "gtr": ">", "mid": "∣", "in": "∈"}
_NEGATED = {
    name: sign for name, other in _POSITIVE.items() if len(sign := unicodedata.normalize("NFC", f"{other}\u0338")) == 1
}
"""The sign of `\\not` before a command or sign: `≠` for `=`."""
_SPELT |= {f"n{name}": sign for name, sign in _NEGATED.items() if name.isalpha()}
_MATH_SIGNS = frozenset(sign for sign in map(chr, range(0x80, 0x3000)) if unicodedata.category(sign) == "Sm")
_UNICODE = {
    **dict.fromkeys("−–—‐‑‒", "-"),
    **dict.fromkeys("×·⋅∙", r"\cdot "),
    **dict.fromkeys("‘’ʼ′", "'"),
    **dict.fromkeys("⋯…", " "),
    "÷": r"\div ",
    "±": r"\pm ",
    "¬": r"\neg ",
    "√": r"\sqrt ",
    "∑": r"\sum ",
    "∂": r"\partial ",
    "∞": r"\infty ",
    "°": r"^\circ ",
    "∠": r"\angle ",
    "△": r"\triangle ",
    "→": r"\to ",
    "∈": r"\in ",
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
    **_SPELT,
    **dict.fromkeys(("cdot", "times", "ast"), "*"),
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
_WORDS = {**_NUMBERS, "modulo": "mod", **{other: sign for other, sign in _SPELT.items() if not other.isalpha()}}
_ESCAPED_OPERATORS = frozenset("{}|%")
_LEXEMES_DIGITS = frozenset("0123456789")

# Text is lower case here. Letters up to U+07FF make words (Latin, Greek, Cyrillic, Hebrew, Arabic); of the alphabets
# beyond, Chinese above all, each character is a word. Punctuation (U+2000, U+3000) and all other signs are no tokens.
# Single letters that only white space parts are a product; "a" is one only where it cannot be the article.
_LEXEME = re.compile(
    r"""
    [ \n.,?:;"$]?+(                                               # one sign that begins no token: passed over at once
      [a-z\u0080-\u07ff]{3,}                                     # most of a text; first, so that nothing else is tried on it
    | \\(?:[dtc]?frac|[dt]?binom)(?![a-z])(?:[ ]*[0-9]{1,2})?    # \frac12: an argument is one digit
    | \\(?:begin|end)[ ]*\{(?:align|aligned|equation|gather|gathered|split|center|math|displaymath|multline)\*?\}
    | \\[a-z]+
    | \\[{}|%]
    | \\.                                                        # spacing, such as \,
    | (?=[a-z]{1,2}[\s~\\]) (?<!['_^])                           # j x, d x
      (?: d(?!o)[a-z] | [b-z] | (?:(?<=[$({\[=+*/^_|<>≤≥≠0-9-]) | (?<=[$({\[=+*/^_|<>≤≥≠0-9-][ ])
                                 | (?=a\\[,;:!]) | (?=a\s[b-z][=+*/^_<>≤≥≠|$)}]) | (?=a\s[b-z]\s[b-z](?![a-z])))a)
      (?: (?:[\s~]|\\[,;:!\ ])+ (?:d(?!o)[a-z]|[b-z]|a(?!\s[a-z]{2})) )+ (?![a-z\u0080-\u07ff])
    | [a-z\u0080-\u07ff]+
    | [0-9](?:[0-9] | \.(?=[0-9]) | (?:,\\! | \{,\} | \\, | ,)(?=[0-9]{3}(?![0-9])))*    # 3.5  1,000  1{,}000  1\,000
    | -(?![ ]*[a-z]{2})                                          # a minus; the hyphen of a word is no token
    | _(?=[ ]*[{\\]) | (?<![_\s])_(?![_\s])                      # an index, not a blank to fill in
    | [+*/^=<>|!%()[\]{}]
    | (?<=[a-z}])'+(?![a-z])                                     # f', not the quotes and apostrophes of prose
    | [^\x00-\u07ff\u2000-\u207f\u3000-\u303f]
    )
    """,
    re.VERBOSE | re.DOTALL,
)
_FRACTION = re.compile(r"\\[dtc]?(frac)[ ]*([0-9]*)|\\[dt]?(binom)[ ]*([0-9]*)")
_NOT_NUMBER = re.compile(r"[^0-9.]")
_NOT_LETTER = re.compile(r"\\.|[^a-z]")
_NOT = re.compile(r"\\not\s*(?:\\([a-z]+)|([=<>]))")
_DOUBLE_ARROW = re.compile(r"\\(?:R|Longr|(Left|Longleft)r)ightarrow")
_UNEQUAL = re.compile(r"(?<=\s)!=")  # "n!=6" is a factorial
_PRIME = re.compile(r"\^\s*(?:\\prime|\{((?:\s*\\prime)+)\s*\})")
_UPRIGHT_D = re.compile(r"\\(?:mathrm|text|rm|mathit|operatorname)\s*\{\s*d\s*\}\s*(?=[a-z])")
# An arrow over a letter and a bold letter are two ways to print one vector; over two letters it is not their segment.
_VECTOR = re.compile(
    r"\\vec\s*(?:\{\s*((?:\\[a-z]+|[a-z])(?:_(?:\w|\{\w+\}))?)\s*\}|((?<!\s)\s[a-z]|\\[a-z]+)(?![a-z]))"
)
_WIKI_LINK = re.compile(r"\[\[(?:[^\[\]|]*\|)?([a-z][^\[\]|,]*)\]\]")


def lexemes(text: str) -> list[str]:
    """The signs of a text in order, as they stand in it in lower case; `read` says what each means."""
    return _LEXEME.findall(_lexemes_plain(text))


@lru_cache(maxsize=1 << 16)
def read(lexeme: str) -> tuple[str, ...]:
    """The tokens that a lexeme stands for; none of spacing, fonts and layout."""
    if lexeme[0] in _LEXEMES_DIGITS:
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
    return len(lexeme) > 1 and lexeme[0] not in "\\'" and lexeme[0] not in _LEXEMES_DIGITS


def _lexemes_plain(text: str) -> str:
    """Lower case; other alphabets' digits, forms and symbols made plain."""
    if not text.isascii():
        text = _SUPERSCRIPT.sub(_exponent, text).translate(_TRANSLATION)
        text = unicodedata.normalize("NFKC", text).translate(_TRANSLATION)
    if "ightarrow" in text:
        text = _DOUBLE_ARROW.sub(lambda match: "⇔ " if match[1] else "⇒ ", text)
    text = text.lower()
    if "=" in text:
        text = _UNEQUAL.sub("≠", text.replace("<=", "≤").replace(">=", "≥"))
    if "\\not" in text:
        text = _NOT.sub(lambda match: _NEGATED.get(match[1] or match[2], match[0]) + " ", text)
    if "\\prime" in text:
        text = _PRIME.sub(lambda match: "'" * max(1, (match[1] or "").count("p")), text)
    if "{d}" in text:
        text = _UPRIGHT_D.sub("d", text)
    if "\\vec" in text:
        text = _VECTOR.sub(lambda match: rf"\mathbf{{{(match[1] or match[2]).strip()}}}", text)
    return _WIKI_LINK.sub(r"\1", text) if "[[" in text else text


def _exponent(match: re.Match[str]) -> str:
    return f"^{{{unicodedata.normalize('NFKC', match[0])}}}"


_ONE_ARGUMENT = r"^ _ \sqrt \overline \bar \hat \widehat \tilde \widetilde \vec \overrightarrow \dot \ddot"
_TWO_ARGUMENTS = r"\frac \dfrac \tfrac \cfrac \binom \dbinom \tbinom"
_ARGUMENTS = {**dict.fromkeys(_ONE_ARGUMENT.split(" "), 1), **dict.fromkeys(_TWO_ARGUMENTS.split(" "), 2)}
"""How many arguments follow a sign."""

_OPEN = {"(": ")", "[": "]"}
_WHOLE = {"frac": 3, "binom": 3, "sqrt": 2}  # tokens of one sign, as in x^{\frac12}; others are one token
_STRUCTURE = frozenset("{}_^-[]!")
_CLOSE = frozenset(_OPEN.values())
_BRACKETS = _CLOSE.union(_OPEN)
_OPEN_LEVEL = frozenset("([{")
_CLOSE_LEVEL = frozenset(")]}")
_MOST_BARS = 12
_ARITHMETIC = frozenset("+-*/^!")
_GROUPING_DIGITS = frozenset("0123456789")


class _Plain(dict[str, tuple[str, ...]]):
    """What each lexeme stands for that neither groups nor takes an argument: most of a text. Empty for any other."""

    def __missing__(self, lexeme: str) -> tuple[str, ...]:
        special = lexeme in _STRUCTURE or _awaited(lexeme)
        if len(self) >= _REMEMBERED:  # bounds memory: numbers never end
            self.clear()
        return self.setdefault(lexeme, () if special else read(lexeme))


_grouping_plain = _Plain()
_REMEMBERED = 1 << 16


def grouped(lexemes: Iterable[str]) -> list[str]:
    """The tokens of a text, braces of arguments as brackets.

    Args:
        lexemes: what `lexemes.lexemes` found.
    """
    out: list[str] = []
    braces: list[tuple[int, int]] = []  # arguments awaited before each open brace, and the tokens before it
    roots: list[int] = []  # tokens before each open \sqrt[
    before, awaited = "", 0
    for lexeme in lexemes:
        if not awaited and (stands_for := _grouping_plain[lexeme]):
            out += stands_for
            before = lexeme
        elif lexeme == "{":
            braces.append((awaited, len(out)))
            awaited = 0
        elif lexeme == "}":
            if braces:
                awaited, begin = braces.pop()
                if awaited:
                    awaited -= 1
                    _bracket(out, begin)
        elif lexeme == "_":
            awaited = 1
        elif lexeme in "-!" and is_word(before) and (lexeme == "-" or len(before) > 2):
            continue  # "the sides are - in this order -", "in lowest terms!"; "nk!" is a factorial
        elif stands_for := read(lexeme):
            if lexeme[0] == "\\" or lexeme == "^":
                awaited = _awaited(lexeme)
            elif lexeme == "[" and before == "\\sqrt":
                roots.append(len(out))
                awaited = 0
            elif lexeme == "]" and roots:
                roots.pop()
                awaited = 1
            elif awaited and lexeme != "-":
                if is_word(lexeme) and (awaited == 2 or (len(lexeme) == 2 and lexeme.isalpha())):
                    stands_for = tuple(letter for letter in lexeme if letter.isalpha())  # \frac ab, x_iy
                awaited = max(0, awaited - len(stands_for))
            out += stands_for
            before = lexeme
    return _without_brackets_of_mod(out) if "mod" in out else out


def deciding_brackets(tokens: Sequence[str]) -> dict[int, str]:
    """The brackets that make another problem of the same words, by their places: those that group an operation, and the
    ends of intervals. Brackets of calls, pairs and remarks decide nothing.
    """
    found: dict[int, str] = {}
    opened: list[int] = []
    for place in [place for place, token in enumerate(tokens) if token in _BRACKETS]:
        token = tokens[place]
        if token in _OPEN:
            opened.append(place)
        elif opened:
            begin = opened.pop()
            inside = tokens[begin + 1 : place]
            if _groups(tokens, begin, place, inside):
                found[begin], found[place] = "(", ")"
            elif _OPEN[tokens[begin]] != token or _ends_interval(tokens[begin], inside):
                found[begin], found[place] = tokens[begin], token
    return found


def deciding_bars(tokens: Sequence[str]) -> set[int]:
    """The places of bars that stand around something, as in `|x-1|+2`: where they stand decides as brackets do.

    A bar alone in its brackets is the "such that" of a set, "given", or "divides", for which others write a colon or a word;
    many bars are a table's.
    """
    if not 1 < tokens.count("|") <= _MOST_BARS:
        return set()
    found: set[int] = set()
    levels: list[list[int]] = [[]]  # bars in each open bracket
    for place, token in enumerate(tokens):
        if token == "|":
            levels[-1].append(place)
        elif token in _OPEN_LEVEL:
            levels.append([])
        elif token in _CLOSE_LEVEL and len(levels) > 1:
            found |= _in_pairs(levels.pop())
    for bars in levels:
        found |= _in_pairs(bars)
    return found


def _in_pairs(bars: list[int]) -> set[int]:
    return set() if len(bars) % 2 else set(bars)


def _awaited(lexeme: str) -> int:
    """The arguments that a command still awaits: `\\frac1` has one of its two."""
    name = lexeme.rstrip("0123456789")
    return max(0, _ARGUMENTS.get(name.rstrip(), 0) - (len(lexeme) - len(name)))


def _bracket(out: list[str], begin: int) -> None:
    """Put brackets around the tokens from `begin`, unless they are one sign or stand in brackets already."""
    size = len(out) - begin
    if (
        not size
        or size == _WHOLE.get(out[begin], 1)
        or (size == 2 and (out[begin] in "+-" or out[-1] == "'"))
        or _is_bracketed(out, begin)
    ):
        return
    out.insert(begin, "(")
    out.append(")")


def _is_bracketed(out: Sequence[str], begin: int) -> bool:
    return out[begin] == "(" and out[-1] == ")" and _closing(out, begin) == len(out) - 1


def _closing(tokens: Sequence[str], begin: int) -> int:
    """The place of the bracket that closes the one at `begin`; the number of tokens where none does."""
    depth = 0
    for place in range(begin, len(tokens)):
        depth += (tokens[place] in _OPEN) - (tokens[place] in _CLOSE)
        if not depth:
            return place
    return len(tokens)


def _without_brackets_of_mod(out: list[str]) -> list[str]:
    """`(mod 6)` without its brackets, as `\\bmod 6` stands without them."""
    dropped: set[int] = set()
    for place in range(len(out) - 1):
        if out[place] == "(" and out[place + 1] == "mod":
            dropped |= {place, _closing(out, place)}
    return [token for place, token in enumerate(out) if place not in dropped]


def _groups(tokens: Sequence[str], begin: int, end: int, inside: Sequence[str]) -> bool:
    """Whether brackets group an operation: one is in them, or acts on them as a whole."""
    if any(token in _ARITHMETIC for token in inside):
        return True
    if any(before.isalpha() and token == "(" for before, token in pairwise(inside)):
        return True  # a call in a call
    is_product = len(inside) > 1 and inside[0][0] in _GROUPING_DIGITS and inside[1].isalpha()
    acted_on = tokens[end + 1 : end + 2] in (["^"], ["!"]) or tokens[begin - 1 : begin] in (["/"], ["^"], ["sqrt"])
    return is_product or (acted_on and len("".join(inside)) > 1)


def _ends_interval(opening: str, inside: Sequence[str]) -> bool:
    return opening == "[" and 1 < len(inside) <= 4


# Words that make another problem of the same text, as a number does; the words of one line mean the same.
_DECIDING_WORDS = """
    minimum minimal minimize smallest least lowest
    maximum maximal maximize largest greatest highest
    even
    odd
    pentagon
    hexagon
    heptagon
    octagon
    nonagon
    decagon
    dodecagon
    sin sine
    cos cosine
    tan tangent
    cot cotangent
    sec secant
    csc cosecant
    arcsin
    arccos
    arctan
    third
    fourth
    fifth
    sixth
    median
    mean average
    mode
"""
_DECIDING = {
    **{word: line.split()[0] for line in _DECIDING_WORDS.strip().splitlines() for word in line.split()},
    **{sign: sign for sign in ("+", "-", "^", "!", "<", ">", *_MATH_SIGNS)},
}
OPERATORS = frozenset("+-*/^=<>≤≥≠|!%()[]{}'")
"""Tokens that are no words: no n-gram counts them."""
_BRACKETS_BARS_AND_PRIMES = frozenset("(['|")
_PROBLEM_WORDS_DIGITS = frozenset("0123456789")
_MAY_DECIDE = _PROBLEM_WORDS_DIGITS.union("()[]/'|", (word[0] for word in _DECIDING))
"""First letters of what `numbers` can hold."""


def tokens(text: str | None) -> list[str]:
    """The words, numbers, operators and brackets of a problem, in order; none of None."""
    return grouped(lexemes(text or ""))


def words(tokens: Iterable[str]) -> list[str]:
    """The words and numbers among the tokens."""
    return [token for token in tokens if token not in OPERATORS]


def numbers(tokens: Sequence[str]) -> list[str]:
    """What makes another problem of the same words, in its order: `deciding` without the places."""
    if _BRACKETS_BARS_AND_PRIMES.isdisjoint(tokens):
        return [
            _DECIDING.get(token, token) for token in tokens if token in _DECIDING or token[0] in _PROBLEM_WORDS_DIGITS
        ]
    return list(deciding(tokens).values())


def deciding(tokens: Sequence[str]) -> dict[int, str]:
    """What makes another problem of the same words, by its place: numbers, signs (`+ - ^ ! < >`, and all relations and
    operators beyond ASCII: `≤ ≠ ≡ ⊂ ∪`), brackets that group an operation
    or end an interval, bars around something, primes of functions, and words that decide as a number does (`smallest`, `odd`,
    `hexagon`, `sin`; synonyms as one word).
    """
    brackets, bars = deciding_brackets(tokens), deciding_bars(tokens)
    return {
        place: brackets.get(place) or _DECIDING.get(token, token)
        for place, token in enumerate(tokens)
        if token[0] in _MAY_DECIDE
        and (
            token in _DECIDING
            or token[0] in _PROBLEM_WORDS_DIGITS
            or place in brackets
            or place in bars
            or (token == "/" and brackets)
            or (token == "'" and len(tokens[place - 1]) == 1)
        )
    }


def ngrams(words: Sequence[str], n: int) -> list[str]:
    """The n-grams of a text, each as its words joined by blanks; a text shorter than n is one n-gram, no words are none."""
    if not words:
        return []
    return [" ".join(words[start : start + n]) for start in range(max(1, len(words) - n + 1))]


def jaccard(one: Set[str], other: Set[str]) -> float:
    """The Jaccard similarity of two sets; 0 for two empty ones."""
    union = len(one | other)
    return len(one & other) / union if union else 0.0


def similarity(one: str, other: str, n: int) -> float:
    """The Jaccard similarity of two problems' n-grams."""
    return jaccard(*(set(ngrams(words(tokens(text)), n)) for text in (one, other)))
