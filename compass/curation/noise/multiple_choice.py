"""Multiple choice: the answer can be guessed from a short list, so that a reward says little.

A choice among numbered statements ("which of the following is correct: ① … ② …") counts as well.
"""

from __future__ import annotations

import re

from compass.curation.noise.finding import Finding, Strength
from compass.curation.noise.text import ASK, excerpt, holds_any, without_figures
from compass.ledger import Reason
from compass.settings import Denoise

_WRAP = r"(?:\\?(?:t?extbf|text|mathrm|mathbf|textrm|rm|bf|mbox)\s*\{?\s*|\*\*|\\bullet\$?\s*|[-•]\s)?"
_LEAD = rf"(?:^|(?<=[\s$;,.?:：）)}}>])|(?<=quad))\$?\{{?{_WRAP}"
_MARK = {
    letter: rf"{_LEAD}(?:\(\s*{letter}\s*\)|[（]\s*{letter}\s*[）]|{letter}\s?[).．、]|{letter}[:：]|{letter}\}}?\)|\[{letter}\])"
    for letter in "ABC"
}
_OPTIONS = re.compile(rf"{_MARK['A']}.{{1,600}}?{_MARK['B']}.{{1,600}}?{_MARK['C']}", re.S | re.M)
_GUARDS = ("B)", "B.", "B:", "B、", "B．", "B）", "B：", "B }", "B}", "B ", "[B]")
_BARE = re.compile(r"^A[ \t]+\S.*\n+B[ \t]+\S.*\n+C[ \t]+\S", re.M)
_SMALL = re.compile(
    r"(?:^|(?<=[\s$]))\(?a\)(.{1,160}?)(?:^|(?<=[\s$]))\(?b\)(.{1,160}?)(?:^|(?<=[\s$]))\(?c\)(.{1,160}?)(?:^|(?<=[\s$]))\(?d\)(.{1,160})",
    re.S | re.M,
)
_LETTER_ASKED = re.compile(
    r"letters? of the correct|correct (?:option|choice|letter)|letters? (?:of|for) (?:each|all|the) .{0,40}(?:option|choice)"
    r"|(?:enter|choose|select|write) (?:the|all) (?:correct )?letters?\b|choose the correct answer|select the correct",
    re.I,
)
_GOLD_LETTER = re.compile(
    r"\s*\$?\\?(?:text|textbf|mathrm|mathbf|boxed)?\s*\{?\s*\(?[A-E]\)?[\s.,:)}$\\]*(?:$|(?<=[.):}\\]))"
)
_GOLD_MARKED = re.compile(
    r"\\text(?:bf)?\{\s*\(?[A-E]\s*[).:]|\\textbf\{\s*[A-E]\s*\}|^\s*\(?[A-E]\)\s?\S|^\s*[A-E]\.\s|The correct (?:answer|option)"
)
_EMPTY_BRACKET = re.compile(r"[（(](?:\s|\\quad|\\qquad|\$|&nbsp;|　){2,}[)）]|（\s*）|\(\s\)")
_STATEMENTS = re.compile(r"[①②③④⑤]|(?:^|(?<=[\s$]))\(?[1-4]\)\$?|\([iIvV]+\)")
_STATEMENT_GOLD = re.compile(
    r"\s*\$?(?:\\text(?:bf)?\{)?\s*(?:[①-⑨]|\([1-6]\)|\((?:I|II|III|IV|V)\))(?:[\s,，、;]|and|\\text\{|[①-⑨]|\([1-6]\)|\((?:I|II|III|IV|V)\)|[}$\\.])*\s*"
)
_NUMBERS_GOLD = re.compile(r"[\s$({]*(?:\\text(?:bf)?\{\s*)?[(]?[1-6][)]?(?:\s*(?:,|and)\s*[(]?[1-6][)]?)*[\s)}$.]*")
_NUMBERS_ASKED = re.compile(
    r"correct (?:statement|proposition|conclusion|judg\w+|option|one)|(?:numbers?|serial) (?:of|you think) .{0,40}(?:correct|true)"
    r"|following groups|(?:statement|proposition|conclusion)s? (?:is|are|that are|number)",
    re.I,
)
_NUMBERED = re.compile(r"^\s*(?:[-*] )?\(?[1-4][.)]|\([1-4]\)", re.M)


def multiple_choice(record: dict, settings: Denoise) -> Finding | None:
    """Lettered options, a letter that is asked for, or a gold that names options or numbered statements."""
    text = without_figures(record["problem"])
    answer = record.get("answer") or ""
    if holds_any(text, _GUARDS) and (match := _OPTIONS.search(text) or _BARE.search(text)):
        return _drop("options", text, match)
    if ("b)" in text) and (match := _SMALL.search(text)) and not any(map(ASK.search, match.groups())):
        return _drop("options", text, match)
    if match := _LETTER_ASKED.search(text):
        return _drop("letter asked for", text, match)
    if len(answer) < 400 and _GOLD_MARKED.search(answer):
        return Finding(Reason.MULTIPLE_CHOICE, Strength.LIKELY, {"kind": "gold names an option", "answer": answer[:80]})
    if len(answer) < 40 and _GOLD_LETTER.fullmatch(answer) and (match := _EMPTY_BRACKET.search(text)):
        return _drop("blank for a letter", text, match)
    if len(answer) < 80 and _STATEMENT_GOLD.fullmatch(answer) and _STATEMENTS.search(text):
        return Finding(
            Reason.MULTIPLE_CHOICE, Strength.LIKELY, {"kind": "gold names statements", "answer": answer[:80]}
        )
    if len(answer) < 40 and _NUMBERS_GOLD.fullmatch(answer) and len(_NUMBERED.findall(text)) >= 3:
        match = _NUMBERS_ASKED.search(text)
        return match and _drop("gold numbers statements", text, match)
    return None


def has_options(text: str) -> bool:
    """Whether the text prints lettered options."""
    return holds_any(text, _GUARDS) and bool(_OPTIONS.search(text) or _BARE.search(text))


def _drop(kind: str, text: str, match: re.Match[str]) -> Finding:
    return Finding(Reason.MULTIPLE_CHOICE, Strength.LIKELY, {"kind": kind, "text": excerpt(text, *match.span())})
