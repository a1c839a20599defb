"""The words of mathematical notation: functions, Greek letters, Unicode signs and their LaTeX commands."""

# ruff: noqa: SIM905 - a word list reads better as words
from __future__ import annotations

FUNCTIONS = {
    "sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "arccot", "arcsec", "arccsc",
    "sinh", "cosh", "tanh", "coth", "sech", "csch", "arsinh", "arcosh", "artanh",
    "ln", "log", "lg", "exp", "sqrt", "cbrt", "abs", "floor", "ceil", "sgn", "gamma", "zeta", "erf",
    "gcd", "lcm", "max", "min", "det", "cis", "arg", "re", "im", "deg", "dim", "ker", "conj", "binom", "perm",
}  # fmt: skip
"""Functions with a meaning; each is a node `("call", name, args)`."""

ARITY = {
    "ln": (1, 2), "log": (1, 2), "root": (2, 2), "binom": (2, 2), "mod": (2, 2), "max": (1, 200), "min": (1, 200), "gcd": (1, 200), "lcm": (1, 200),
}  # fmt: skip
"""How few and how many arguments a function with a meaning takes; one where it is not listed."""

FUNCTION_ALIASES = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "acot": "arccot", "arcctg": "arccot", "arctg": "arctan",
    "tg": "tan", "ctg": "cot", "cosec": "csc", "sen": "sin", "arcsen": "arcsin", "sh": "sinh", "ch": "cosh", "th": "tanh", "asinh": "arsinh",
    "acosh": "arcosh", "atanh": "artanh", "ceiling": "ceil", "sign": "sgn", "Re": "re", "Im": "im", "operatorname": "",
    "choose": "binom", "arcsinh": "arsinh", "arccosh": "arcosh", "arctanh": "artanh", "Gamma": "gamma",
    "GCD": "gcd", "LCM": "lcm", "root": "sqrt",
}  # fmt: skip
"""Other spellings of the functions."""

GREEK = (
    "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi omicron pi varpi rho "
    "varrho sigma varsigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
).split()
GREEK_SET = frozenset(GREEK)

GREEK_UNICODE = dict(zip("αβγδεζηθικλμνξοπρστυφχψω", (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon phi chi psi omega"
).split(), strict=True)) | dict(zip("ΓΔΘΛΞΠΣΦΨΩ", "Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega".split(), strict=True))  # fmt: skip

SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", "0123456789+-n", strict=True))
SUBSCRIPTS = dict(zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True))

FRACTIONS = {
    "½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅕": (1, 5), "⅖": (2, 5), "⅗": (3, 5), "⅘": (4, 5),
    "⅙": (1, 6), "⅚": (5, 6), "⅐": (1, 7), "⅛": (1, 8), "⅜": (3, 8), "⅝": (5, 8), "⅞": (7, 8), "⅑": (1, 9), "⅒": (1, 10),
}  # fmt: skip

SIGNS = {
    "−": "-", "–": "-", "—": "-", "‐": "-", "‑": "-", "﹣": "-", "－": "-", "×": "\\times ", "·": "\\cdot ", "⋅": "\\cdot ",
    "∙": "\\cdot ", "•": "\\cdot ", "＊": "*", "∗": "*", "÷": "/", "∕": "/", "⁄": "/", "／": "/", "±": "\\pm ", "∓": "\\mp ",
    "≤": "\\le ", "⩽": "\\le ", "≦": "\\le ", "≥": "\\ge ", "⩾": "\\ge ", "≧": "\\ge ", "≠": "\\ne ", "≈": "\\approx ",
    "≡": "\\equiv ", "∈": "\\in ", "∪": "\\cup ", "∩": "\\cap ", "∖": "\\setminus ", "∅": "\\emptyset ", "∞": "\\infty ",
    "°": "^\\circ ", "º": "^\\circ ", "∘": "\\circ ", "√": "\\sqrt ", "∛": "\\sqrt[3] ", "′": "'", "″": "''", "’": "'", "‘": "'",
    "“": '"', "”": '"', "，": ",", "、": ",", "；": ";", "：": ":", "（": "(", "）": ")", "［": "[", "］": "]", "｛": "\\{",
    "｝": "\\}", "＝": "=", "＋": "+", "％": "%", "‰": "\\text{ permille}", "。": ".", "．": ".", "＜": "<", "＞": ">", "｜": "|", "∣": "|", "‖": "\\|",
    "ℝ": "\\mathbb{R}", "ℤ": "\\mathbb{Z}", "ℕ": "\\mathbb{N}", "ℚ": "\\mathbb{Q}", "ℂ": "\\mathbb{C}", "∑": "\\sum ",
    "∏": "\\prod ", "∫": "\\int ", "…": "\\ldots ", "⋯": "\\ldots ", "⌊": "\\lfloor ", "⌋": "\\rfloor ", "⌈": "\\lceil ",
    "⌉": "\\rceil ", "⟨": "\\langle ", "⟩": "\\rangle ", "∀": "\\forall ", "∃": "\\exists ", "∧": "\\wedge ", "∨": "\\vee ", "→": "\\to ", "⇒": "\\to ",
    "π": "\\pi ", "∠": "\\angle ", "△": "\\triangle ", "\u00a0": " ", "\u2009": " ", "\u200a": " ", "\u202f": " ",
    "\u3000": " ", "\u2002": " ", "\u2003": " ", "\u2061": "", "\u2062": "", "\u200b": "", "\u200c": "", "\u200d": "",
    "\u200e": "", "\u200f": "", "\u2063": "", "\u2064": "", "\ufe0f": "", "\u2066": "", "\u2069": "", "\ufeff": "", "\u2060": "",
    "ϕ": "\\phi ", "ϵ": "\\epsilon ", "ℓ": "\\ell ", "ⅈ": "i", "ⅇ": "e", "€": "\\euro ", "£": "\\pounds ", "¥": "\\yen ", "￥": "\\yen ",
    "¢": "\\cent ", "￠": "\\cent ", "₹": "\\rupee ", "₩": "\\won ", "₽": "\\ruble ", "℃": "^\\circ C", "℉": "^\\circ F", "Ω": "\\Omega ",
    "µ": "\\mu ", "∶": ":", "\u00ad": "", "ˊ": "'",
}  # fmt: skip

RELATIONS = {
    "=": "=", "<": "<", ">": ">", "le": "<=", "leq": "<=", "leqslant": "<=", "leqq": "<=", "ge": ">=", "geq": ">=",
    "geqslant": ">=", "geqq": ">=", "ne": "!=", "neq": "!=", "lt": "<", "gt": ">", "approx": "=", "simeq": "=", "sim": "=",
    "in": "in", "equiv": "==", "<=": "<=", ">=": ">=", "!=": "!=", "==": "=", "colon=": "=", "coloneqq": "=", "doteq": "=",
    "ll": "<<", "gg": ">>", "subset": "sub", "subseteq": "sub", "mid": "mid", "parallel": "par", "perp": "perp", "cong": "=~",
    "to": "to", "rightarrow": "to", "notin": "notin", "implies": "to", "Rightarrow": "to", "propto": "prop",
}  # fmt: skip

KNOWN_COMMANDS = (
    FUNCTIONS
    | set(FUNCTION_ALIASES)
    | GREEK_SET
    | set(RELATIONS)
    | set(
        "frac sqrt cdot times div pm mp cup cap setminus emptyset varnothing infty infin lfloor rfloor lceil rceil lvert rvert "
        "vert lVert rVert Vert langle rangle lbrace rbrace lbrack rbrack lgroup rgroup lparen rparen llcorner lrcorner "
        "ulcorner urcorner binom tbinom dbinom overline bar vec hat tilde widehat widetilde underline dot ddot sum prod int "
        "iint lim mod bmod pmod text textbf textit textrm textnormal mathrm mathbf mathbb mathcal mathit mathsf operatorname "
        "mbox hbox boxed fbox begin end circ degree prime angle triangle ell hbar partial nabla ldots dots cdots vdots quad "
        "qquad colon land lor wedge vee neg lnot star ast bullet exponentialE variable left right bigcup bigcap backslash over underbrace overbrace based "
        "oslash cfrac dfrac tfrac euro pounds yen not forall exists mathop boldsymbol bm odot oplus otimes dagger complement "
        "exists top intercal imath jmath odot sc rm cal displaystyle overrightarrow arc overarc overset underset stackrel square Box checkmark".split()
    )
)
"""Commands the lexer knows by their full name; an unknown one is split after its longest known beginning (`\\cotx`)."""
