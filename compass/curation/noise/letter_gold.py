"""Golds that are the letter of an option, where the text holds no options: nobody can tell what B was.

A letter that the text uses as a name ("players A, B and C … who wins?") and asks for is an answer.
"""

from __future__ import annotations

import re

from compass.curation.noise.finding import Finding, Strength, found
from compass.curation.noise.multiple_choice import has_options
from compass.curation.noise.text import sentences, without_figures
from compass.ledger import Reason
from compass.settings import Denoise

_WRAP = r"(?:\\(?:text|textbf|mathrm|mathbf|boxed|textrm)\s*\{\s*)?"
_GOLD = re.compile(
    rf"\s*(?:(?i:option|choice|answer)s?:?\s*)?\$?{_WRAP}\(?\s*(?P<letters>[A-H]|[A-E]{{2,5}}|[a-e](?=\s*\)))\s*(?:[).]|\}}|\s)*\$?[\s.]*"
)
_LETTER_ASKED = re.compile(
    r"\b(?:which|what|name the|the (?:missing|next|last|first|final|middle|same|correct|\w+th)) letters?\b|\bletters? (?:that|which|stands?|represents?|comes?|is|are|should|will|in|of)\b|\broman\b|\bhexadecimal\b|\bbase (?:1[1-9]|[2-9]\d)\b|\bgrade\b|\bblood\b|\bchord\b|\bnote\b|_\{?1[1-9]\}?",
    re.I,
)
_NAME_ASKED = re.compile(
    r"\b(?:who|whose|whom)\b|\b(?:which|what)(?! of (?:the following|these|those)\b(?! (?:cities|players|points|boxes|letters|teams|people|sets|events)))"
    r"(?:(?<=which) (?:is|are|was|one|of|has|holds?|wins?|will|does|did|must|can)\b| (?:\w+ )?(?:points?|players?|persons?|people|teams?|box(?:es)?|cit(?:y|ies)|towns?|cards?|cups?|doors?|bags?|jars?|urns?|horses?|cars?|"
    r"runners?|students?|child(?:ren)?|boys?|girls?|m[ae]n|wom[ae]n|vert(?:ex|ices)|quarters?|columns?|rows?|parts?|sectors?|zones?|curves?|graphs?|sides?|segments?|angles?|lines?|sets?|events?|matri(?:x|ces)|positions?|places?|stations?|stops?|shops?|machines?|tanks?|sheets?|groups?|"
    r"routes?|roads?|paths?|digits?|symbols?|numbers?|variables?|companies|company|plans?|factory|factories|solutions?|countr(?:y|ies)|villages?|houses?|rooms?|seats?|squares?|regions?|faces?|corners?|blocks?|tiles?|candidates?|athletes?|friends?|suspects?|islanders?)\b)"
    r"|\bwhere\b|\b(?:name|find|determine|identify) (?:of )?the (?:\w+ )?(?:point|player|person|team|box|city|card|culprit|winner|thief|liar|knight|knave|loser|vertex|letter|set)\b|\bsimplif|\bequals? to\b",
    re.I,
)
_ALGEBRA = re.compile(
    r"\bsimplif|\bexpress\b|\bin terms of\b|\\cup|\\cap|\\subset|\\overline|\\bar|\\neg|\\land|\\lor|\\cdot|matri|\bset\b|\bidentity\b",
    re.I,
)
_FOLLOWING = re.compile(r"\bwhich (?:one )?(?:of )?(?:the )?(?:following|these|below)\b", re.I)


def letter_gold(record: dict, settings: Denoise) -> Finding | None:
    """A gold that is one option's letter, or several, beside a text without options."""
    answer = record.get("answer") or ""
    if not 0 < len(answer) < 40 or not (match := _GOLD.fullmatch(answer)):
        return None
    text, letters = record["problem"], match["letters"].upper()
    if len(letters) > 1 and (list(letters) != sorted(set(letters)) or match["letters"] != letters):
        return None
    if has_options(text) or _LETTER_ASKED.search(text):
        return None
    if len(letters) > 1 and re.search(r"\b(?:segment|side|chord|diagonal|edge|arc|line)s?\b", text, re.I):
        return None
    named = re.search(
        rf"(?<![A-Za-z\\]){letters}(?![A-Za-z'’])" if letters != "A" else r"(?<![A-Za-z\\])A(?![A-Za-z'’]| [a-z])", text
    )
    if not named or _FOLLOWING.search(text):
        return found(Reason.LETTER_GOLD, Strength.SURE if not named else Strength.LIKELY, record, match, "answer")
    question = (sentences(without_figures(text)) or [text])[-1]
    if _NAME_ASKED.search(question) or (_ALGEBRA.search(text) and re.search(rf"[$\\(].*{letters}", question)):
        return None
    if re.search(r"\b(?:which|who|what) \w+", question, re.I) and not re.search(
        r"\b(?:value|number|area|length|sum|angle|distance|measure|probability|how (?:many|much|long|far))\b",
        question,
        re.I,
    ):
        return found(Reason.LETTER_GOLD, Strength.POSSIBLE, record, match, "answer")
    return found(Reason.LETTER_GOLD, Strength.LIKELY, record, match, "answer")
