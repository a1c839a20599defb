"""LaTeX and plain-text mathematics as a list of tokens.

A token is a pair `(kind, value)`: `num` digits, `sym` a variable, `cmd` a command or known name without its backslash,
`word` prose, `op` one sign. Bounded by `MAX_TOKENS`.
"""

# ruff: noqa: SIM905 - a word list reads better as words
from __future__ import annotations

import re

from compass.braces import closing_brace
from compass.verifier.reading.units import (
    CURRENCY_WORDS,
    PLAIN_SYMBOLS,
    POWER_WORDS,
    UNIT_WORDS,
    UPRIGHT_LETTERS,
    conversion_factor,
    find_unit,
)
from compass.verifier.reading.vocabulary import FUNCTION_ALIASES, FUNCTIONS, GREEK_SET, KNOWN_COMMANDS
from compass.verifier.tree import OverBudget, Unreadable

MAX_TOKENS = 1200

Token = tuple[str, str]

SPACED_COMMA: Token = ("op", ", ".strip())  # made at run time: the compiler would merge equal constants
"""A comma before a space and three digits: equal to any other comma, recognised by identity, because it never groups thousands."""

_TOKEN = re.compile(
    r"\s+"
    r"|(?P<gap>,)\s"
    r"|(?P<num>\d+\.\d+[eE][+-]?\d+|\d+(?:\.\d+)?(?:[eE][+-]?\d+(?![\d.]*[a-zA-Z]))?|\.\d+(?:[eE][+-]?\d+)?)"
    r"|\\(?P<cmd>[A-Za-z]+|[{}|%$&# \\])"
    r"|(?P<run>[A-Za-z]+)"
    r"|(?P<rel><=|>=|!=|==)"
    r"|(?P<op>\*\*|[-+*/^_(){}\[\]|,;:=<>!%&'.~?\"@])"
)
_TEXT_COMMANDS = frozenset(
    "text textbf textit textrm textnormal mbox hbox mathrm mathbf mathsf mathit operatorname".split()
)
_UPRIGHT = frozenset("mathrm text textrm textnormal mbox".split())
_UNIT_PART = re.compile(r"(?<!\\)([A-Za-zμ]+)|(?:\\[a-z]+|[^A-Za-zμ\\])+")
_UNITS = re.compile(r"(?:[A-Za-zμ]|\\(?:cdot|times|mu|Omega)(?![a-z])|[-/^*(){}\s\d])+")
_SPACED_UNIT = re.compile(
    r"(?:[A-Za-z](?:_\{?\w{1,9}\}?)? ?= ?)?-?[\d.,]+(?:[eE][+-]?\d+)?(?:\\(?:times|cdot) ?10\^(?:\d|\{-?\d+\}))? (?P<unit>[A-Za-z]{1,3}(?:\^(?:\d|\{-?\d\}))?(?:/[A-Za-z]{1,3}(?:\^(?:\d|\{-?\d\}))?)?)"
)
"""A number, a space and a unit in plain letters, as the whole text, the number perhaps named: `5 m`, `g = 9.8 m/s^2`."""
_TWO_UNITS = re.compile(r"(\d+) ?([A-Za-z]{1,3}) ?(?:and )?(\d+(?:\.\d+)?) ?([A-Za-z]{1,3})")
"""A measure in two units in plain letters, as the whole text: `4 h 30 min`, `5 ft 8 in`."""
_HYPHEN = re.compile(r"(?<=[A-Za-z]{3})-(?=[A-Za-z]{3})")
"""The hyphen of `kilowatt-hours`."""
_STYLE = frozenset("boldsymbol bm mathcal displaystyle rm cal left right mathop sc".split())
_JOINERS = frozenset(["and", "or"])
_PLAIN_NAMES = (
    FUNCTIONS
    | {"bar", "vec", "hat", "tilde", "overline", "pi", "infinity", "inf", "infty", "mod", "sqrt", "cup", "union", "pm"}
    | GREEK_SET
    | _JOINERS
)
_SUFFIX_ALIASES = set(FUNCTION_ALIASES) - {
    "th",
    "ch",
    "sh",
    "root",
    "sign",
    "operatorname",
    "Gamma",
    "choose",
    "Re",
    "Im",
}


_PARTS_OF_NUMBERS = frozenset(["re", "im"])
"""Functions whose names are letters before a power: `re^{i\\theta}` is `r e^{i\\theta}`."""

PLAIN_MOD = "plain mod"
"""The command that "mod" in plain text stands for."""


def tokenize(text: str) -> list[Token]:
    """Split normalised text into tokens.

    Raises:
        Unreadable: a character that is no notation.
        OverBudget: more than `MAX_TOKENS` tokens.
    """
    tokens: list[Token] = []
    position, end = 0, len(text)
    match_at = _TOKEN.match
    spaced = _SPACED_UNIT.fullmatch(text) if " " in text else None
    if spaced is not None and _is_unit(spaced["unit"]):
        return [*tokenize(text[: spaced.start("unit") - 1]), *_unit_tokens(spaced["unit"])]
    double = _TWO_UNITS.fullmatch(text) if spaced is None and text[-1:].isalpha() else None
    if double is not None and _is_smaller_unit(double[4], double[2]):
        return [("num", double[1]), *_unit_tokens(double[2]), ("num", double[3]), *_unit_tokens(double[4])]
    while position < end:
        match = match_at(text, position)
        if match is None:
            raise Unreadable(f"cannot read {text[position]!r}")
        position = match.end()
        kind = match.lastgroup
        if kind is None:
            continue
        value = match.group(kind)
        if kind == "num":
            tokens.append(("num", value))
        elif kind == "run":
            if value in _PARTS_OF_NUMBERS and text.startswith("^", position):
                tokens.extend(("sym", letter) for letter in value)
                continue
            is_apart = text[match.start() - 1 : match.start()] == " " and not _ends_with_letter(tokens)
            _letters(value, tokens, is_apart)
        elif kind == "cmd":
            position = _command(text, position, value, tokens)
        elif kind == "gap":
            tokens.append(SPACED_COMMA)
        else:
            tokens.append(("op", "^" if value == "**" else value))
        if len(tokens) > MAX_TOKENS:
            raise OverBudget(f"more than {MAX_TOKENS} tokens")
    return tokens


def _command(text: str, position: int, name: str, tokens: list[Token]) -> int:
    """Append the command's tokens and return where to read on."""
    if name in _TEXT_COMMANDS:
        return _text(text, position, name, tokens)
    if name in ("vert", "Vert"):
        tokens.append(("op", "|"))
        return position
    if name in _STYLE or name == " ":
        return position
    if len(name) == 1 and not name.isalpha():
        tokens.append(
            ("op", {"{": "\\{", "}": "\\}", "|": "\\|", "\\": "\\\\", "%": "%", "#": "#", "&": "and"}.get(name, name))
        )
        return position
    if name not in KNOWN_COMMANDS:
        for length in range(len(name) - 1, 1, -1):
            if name[:length] in KNOWN_COMMANDS:
                _command(text, position, name[:length], tokens)
                _letters(name[length:], tokens)
                return position
    tokens.append(("cmd", name))
    return position


def _text(text: str, position: int, name: str, tokens: list[Token]) -> int:
    """Read the argument of `\\text{...}` and its kin as prose; digits inside stay numbers."""
    while position < len(text) and text[position] == " ":
        position += 1
    if position >= len(text):
        return position
    if text[position] != "{":
        content, position = text[position], position + 1
    else:
        end = closing_brace(text, position)
        content = text[position + 1 :] if end is None else text[position + 1 : end - 1]
        position = len(text) if end is None else end
    stripped = content.strip()
    if (
        stripped in ("min", "sec", "deg")
        and tokens
        and (tokens[-1][0] == "num" or tokens[-1][1] in ("/", ")", "}", "pi"))
    ):
        tokens.append(("word", stripped))
    elif stripped in FUNCTIONS or stripped in FUNCTION_ALIASES:
        tokens.append(("cmd", stripped))
    elif re.fullmatch(r"[a-zA-Z]", stripped):
        # \mathrm{e}, \mathrm{i} are constants, \mathrm{m} is a unit; \text{B} a name or a choice
        bold = name in ("mathbf", "mathit", "textbf", "textit")
        unit = stripped in UPRIGHT_LETTERS and not bold and _after_number(tokens)
        tokens.append(
            ("roman" if unit or (stripped.islower() and stripped not in "eid" and not bold) else "sym", stripped)
        )
    elif name == "operatorname" and stripped.isalpha():
        tokens.append(("cmd", stripped))
    elif name in _UPRIGHT and _after_number(tokens) and _is_unit(stripped):
        tokens.extend(_unit_tokens(stripped))
    elif name in ("mathbf", "mathit", "mathrm") and not stripped.isalpha():
        tokens.extend(tokenize(stripped))
    else:
        _prose(content, tokens)
    return position


def _after_number(tokens: list[Token]) -> bool:
    """Whether the tokens end with a number, a bracket or a unit, after which upright letters name a unit."""
    if not tokens:
        return False
    kind, value = tokens[-1]
    if value in ("/", "cdot", "*") and len(tokens) > 1:
        return tokens[-2][0] in ("word", "roman")
    return kind in ("num", "word", "roman") or value in (")", "}", "]", "pi")


def _is_unit(text: str) -> bool:
    """Whether upright text is units and the signs between them alone: `kg\\cdot m/s^2`."""
    return _UNITS.fullmatch(text) is not None and all(
        find_unit(part[1]) is not None for part in _UNIT_PART.finditer(text) if part[1]
    )


def _is_smaller_unit(text: str, other: str) -> bool:
    """Whether two texts are units of one quantity, the first the smaller: minutes of hours."""
    one, two = find_unit(text), find_unit(other)
    factor = conversion_factor(two, one) if one is not None and two is not None else None
    return factor is not None and factor > 1


def _unit_tokens(text: str) -> list[Token]:
    tokens: list[Token] = []
    for part in _UNIT_PART.finditer(_HYPHEN.sub(" ", text)):
        word = part[1]
        tokens.extend([("roman" if len(word) == 1 else "word", word)] if word else tokenize(part[0]))
    return tokens


def _prose(content: str, tokens: list[Token]) -> None:
    for part in re.finditer(r"(?P<word>[A-Za-z][A-Za-z.\-']*)|(?P<math>(?:\\[A-Za-z]+|[^A-Za-z])+)", content):
        if part.lastgroup == "word":
            word = part.group().strip(".'-")
            lower = word.lower()
            if lower in _JOINERS:
                tokens.append(("cmd", lower))
            elif len(word) == 1:
                unit = word in UPRIGHT_LETTERS and _after_number(tokens)
                tokens.append(("sym" if (word.isupper() and not unit) or word in "xyzn" else "roman", word))
            else:
                tokens.append(("word", word))
        else:
            tokens.extend(tokenize(part.group()))


def _ends_with_letter(tokens: list[Token]) -> bool:
    """Whether the last token is a Greek letter, after which a space only ends the command."""
    return bool(tokens) and tokens[-1][0] == "cmd" and (tokens[-1][1] in GREEK_SET or tokens[-1][1] == "pi")


def _multiplies(run: str, tokens: list[Token]) -> bool:
    """Whether letters right after a value are a product of variables, `4wxyz`: each only once, which in words is rare, and no unit."""
    if not tokens or len(set(run)) < len(run) or run.lower() in UNIT_WORDS or find_unit(run) is not None:
        return False
    kind, value = tokens[-1]
    return kind in ("num", "sym") or value in (")", "}", "]", "|", "!") or _ends_with_letter(tokens)


def _goes_on_in_unit(run: str, tokens: list[Token]) -> bool:
    """Whether letters are a unit of which the first word came before: of `sq ft`, `sq. m`, `kilowatt-hours`."""
    if not tokens or find_unit(run) is None:
        return False
    before, sign = tokens[-1], ""
    if before in (("op", "."), ("op", "-")) and len(tokens) > 1:
        before, sign = tokens[-2], before[1]
    if before[0] != "word":
        return False
    if sign == "-":
        return len(run) > 2 and run.lower() in UNIT_WORDS and len(before[1]) > 2 and find_unit(before[1]) is not None
    return before[1].lower() in POWER_WORDS


def _letters(run: str, tokens: list[Token], is_apart: bool = False) -> None:
    """Split a run of plain letters: a known name, a unit after a number, prose, or a product of variables.

    `is_apart` says that a space sets the run off from what is before it.
    """
    if _goes_on_in_unit(run, tokens):
        del tokens[len(tokens) - (tokens[-1][0] == "op") :]
        tokens.append(("roman" if len(run) == 1 else "word", run))
        return
    if len(run) == 1:
        tokens.append(("sym", run))
        return
    if run in _PLAIN_NAMES:
        tokens.append(("cmd", PLAIN_MOD if run == "mod" else run))
        return
    if run in _SUFFIX_ALIASES:
        tokens.append(("cmd", FUNCTION_ALIASES[run]))
        return
    lower = run.lower()
    if lower in _JOINERS:
        tokens.append(("cmd", lower))
        return
    if lower == "to" and tokens and tokens[-1][0] == "num":
        tokens.append(("word", lower))
        return
    if lower == "of" and tokens and tokens[-1][0] == "word":
        tokens.append(("word", lower))
        return
    after_value = bool(tokens) and (tokens[-1][0] == "num" or tokens[-1][1] in (")", "}", "%", "]", "pi"))
    if (
        (lower in UNIT_WORDS and (after_value or len(run) > 2))
        or (after_value and run in PLAIN_SYMBOLS)
        or run in CURRENCY_WORDS
        or (after_value and len(run) > 2 and run[:-1].isupper() and run[-1] == "s")  # 12 DVDs
    ):
        tokens.append(("word", run))
        return
    for joiner in ("or", "and"):
        if after_value and run.startswith(joiner) and (len(run) - len(joiner) == 1 or run[len(joiner)].isupper()):
            tokens.append(("cmd", joiner))
            _letters(run[len(joiner) :], tokens)
            return
    for name in ("sqrt", "pi", "sin", "cos", "tan", "log", "ln"):
        if run.endswith(name) and len(run) - len(name) <= 2:
            _letters(run[: -len(name)], tokens)
            tokens.append(("cmd", name))
            return
        if name == "pi" and run.startswith(name) and len(run) == 3:
            tokens.append(("cmd", name))
            tokens.append(("sym", run[2:]))
            return
    is_word = len(run) >= 4 and run.isalpha() and (run[1:].islower() or run.islower())
    if is_word and (is_apart or not _multiplies(run, tokens)):
        tokens.append(("word", run))
        return
    tokens.extend(("sym", letter) for letter in run)
