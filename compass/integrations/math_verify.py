"""Math-Verify's two functions, answered by this project's verifier: change the import and keep the calls.

    from compass.integrations.math_verify import parse, verify
    verify(parse(gold), parse(answer))

Its timeouts are accepted and not needed: time is bounded by budgets, without signals, so that both functions work in threads.
"""

from __future__ import annotations

from collections.abc import Sequence

from compass.verifier import final_answer
from compass.verifier import verify as _verify


def parse(pred: str, *, parsing_timeout: float | None = None, raise_on_error: bool = False) -> list[str]:
    """The answer in a text: the text itself where it is an answer, else the final answer of the response that it is.

    Args:
        pred: a gold, an answer or a whole response, as for Math-Verify's `parse`.
        parsing_timeout: not needed; accepted so that calls can stay.
        raise_on_error: not needed; nothing that is text makes it raise.

    Returns:
        One answer, as text; none where nothing can be read. Words that state no value are an answer in words.

    Raises:
        TypeError: `pred` is no text.
    """
    if not isinstance(pred, str):
        raise TypeError(f"parse takes text, found {type(pred).__name__}")
    answer = final_answer(pred)
    return [] if answer is None else [answer]


def verify(
    gold: str | Sequence[str],
    target: str | Sequence[str],
    *,
    timeout_seconds: float | None = None,
    raise_on_error: bool = False,
) -> bool:
    """Whether one of the targets equals one of the golds.

    Args:
        gold: what `parse` made of the gold, or a text.
        target: what `parse` made of the answer, or a text.
        timeout_seconds: not needed; accepted so that calls can stay.
        raise_on_error: not needed; nothing that is text makes it raise.

    Raises:
        TypeError: an argument that is neither text nor texts.
    """
    golds, targets = ([side] if isinstance(side, str) else side for side in (gold, target))
    return any(_verify(gold=one, answer=other).equal for one in golds for other in targets)
