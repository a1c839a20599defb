"""Two texts compared by their final answers, whichever of them is an answer and whichever a solution.

Golds of some datasets are whole solutions, and answers may be a sentence. So each text counts as it stands, and if it is no
answer but a text, by the final answer that it gives (read as in `Mode.LENIENT`).
"""

from __future__ import annotations

import re

from compass.verifier.answer_type import answer_type
from compass.verifier.extract import extract_answer
from compass.verifier.extracting.announced import ANNOUNCED
from compass.verifier.extracting.languages import VERBS
from compass.verifier.verdict import Outcome, Verdict
from compass.verifier.verify import verify

_PROSE = ("text", "unrecognised")
_LEADS_UP = re.compile(
    rf"[^$\d=\\]{{3,200}}(?:\bthat|:|\W(?:{VERBS}))\s{{0,3}}\$"
    r"|(?:We|Thus|So|Therefore|Hence|Then|Finally|Consequently|This|Simplifying|Solving|Substituting|Adding|Dividing)\s[^$]{3,200}\$"
)
_NONE = Verdict(Outcome.UNRECOGNISED, "text", "a text gives no final answer")


def final_answer(text: str) -> str | None:
    """The answer in a text: the text itself where it is an answer, else the final answer of the solution that it is.

    Words that state no value are an answer in words. None where nothing can be read.

    Raises:
        TypeError: what is no text.
    """
    if not _is_solution(text) and answer_type(text) not in _PROSE:
        return text
    answer = extract_answer(text)
    if answer is not None:
        return answer
    return text if answer_type(text) == "text" else None


def _is_solution(text: str) -> bool:
    """Whether text gives its answer in a box, announces it or leads up to a formula: "we find that $x > 3$", "a matrix: $...$"."""
    if "\\boxed" in text or "\\fbox" in text:
        return True
    return ("$" in text and _LEADS_UP.match(text) is not None) or ANNOUNCED.search(text) is not None


def same_final_answer(*, gold: str, answer: str) -> Verdict:
    """Decide whether two texts give the same final answer.

    Args:
        gold: a reference answer or a whole solution.
        answer: an answer or a whole response.

    Returns:
        The verdict on the texts as they stand where those are equal, else the one on their final answers.

    Raises:
        TypeError: an argument that is no text.
    """
    verdict = verify(gold=gold, answer=answer)
    if verdict.equal:
        return verdict
    one, two = final_answer(gold), final_answer(answer)
    if one is None or two is None:
        return _NONE
    return verdict if (one, two) == (gold, answer) else verify(gold=one, answer=two)
