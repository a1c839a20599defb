"""Whether an answer equals a gold: text, plain numbers and words first, then trees."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from compass.verifier import budget
from compass.verifier.comparing.answers import compare_answers
from compass.verifier.comparing.scalar import LEAST_BARE_PERCENT, compare_numbers
from compass.verifier.extracting.announcements import find_announced
from compass.verifier.extracting.boxes import find_boxes, read_box_answer
from compass.verifier.extracting.sentences import is_hedged
from compass.verifier.gold import Gold, compare_within, gold_text, read_tolerance, split_alternatives
from compass.verifier.reading.grammar import parse
from compass.verifier.reading.normalise import MAX_LENGTH, normalise
from compass.verifier.reading.numbers import PlainNumber, move_point, read_plain_number, write_digits
from compass.verifier.reading.vocabulary import GREEK_SET
from compass.verifier.reading.words import (
    is_formula,
    is_iso_date,
    is_prose,
    plain_words,
    read_choice,
    read_date,
    read_number_kind,
    read_predicate,
    read_time,
    read_yes_or_no,
    same_letters,
    same_time,
    split_choice,
)
from compass.verifier.tree import OverBudget, Unreadable
from compass.verifier.verdict import Finding, Leniency, Outcome, Verdict, lean, list_leniencies, mark, rewind

_NAMED = re.compile(r"([A-Za-z]|\\[a-z]+(?![a-z]))=(.+)", re.DOTALL)
_CHOICE_SIGNS = frozenset("(\\ABCDEFGHabcdefghijklmnopqrstuvwxyzIJKLMNOPQRSTUVWXYZ")
"""What an answer with the letter of a choice begins with."""
_EITHER = re.compile(r"\(?[A-H]\)?(?:,\s?\(?[A-H]\)?){0,6},?\s?or\s?\(?[A-H]\)?\.?")
"""One choice or another."""
_LETTERS = GREEK_SET - {"pi"}
_DIGIT = re.compile(r"[0-9]")
_REST = r"(|(?![\d,;]|\.\d|\s*(?:and|or)\b)(?:[^,;]|\\[,;])+)"
_CURRENCY = r"(\\?[$€£¥]\s?|)"
_DECIMAL_COMMA = re.compile(rf"{_CURRENCY}(-?\d{{1,30}})(?:,|\{{,\}})(\d{{1,30}}){_REST}")
"""A number with a decimal comma, with the sign of a currency before it or its unit or power of ten behind it. A list has a space after its comma."""
_DOTTED_THOUSANDS = re.compile(rf"{_CURRENCY}(-?[1-9]\d{{0,2}}(?:\.\d{{3}})+),(\d{{1,30}}){_REST}")
"""A number with points between its thousands and a decimal comma, with what stands beside it."""
_DECIMAL = re.compile(r"\d\.\d")
_DIVISION = re.compile(r"^[^{|]{0,3}\((?:[^(){|]|\{[\w\\]+\}|\([^()]*\))*:\(")
_HOLLOW = re.compile(r"[\s\\{}()\[\].,;:$_^&|~'\"`!?*/+=<>-]*|\\(?:boxed|text|mathrm|ldots|dots|cdots)\W*")
_WHOLE = {r"\{\}": r"\emptyset", "{}": r"\emptyset", "No": "no", "NO": "no"}
"""Whole texts that would be read as something else: brackets around nothing, a product of letters."""
_HOLDS_EMPTY_SET = re.compile(r"\{\s?\\(?:emptyset|varnothing|oslash)")
_SETS = {"all real numbers": r"\mathbb{R}", "no solution": r"\emptyset", "infinitely many": r"\infty"}
"""Words that name a set of numbers, or how many there are."""
_FENCED = re.compile(r"\s*(?:```|~~~)\w{0,12}\s*\n\s*([^`~]+?)\s*(?:```|~~~)\s*")
_WORD = re.compile(r"(?<![\\A-Za-z])[^\W\d_]{2,}|[\u3040-\u9fff]")
_SEPARATOR = re.compile(r"\s*(?:[,;]|\band\b|\bor\b)+\s*(?:and\s|or\s)?")
_RATIO_OF_THREE = re.compile(r"[1-9]\d?:[1-9]\d:[1-9]\d")
"""Three numbers of which none begins with 0, as those of a time to the second would sooner or later."""
_SIZES = re.compile(r"\d{1,9}(?:\\times ?\d{1,9})+")
_DECIDES = (Outcome.EQUAL, Outcome.DIFFERENT, Outcome.UNRECOGNISED)
_normalised = lru_cache(maxsize=2048)(normalise)
_number = lru_cache(maxsize=2048)(read_plain_number)


def verify(*, gold: str | Gold, answer: str) -> Verdict:
    """Decide whether `answer` equals `gold`, the two as a reader would take them.

    Args:
        gold: the reference answer, as published: LaTeX, plain text or words; or a `Gold` with alternatives and a tolerance.
        answer: the answer to judge, without prose around it (`extract_answer` takes it out of a response).

    Returns:
        The verdict. What cannot be read, or would cost more than the budgets, is `unrecognised`, never `equal`.

    Raises:
        TypeError: an argument that is no text.
        ToleranceError: the gold's tolerance is none.
    """
    if not isinstance(gold, Gold):
        return _verdict(gold, answer, None)
    return choose_verdict([_verdict(gold_text(one), answer, gold.tolerance) for one in split_alternatives(gold)])


def choose_verdict(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict on an answer that was held against several golds: an equal one, else one that could read both sides."""
    return min(verdicts, key=lambda verdict: _DECIDES.index(verdict.outcome))


def _verdict(gold: str, answer: str, tolerance: str | None) -> Verdict:
    if not isinstance(gold, str) or not isinstance(answer, str):
        raise TypeError(f"gold and answer must be text, found {type(gold).__name__} and {type(answer).__name__}")
    if len(gold) > MAX_LENGTH or len(answer) > MAX_LENGTH:
        return Verdict(Outcome.UNRECOGNISED, "budget", f"longer than {MAX_LENGTH} characters")
    written = answer
    gold, answer = _normalised(gold), _normalised(answer)
    gold, answer = _WHOLE.get(gold, gold), _WHOLE.get(answer, answer)
    if _is_hollow(answer) or _is_hollow(gold):
        return Verdict(Outcome.UNRECOGNISED, "text", "nothing to read")
    if gold == answer:
        return Verdict(Outcome.EQUAL, "text", "the same text")
    rewind()
    finding = _compare_decimal_comma(gold, written) or _compare_choices(gold, answer) or _compare_readings(gold, answer)
    if not finding.same and (value := _unwrap_value(written)) is not None and not _names_two(answer, value):
        rewind()
        lean(Leniency.WORDING)
        finding = _compare_readings(gold, _normalised(value))
    if not finding.same and tolerance is not None:
        rewind()
        finding = compare_within(gold, answer, read_tolerance(tolerance)) or finding
    if finding.same:
        return Verdict(Outcome.EQUAL, finding.method, finding.detail, list_leniencies(rewind()))
    return Verdict(Outcome.UNRECOGNISED if finding.same is None else Outcome.DIFFERENT, finding.method, finding.detail)


def _unwrap_value(answer: str) -> str | None:
    """The value in an answer that still has around it what announces it: words and a box, "Antwort: 7", a fence; None for a bare value."""
    fenced = _FENCED.fullmatch(answer)
    if fenced is not None:
        return fenced[1]
    if not _WORD.search(answer) or is_hedged(answer):
        return None
    boxes = find_boxes(answer)
    if boxes:
        return read_box_answer(answer, boxes[0], 0, len(answer)) if len(boxes) == 1 and boxes[0].content else None
    announced = find_announced(answer)
    return announced[0].value if len(announced) == 1 else None


def _names_two(answer: str, value: str) -> bool:
    """Whether a normalised answer begins with the letter of a choice and the value announced in it is a letter again: "A. Final answer: E"."""
    return split_choice(answer) is not None and read_choice(value) is not None


def _compare_decimal_comma(gold: str, answer: str) -> Finding | None:
    """`1000,99`, `11,5 m` or `1.000,99 €` against a decimal, `7,00` and `1.000,99` against any gold; None where the comma may separate
    thousands, as in `1,250`, or values."""
    if "," not in answer:
        return None
    match = _DOTTED_THOUSANDS.fullmatch(answer) or _DECIMAL_COMMA.fullmatch(answer)
    if match is None:
        return None
    currency, number, decimals, rest = match.groups()
    whole = number.replace(".", "")
    if "." not in number and (
        (len(decimals) == 3 and whole not in ("0", "-0")) or not (_DECIMAL.search(gold) or decimals == "00")
    ):
        return None
    finding = _compare_readings(gold, _normalised(f"{currency}{whole}.{decimals}{rest}"))
    if not finding.same:
        rewind()
        return None
    lean(Leniency.WORDING)
    return finding


def _is_hollow(text: str) -> bool:
    """Whether a text holds signs alone."""
    return not text[:1].isalnum() and _HOLLOW.fullmatch(text) is not None


def _compare_readings(gold: str, answer: str) -> Finding:
    return (
        _compare_plain_numbers(gold, answer)
        or _compare_number_words(gold, answer)
        or _compare_sentences(gold, answer)
        or _compare_words(gold, answer)
        or _compare_dimensions(gold, answer)
        or _compare_trees(gold, answer)
    )


def _compare_choices(gold: str, answer: str) -> Finding | None:
    """Letters of choices, with or without their values: the letter or the value decides, and both where both sides give both."""
    if gold[:1] not in _CHOICE_SIGNS and answer[:1] not in _CHOICE_SIGNS:
        return None
    if _EITHER.fullmatch(answer):
        return Finding(False, "text", "one choice or another")
    same = same_letters(gold, answer)
    if same is not None:
        return Finding(same, "text", "letters")
    one, two = split_choice(gold), split_choice(answer)
    if one is None and two is None:
        return None
    letter, other = one[0] if one else read_choice(gold), two[0] if two else read_choice(answer)
    if letter is not None and other is not None:
        if letter != other or one is None or two is None:
            lean(Leniency.CHOICE)
            return Finding(letter == other, "text", f"choice {letter} against {other}")
        return _compare_readings(_normalised(one[1]), _normalised(two[1]))
    marked = mark()
    finding = _compare_readings(_normalised(one[1]) if one else gold, _normalised(two[1]) if two else answer)
    if finding.same:
        lean(Leniency.CHOICE)
        return finding
    rewind(marked)
    return None


def _compare_plain_numbers(gold: str, answer: str) -> Finding | None:
    """Both sides plain numbers, one of them perhaps with its name: `x = 5`."""
    gold_name, gold_text = _split_name(gold)
    answer_name, answer_text = _split_name(answer)
    if gold_name and answer_name and gold_name != answer_name:
        return None
    one = _number(gold_text)
    if one is None:
        return None
    two = _number(answer_text)
    if two is None or (one.mark and two.mark and one.mark != two.mark):
        return None
    if "%" in (one.mark, two.mark) and one.mark != two.mark:
        finding = _compare_percent(one, two)
    else:
        finding = compare_numbers(one.value, one.literal, two.value, two.literal)
    if finding.same:
        if one.mark != two.mark:
            lean(Leniency.PERCENT if "%" in (one.mark, two.mark) else Leniency.DEGREE)
        if gold_name != answer_name:
            lean(Leniency.NAME)
    return finding


def _compare_percent(gold: PlainNumber, answer: PlainNumber) -> Finding:
    """Two numbers of which one has a percent sign, which the other lacks (`28` for 28%) or has been computed away (`0.28`, 2/7 for 28.57%)."""
    one, two = (side if side.mark else move_point(side, 2) for side in (gold, answer))
    finding = compare_numbers(one.value, one.literal, two.value, two.literal)
    if finding.same or 0 < abs((answer if gold.mark else gold).value) <= LEAST_BARE_PERCENT:
        return finding
    return compare_numbers(gold.value, gold.literal, answer.value, answer.literal)


def _split_name(text: str) -> tuple[str, str]:
    """The name before a value, or none, and the value."""
    match = _NAMED.fullmatch(text) if "=" in text else None
    if match is None or (match.group(1)[0] == "\\" and match.group(1)[1:] not in _LETTERS):
        return "", text
    return match.group(1), match.group(2)


def _compare_number_words(gold: str, answer: str) -> Finding | None:
    """A number in words, `twenty-three` or `3rd`, against one in digits; None where neither side begins with one."""
    one, two = write_digits(gold), write_digits(answer)
    if one == gold and two == answer:
        return None
    if any(
        text != new and _number(new) is None and _is_bare(other)
        for text, new, other in ((gold, one, answer), (answer, two, gold))
    ):
        return None  # "three apples" is not 3
    if is_prose(gold) and is_prose(answer) and plain_words(gold) == plain_words(answer):
        return Finding(True, "text", "the same words")
    lean(Leniency.WORDING)
    return _compare_plain_numbers(one, two) or _compare_trees(one, two)


def _is_bare(text: str) -> bool:
    number = _number(text)
    return number is not None and not number.mark


def _compare_words(gold: str, answer: str) -> Finding | None:
    """Choices, times, dates and prose; None where either side may be mathematics."""
    if is_formula(gold) or is_formula(answer):
        return None
    letter = read_choice(gold)
    if letter is not None and letter == read_choice(answer):
        return Finding(True, "text", f"choice {letter}")
    times = read_time(gold), read_time(answer)
    if times[0] is not None and times[1] is not None and not all(map(_RATIO_OF_THREE.fullmatch, (gold, answer))):
        return Finding(same_time(*times), "text", "times of day")
    said = read_yes_or_no(gold), read_yes_or_no(answer)
    if said[0] is not None and said[1] is not None and said[0][1] != said[1][1]:
        lean(Leniency.WORDING)
        return Finding(said[0][0] == said[1][0], "text", "yes or no, and more words")
    prose = is_prose(gold) and is_prose(answer)
    if prose and read_number_kind(gold) == read_number_kind(answer):
        lean(Leniency.WORDING)
        return Finding(True, "text", "the same words")
    dates = read_date(gold), read_date(answer)
    if dates[0] is not None and dates[1] is not None:
        return Finding(dates[0] == dates[1], "text", "dates")
    if any(date is not None and _is_bare(other) for date, other in zip(dates, (answer, gold), strict=True)):
        return Finding(False, "text", "a date against a number")  # "4 July" is no 4 of something
    if ("-" in gold and is_iso_date(gold)) or ("-" in answer and is_iso_date(answer)):
        return Finding(False, "text", "a date against something else")
    if prose and _list_words(gold) == _list_words(answer) is not None:
        lean(Leniency.WORDING)
        return Finding(True, "text", "the same words in another order")
    return Finding(False, "text", "other words") if prose else None


def _compare_sentences(gold: str, answer: str) -> Finding | None:
    """A sentence with a formula in it, "the function $f(x)$ is odd", against what it says, "odd"; None for anything else."""
    for sentence, words in ((gold, answer), (answer, gold)):
        verb = "is " in sentence or "are " in sentence
        if verb and is_prose(words) and read_predicate(sentence) == plain_words(words):
            lean(Leniency.WORDING)
            return Finding(True, "text", "what the sentence says")
    return None


def _list_words(text: str) -> list[str] | None:
    """The items of a list in words, sorted; None where text is no list."""
    return sorted(map(plain_words, _SEPARATOR.split(text))) if "," in text else None


def _compare_dimensions(gold: str, answer: str) -> Finding | None:
    """`22 \\times 22 \\times 11` against `44 \\times 11 \\times 11`: products left as they are, which name sizes; None for anything else."""
    if r"\times" not in gold or r"\times" not in answer:
        return None
    if not (_SIZES.fullmatch(gold) and _SIZES.fullmatch(answer)):
        return None
    sizes = [sorted(map(int, text.split(r"\times"))) for text in (gold, answer)]
    return (
        None if len(sizes[0]) != len(sizes[1]) else Finding(sizes[0] == sizes[1], "text", "products of whole numbers")
    )


def _compare_trees(gold: str, answer: str) -> Finding:
    """Parse both sides and compare what they are."""
    budget.start()
    left, right = parse(_write_division(_as_set(gold))), parse(_write_division(_as_set(answer)))
    for side in (right, left):
        if isinstance(side, Unreadable):
            return _describe_unreadable(side)
    try:
        return compare_answers(left, right)
    except Unreadable as error:
        return _describe_unreadable(error)


def _write_division(text: str) -> str:
    """Text with `:` as a sign of division where it is inside brackets and before another bracket, `(a:(b-c)-d):e`; ratios stay."""
    return text.replace(":", r"\div ") if ":(" in text and _DIVISION.search(text) else text


def _as_set(text: str) -> str:
    """The set that a text names in words; any other text as it is."""
    if _DIGIT.search(text) or "^" in text or "_" in text or _HOLDS_EMPTY_SET.search(text):
        return text
    return _SETS.get(plain_words(text), text)


def _describe_unreadable(error: Unreadable) -> Finding:
    """What is found where a side cannot be read, or costs too much: nothing, and why."""
    return Finding(None, "budget" if isinstance(error, OverBudget) else "structure", str(error))
