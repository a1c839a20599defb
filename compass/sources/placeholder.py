"""Golds that stand for a missing answer: "notfound", "N/A", "see solution", "略", an empty box.

A word counts only as the whole gold. "None" and "no solution" are answers where a question can have none, so that machine words
for nothing count everywhere, and human ones only where a value is demanded that must exist.
"""

from __future__ import annotations

import re

_WRAPPED = re.compile(
    r"\\(?:text(?:bf|it|rm|sf)?|mathrm|mathbf|boxed|fbox|mbox|quad|qquad|displaystyle|left|right|[,;:! ()\[\]])(?![A-Za-z])|\*\*|[\s$`\"'“”‘’]"
)
_ENDS = re.compile(r"^[{(\[<]+|[})\]>.。:：!！]+$")

_NOTHING_WORDS = """
notfound noanswerfound answernotfound noanswer noanswergiven noanswerprovided noansweravailable answernotgiven
answernotprovided answernotavailable nofinalanswer notavailable notprovided notgiven notspecified notapplicable
n/a n.a #n/a nan <na> null nonetype unknown unk tobedetermined tbd tba tbc todo fixme pending placeholder missinganswer
seesolution seethesolution seesolutions seeanswer seetheanswer seeexplanation seeabove seebelow seeproof seetext
seefigure seeimage seediagram seetable seeattached seeattachment refertosolution refertothesolution
solutionbelow proof theproof proofbelow proofgiven proofomitted proven proved proofproblem qed q.e.d answer
theanswer youranswer youranswerhere finalanswer correctanswer insertanswerhere enteranswerhere ans answeromitted
omitted redacted hidden 略 答案略 解略 证明略 略解 见解析 详见解析 见详解 见解答 见答案 见证明 证明见解析 解析见 解答见 答案见解析 暂无 暂无答案 无答案 未知 未找到 没有答案 同上
нетответа доказательство verrespuesta sinrespuesta versolución voirsolution pasderéponse keineantwort
siehelösung
"""
_NOTHING = frozenset(_NOTHING_WORDS.split())
"""Whole golds, lower-case and without blanks, that say that there is no answer or where another text has it."""

_MARKS = re.compile(r"[?？_…]+|\.{2,}|[-–—]{2,}|\\(?:blacksquare|square|Box|qedsymbol|qed|ldots|dots)|[■□∎◻]")
_ONE_MARK = re.compile(r"[-–—./\\]")
_SIGN_ASKED = re.compile(
    r"\b(?:sign|signs|operators?|operations?|symbols?|characters?|replaced?|insert(?:ed)?|placed?|fill|circle|box|blank)\b|□|\\square",
    re.I,
)

_NONE = frozenset(("none", "nil", "无", "nothing"))
_CAN_BE_NONE = re.compile(
    r"\b(?:all|any|which|each|every|how (?:many|much)|who|solutions?|solve|roots?|zeros?|values?|exists?|possible|possibly|real|integers?|primes?"
    r"|domain|range|set|sets|subset|intersect\w*|asymptot\w*|satisf\w*|such that|for what|what (?:numbers?|letters?|digits?|else)|if there"
    r"|only|members?|elements?|left|remain\w*|equations?|system|inequalit\w*|statements?|true|correct|of the following|common|none)\b"
    r"|[=<>≤≥∈]|\\(?:leq?|geq?|in|cap|cup|lim)\b|[\u4e00-\u9fff]",
    re.I,
)


def is_placeholder(gold: str, problem: str = "") -> bool:
    """Whether a gold stands for a missing answer.

    Args:
        gold: the gold as published; an empty one is no placeholder but missing.
        problem: the question, which says whether "none" can be its answer.
    """
    text = gold.strip()
    if not text or len(text) > 80:
        return False
    bare = _WRAPPED.sub("", text)
    if _MARKS.fullmatch(bare):
        return True
    if _ONE_MARK.fullmatch(bare):
        return not _SIGN_ASKED.search(problem)
    word = _ENDS.sub("", bare).replace("_", "").lower()
    if not word:  # \boxed{}, $$, {}: the empty set has its braces escaped
        return (
            not re.search(r"\\[{}]|\\(?:emptyset|varnothing)", text)
            and bool(re.fullmatch(r"[{}()\[\]]*", bare))
            and "[" not in bare
        )
    if word in _NONE:
        return not _CAN_BE_NONE.search(problem)
    return word in _NOTHING or text in ("NA", "NaN", "Nan")
