"""Answers in words: names, choices, yes and no, "no solution"."""

# ruff: noqa: SIM905 - a word list reads better as words
from __future__ import annotations

import re

_TEXT_COMMAND = re.compile(
    r"\\(?:text|textbf|textit|textrm|textnormal|mathrm|mathbf|mbox|hbox|operatorname|emph)\s*(?=\{)"
)
_NOT_WORDS = re.compile(r"[\W_]+")
_ARTICLES = re.compile(r"\b(?:the|an?)\b(?= )", re.IGNORECASE)
_SUBJECT = re.compile(
    r"^(?:(?:it|this|that|they|there|answer)(?: (?:is|s|are|was|were|would be|will be)(?! not\b)| (?=cannot|can|does|do|has|will)))\s*(?=\w)"
)
"""How a sentence that gives an answer begins: "it is Thursday"."""
_KIND = re.compile(
    r"(?:(?:any|every|all|each) )?(odd|even|prime|composite)(?: (?:whole )?(?:numbers?|integers?)(?: of [a-z]+)?)?"
)
KINDS = frozenset(["odd", "even", "prime", "composite"])
"""Kinds of whole numbers, which may be named in full."""
_SAID = re.compile(r"(?:(?:The|This|That|Its|A|An)\s|[A-Z]\w+\s).{0,200}?\s?(?:is|are)\s((?:[A-Za-z]+\s?){1,4})\.?")
_UNSAID = re.compile(
    r"\b(?:is|are)\b.*\b(?:is|are)\b|\b(?:not?|never|neither|if|whether|that|which|false|untrue|or|than|only|when|unless)\b|n't",
    re.IGNORECASE,
)
_INITIAL = re.compile(r"(?<=\w )A\b(?! [a-z])")
"""A capital that is a name, as in "Team A"."""
_BEFORE_A_DAY = re.compile(
    r"^(?:on|in) (?=(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:january|february|march|april|may|june|july|august|september|october|november|december)\b)"
)
_CHOICE = re.compile(r"\(?\s*([A-Z])\s*\)?\.?")
_WRAPPED_CHOICE = re.compile(r"\(\s*([A-Ha-h])\s*\)\.?|([A-H])\)?\.?|([a-h])\)")
_EXCLUDED = re.compile(r"(?<=[A-H])[)\s.,;。，]*(?:(?:而?不是)|(?:,|\s)(?:and\s)?not)\s?\(?[A-H]\)?\.?$")
"""What follows a choice and rules out another: "B, not A"."""
_SPELLED = re.compile(r"[A-Za-z](?: [A-Za-z]){2,}")

_SAME = {
    "no solution": "no solutions;there is no solution;there are no solutions;no solution exists;no solutions exist;none exist;"
    "has no solution;no real solution;no real solutions;there are no real solutions;there is no real solution;"
    "there are no such numbers;no such numbers exist;no solution set;does not have solution;none;empty set;emptyset;varnothing;oslash;empty",
    "does not exist": "dne;doesn t exist;do not exist;it does not exist;limit does not exist;not exist",
    "infinitely many": "infinitely many solutions;infinite number of solutions;infinite;infinite solutions;infinitely many;"
    "there are infinitely many solutions;infinite many;infinite many solutions;infinitely many pairs",
    "none of above": "none of these;none of them",
    "yes": "yes it is;yes it does;yes they are", "no": "no it is not;no it does not;no they are not",
    "all real numbers": "all reals;all real x;for all real numbers;any real number;all real numbers x;real numbers;every real number;mathbb r;all of mathbb r;set of real numbers;set of all real numbers",
    "converges": "convergent;converge;it converges;series converges", "diverges": "divergent;diverge;it diverges;series diverges",
    "true": "it is true", "false": "it is false", "undefined": "is undefined;not defined;undefined expression",
    **{f"{day}day": short for day, short in (("mon", "mon"), ("tues", "tue;tues"), ("wednes", "wed"), ("thurs", "thu;thur;thurs"), ("fri", "fri"))},
    "impossible": "it is impossible;not possible",
}  # fmt: skip
SYNONYMS = {other: name for name, others in _SAME.items() for other in (name, *others.split(";"))}


_FORMULA = re.compile(r"[\^=<>+*|\[\]&#]|\\(?!text|math|mbox|hbox|operatorname|emph)[A-Za-z{]")


def is_formula(text: str) -> bool:
    """Whether normalised text holds signs that no choice, time, date or prose has: a cheap look before the others."""
    return _FORMULA.search(text) is not None


def wording(text: str) -> str:
    """The words of an answer: lower case, no LaTeX, punctuation or articles; synonyms made one."""
    plain = _TEXT_COMMAND.sub("", text).replace("{", " ").replace("}", " ").replace("\\", " ")
    plain = _NOT_WORDS.sub(" ", plain).strip()
    if " " in plain:
        if " A" in plain:
            plain = _INITIAL.sub("a_", plain)
        plain = plain.lower()
        plain = _BEFORE_A_DAY.sub("", " ".join(_ARTICLES.sub(" ", plain).split()) or plain)
    else:
        plain = plain.lower()
    plain = plain.removesuffix(" only")
    known = SYNONYMS.get(plain)
    if known is None:
        plain = _SUBJECT.sub("", plain)
    return known or SYNONYMS.get(plain, plain)


def kind(text: str) -> str:
    """The words of an answer; of one that names a kind of whole numbers, "any odd number of players", the kind alone."""
    words = wording(text)
    match = _KIND.fullmatch(words)
    return words if match is None else match[1]


def said(text: str) -> str | None:
    """What a sentence says of its subject, "the function $f$ is odd": the words after its only verb; None for anything else."""
    match = _SAID.fullmatch(text)
    return None if match is None or _UNSAID.search(text) else wording(match[1])


def choice(text: str) -> str | None:
    """The letter of a multiple-choice answer: `(B)`, `\\text{B}`, `B.`, `b)`; None for anything else."""
    plain = _TEXT_COMMAND.sub("", text).replace("{", "").replace("}", "").strip()
    if len(plain) > 3:
        plain = _EXCLUDED.sub("", plain)
    match = _WRAPPED_CHOICE.fullmatch(plain)
    return None if match is None else (match.group(1) or match.group(2) or match.group(3)).upper()


def is_spelled(text: str) -> bool:
    """Whether text is single letters with spaces between them, in an order that says something: `b a d c`."""
    return _SPELLED.fullmatch(text) is not None


_PROSE = re.compile(r"[^\W\d_]{2,}")
_MATHEMATICAL = frozenset(
    "pi sqrt sin cos tan cot sec csc log ln exp frac cdot times pm le ge leq geq infty cup cap or and inf mod gcd lcm".split()
)


def is_prose(text: str) -> bool:
    """Whether normalised text is words and punctuation alone, with at least one real word."""
    plain = _TEXT_COMMAND.sub("", text).replace("{", " ").replace("}", " ")
    if any(sign in plain for sign in "\\^_=<>+*/|[]&#") or plain.startswith("-"):
        return False
    words = _PROSE.findall(plain)
    return (
        bool(words)
        and any(len(word) > 2 and word.lower() not in _MATHEMATICAL for word in words)
        and not re.search(r"\d", plain)
    )


def is_sentence(text: str) -> bool:
    """Whether text that is no expression is a sentence: at least four words, numbers among them or not."""
    return (
        len([word for word in _PROSE.findall(_TEXT_COMMAND.sub("", text)) if len(word) > 2]) >= 4 and "\\" not in text
    )
