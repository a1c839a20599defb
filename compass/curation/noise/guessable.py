"""Answers that a guess gets right: one of several options, true or false, yes or no, and golds that are an option's letter.

Options are several marks in the order of the alphabet, parallel, none of which asks for something, and there is a choice: the gold is
one of them, or what comes before asks. A choice among numbered statements ("which is correct: ① … ② …") counts as well.
A letter that the text uses as a name ("players A, B and C … who wins?") and asks for is an answer.
"""

from __future__ import annotations

import re

from compass.curation.noise.finding import Finding, Strength, found
from compass.curation.noise.text import ASK, holds_any, sentences, without_figures
from compass.settings import Denoise
from compass.settings.denoise import NoiseReason
from compass.sources.printed_options import Options, list_options

_CHOICE = re.compile(
    r"\bwhich\b|\b(?:choose|select|pick|correct|following)\b|[?:：_]\s*\W*$|\b(?:is|are|equals?|be|was|by|of|to|as|has|have|in|from|for|than|nearest|at|than)\W*$|[（(]\s*(?:\\q?quad|\s)*[)）]\W*$|=\W*$",
    re.I,
)
_CONDITIONS = re.compile(
    r"\b(?:satisf\w*|conditions?|propert\w*|such that|rules?|requirements?|hold|holds|facts?|axioms?|defined|given that|information|clues?|steps?)\b",
    re.I,
)
_LETTER_OF_OPTION_ASKED = re.compile(
    r"(?:enter|choose|select|write) (?:the|all) (?:correct )?letters?\b|select the correct|letters? of the correct",
    re.I,
)
_GOLD_MARKED = re.compile(
    r"\\text(?:bf)?\{\s*\(?[A-E]\s*[).:]|\\textbf\{\s*[A-E]\s*\}|^\s*\(?[A-E]\)\s?\S|^\s*[A-E]\.\s|The correct (?:answer|option)"
)
_ONE_LETTER = re.compile(
    r"\s*\$?(?:\\(?:text|textbf|mathrm|mathbf|boxed)\s*\{)?\s*\(?[A-Ha-h]{1,4}\)?(?:[\s.)}$]|\\\\|\\noindent)*"
)
_DEMANDS = re.compile(
    r"(?:^|[.;:!]\s)\W*(?:find|determine|calculate|compute|evaluate|solve|simplify|prove|show that|what|how many|how much|which)\b|\?",
    re.I,
)
_SPACE = re.compile(r"[\s$]|\\[,;! ]|\\(?:text|textbf|mathrm|mathbf|left|right|displaystyle|qquad|quad)\b|[{}]|\\$")
_STATEMENTS = re.compile(r"[①②③④⑤]|(?:^|(?<=[\s$]))\(?[1-4]\)\$?|\([iIvV]+\)")
_STATEMENT_GOLD = re.compile(
    r"\s*\$?(?:\\text(?:bf)?\{)?\s*(?:[①-⑨]|\([1-6]\)|\((?:I|II|III|IV|V)\))(?:[\s,，、;]|and|\\text\{|[①-⑨]|\([1-6]\)|\((?:I|II|III|IV|V)\)|[}$\\.])*\s*"
)
_NUMBERS_GOLD = re.compile(
    r"[\s$({]*(?:\\text(?:bf)?\{\s*)?[(]?[1-6][)]?(?:\s*(?:,|and|\\text\{\s*and\s*\})\s*[(]?[1-6][)]?)*[\s)}$.]*"
)
_NUMBERS_ASKED = re.compile(
    r"correct (?:statement|proposition|conclusion|judg\w+|option|one)|(?:numbers?|serial) (?:of|you think) .{0,40}(?:correct|true)"
    r"|(?:statement|proposition|conclusion|assertion)s?\b[^.?]{0,30}\b(?:correct|true)\b|following groups|(?:statement|proposition|conclusion)s? (?:is|are|that are|number)",
    re.I,
)
_NUMBERED = re.compile(r"^\s*(?:[-*] )?\(?[1-4][.)]|\([1-4]\)", re.M)
_COUNT_ASKED = re.compile(r"\bhow many\b|\b(?:maximum|minimum|total|the) number of\b", re.I)


def multiple_choice(record: dict, settings: Denoise) -> Finding | None:
    """Printed options with a choice, a letter that is asked for, or a gold that names options or numbered statements."""
    text = without_figures(record["problem"])
    answer = record.get("answer") or ""
    doubt = None
    for options in list_options(text):
        if options and (strength := _choice(options, answer)):
            finding = _found(record, strength, "options", options.marks, options=len(options.marks))
            if strength != Strength.POSSIBLE:
                return finding
            doubt = doubt or finding
    if holds_any(text, ("etter", "orrect")) and (match := _LETTER_OF_OPTION_ASKED.search(text)):
        return found(NoiseReason.MULTIPLE_CHOICE, Strength.SURE, record, match, kind="letter asked for")
    if len(answer) < 400 and (match := _GOLD_MARKED.search(answer)):
        return found(NoiseReason.MULTIPLE_CHOICE, Strength.LIKELY, record, match, "answer", kind="gold names an option")
    if len(answer) < 80 and (match := _STATEMENT_GOLD.fullmatch(answer)) and _STATEMENTS.search(text):
        return found(
            NoiseReason.MULTIPLE_CHOICE, Strength.LIKELY, record, match, "answer", kind="gold names statements"
        )
    if _numbers_statements(text, answer) and (match := _NUMBERS_ASKED.search(text)):
        return found(NoiseReason.MULTIPLE_CHOICE, Strength.LIKELY, record, match, kind="gold numbers statements")
    return doubt


def _numbers_statements(text: str, answer: str) -> bool:
    """Whether a gold gives numbers of statements, of which the text has three, and not how many of them are true."""
    if len(answer) >= 40 or not _NUMBERS_GOLD.fullmatch(answer) or not holds_any(text, ("3.", "3)")):
        return False
    one = len(re.findall(r"\d", answer)) == 1
    return len(_NUMBERED.findall(text)) >= 3 and not (one and _COUNT_ASKED.search(text))


def _choice(options: Options, answer: str) -> Strength | None:
    """How sure it is that one of the options is to be chosen."""
    lower = not options.marks[0][0].isupper() and options.marks[0][0].lower() == options.marks[0][0]
    letter = len(answer) < 40 and bool(_ONE_LETTER.fullmatch(answer))
    if any(len(content) > 600 for content in options.contents[:-1]) or not all(c.strip() for c in options.contents):
        return None
    if letter and (not lower or ASK.search(options.stem) or ASK.search(options.contents[-1])):
        return Strength.SURE
    if ASK.search(options.contents[-1]) and not ASK.search(options.stem):  # data, and a question behind them
        return None
    asking = sum(bool(_DEMANDS.search(content)) for content in options.contents[:-1])
    if (asking >= 1 and lower) or asking >= 2:
        return None
    gold = _bare(answer)
    listed = (
        bool(gold)
        and sum(
            _bare(content).rstrip(".;,") == gold or (len(gold) > 2 and gold in _bare(content))
            for content in options.contents
        )
        == 1
    )
    tail = re.sub(r"\\begin\{[a-z]+\*?\}\s*(?:\\item\S*\s*)?$", "", options.stem.rstrip()).rstrip("$ \n\\[{(*&")
    last = (sentences(tail) or [""])[-1]
    asked = bool(_CHOICE.search(tail[-160:]) or ASK.search(last))
    conditions = bool(_CONDITIONS.search(tail[-120:] if lower else tail[-25:]))
    if len(options.marks) == 2:
        return Strength.LIKELY if listed and asked and not lower else None
    if listed and asked:
        return Strength.SURE
    if conditions and not listed:
        return None
    if lower:
        return Strength.LIKELY if listed or (asked and len(options.marks) >= 4) else None
    if asked:
        return Strength.LIKELY
    return Strength.LIKELY if listed else Strength.POSSIBLE


def _bare(text: str) -> str:
    return _SPACE.sub("", text)


def _found(record: dict, strength: Strength, kind: str, marks: list[re.Match[str]], **more: int) -> Finding:
    """A finding whose span reaches from the first mark to the last."""
    start, end = marks[0].start(), marks[-1].end()
    whole = re.compile(re.escape(record["problem"][start:end]), re.S).match(record["problem"], start)
    return found(NoiseReason.MULTIPLE_CHOICE, strength, record, whole, kind=kind, **more)


_TRUE_FALSE_GOLD = re.compile(
    r"[\s$\\({]*(?:text(?:bf)?\s*\{\s*)?(?:true|false|correct|incorrect|right|wrong|√|×|✓|✗|\\times|\\checkmark|对|错|正确|错误)[\s.})$]*",
    re.I,
)


def true_false(record: dict, settings: Denoise) -> Finding | None:
    """A gold that says whether something is true."""
    answer = record.get("answer") or ""
    if len(answer) < 40 and _TRUE_FALSE_GOLD.fullmatch(answer):
        return Finding(NoiseReason.TRUE_FALSE, Strength.LIKELY, {"answer": answer})
    return None


_WHETHER_GUARDS = ("whether", "etermine if", "ecide if", "ind out if", "nvestigate if", "heck if", "erify if", "ell if")
_CLASSES = re.compile(r"(?:[^,.?]{2,60}, ){2,}(?:and |or )[^,.?]{2,60}")
_WHETHER = re.compile(r"\b(?:determine|decide|find out|investigate|check|verify|tell) (?:whether|if)\b", re.I)
_YES_NO_GOLD = re.compile(
    r"[\s$\\({]*(?:text(?:bf)?\s*\{\s*)?(?:yes|no|possible|impossible|not possible|it is (?:im|not )?possible|cannot|can(?:'t| not)?|does not exist|exists|有|没有|是|不是|能|不能|可以|不可以)"
    r"(?:[\s.})$!]*|[,.;:]\s.*)",
    re.I | re.S,
)
_QUESTION = re.compile(
    r"(?:(?:then|so|if|in this case|and|but|now),?\s+)?(?:\([a-z0-9]\)\s*)?(?:is|are|can|could|does|do|did|will|would|was|were|has|have|must|should|may|might)\b(?! (?:you|the reader|anyone|we) )[^?]*\?\s*$",
    re.I,
)
# "which" and "when" alone may open a clause: "a power of 2 which, when written …"
_OPEN = re.compile(r"\b(?:what|how|which (?:of|one|number)|who\b.*\bwins|find|determine|calculate|compute)\b", re.I)

_FURTHER = re.compile(
    r"_{2,}|\b(?:find|determine|calculate|compute|evaluate|express|write|give|state|enter|record|what is|how many|how much)\b",
    re.I,
)


def yes_no(record: dict, settings: Denoise) -> Finding | None:
    """A gold that says yes or no, or a problem whose only question can be answered so."""
    answer = (record.get("answer") or "").rstrip()
    if _YES_NO_GOLD.fullmatch(answer[:200]):
        return Finding(NoiseReason.YES_NO, Strength.LIKELY, {"answer": answer[:80]})
    text = record["problem"]
    if (
        holds_any(text, _WHETHER_GUARDS)
        and (match := _WHETHER.search(text))
        and not _FURTHER.search(text, match.end())
        and "?" not in text
    ):
        # "Determine whether …" behind another demand asks for its reason as well.
        if _CLASSES.search(sentences(text[match.start() :])[0]):  # "… is a circle, an ellipse, a line, or empty"
            return None
        if not _FURTHER.search(_WHETHER.sub("", text)) and (not answer or not re.search(r"\d", answer)):
            return found(NoiseReason.YES_NO, Strength.LIKELY, record, match)
        return None
    if "?" not in text:
        return None
    # A question may run over displayed formulas, which `sentences` takes for sentences of their own.
    whole = text.strip()
    if text.count("?") == 1 and ". " not in text and _QUESTION.match(whole) and not _OPEN.search(whole):
        return Finding(NoiseReason.YES_NO, Strength.LIKELY, {"text": whole[:160]})
    parts = [part.strip() for part in sentences(text)]
    questions = [part for part in parts if part.endswith("?")]
    # "… at 4 P.M. should the candles be lit?": what follows an abbreviation begins no sentence.
    if (
        len(questions) != 1
        or not questions[0].lstrip("([*$ ")[:1].isupper()
        or not _QUESTION.match(questions[0])
        or _OPEN.search(questions[0])
    ):
        return None
    if any(_FURTHER.search(part) for part in parts if part is not questions[0]):
        return None
    return Finding(NoiseReason.YES_NO, Strength.LIKELY, {"text": questions[0][:160]})


_LETTER_GOLD_WRAP = r"(?:\\(?:text|textbf|mathrm|mathbf|boxed|textrm)\s*\{\s*)?"
_LETTER_GOLD_GOLD = re.compile(
    rf"\s*(?:(?i:option|choice|answer)s?:?\s*)?\$?{_LETTER_GOLD_WRAP}\(?\s*(?P<letters>[A-H]|[A-E]{{2,5}}|[a-e](?=\s*\)))\s*(?:[).]|\}}|\s)*\$?[\s.]*"
)
_LETTER_GOLD_LETTER_ASKED = re.compile(
    r"\b(?:which|what|name the|the (?:missing|next|last|first|final|middle|same|correct|\w+th)) letters?\b|\bletters? (?:that|which|stands?|represents?|comes?|is|are|should|will|in|of)\b|\broman\b|\bhexadecimal\b|\bbase (?:1[1-9]|[2-9]\d)\b|\bgrade\b|\bblood\b|\bchord\b|\bnote\b|_\{?1[1-9]\}?",
    re.I,
)
_NAME_ASKED = re.compile(r"\b(?:who|whose|whom|which|what|where|name|identify)\b", re.I)
_VALUE_ASKED = re.compile(
    r"\b(?:value|number|area|length|sum|angle|distance|measure|probability|how (?:many|much|long|far))\b", re.I
)
_ALGEBRA = re.compile(
    r"\bsimplif|\bexpress\b|\bin terms of\b|\\cup|\\cap|\\subset|\\overline|\\bar|\\neg|\\land|\\lor|\\cdot|matri|\bset\b|\bidentity\b",
    re.I,
)
_FOLLOWING = re.compile(r"\bwhich (?:one )?(?:of )?(?:the )?(?:following|these|below)\b", re.I)


def letter_gold(record: dict, settings: Denoise) -> Finding | None:
    """A gold that is one option's letter, or several, beside a text without options."""
    answer = record.get("answer") or ""
    if not 0 < len(answer) < 40 or not (match := _LETTER_GOLD_GOLD.fullmatch(answer)):
        return None
    text, letters = record["problem"], match["letters"].upper()
    if len(letters) > 1 and (list(letters) != sorted(set(letters)) or match["letters"] != letters):
        return None
    if any(list_options(text)) or _LETTER_GOLD_LETTER_ASKED.search(text):
        return None
    if len(letters) > 1 and re.search(r"\b(?:segment|side|chord|diagonal|edge|arc|line)s?\b", text, re.I):
        return None
    named = re.search(
        rf"(?<![A-Za-z\\]){letters}(?![A-Za-z'’])" if letters != "A" else r"(?<![A-Za-z\\])A(?![A-Za-z'’]| [a-z])", text
    )
    if not named or _FOLLOWING.search(text):
        return found(NoiseReason.LETTER_GOLD, Strength.SURE if not named else Strength.LIKELY, record, match, "answer")
    question = (sentences(without_figures(text)) or [text])[-1]
    if _ALGEBRA.search(text) and re.search(rf"[$\\(].*{letters}", question):
        return None
    if _NAME_ASKED.search(question) and not _VALUE_ASKED.search(question):
        return found(NoiseReason.LETTER_GOLD, Strength.POSSIBLE, record, match, "answer")
    return found(NoiseReason.LETTER_GOLD, Strength.LIKELY, record, match, "answer")
