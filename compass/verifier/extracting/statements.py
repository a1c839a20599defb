"""The answer that a text states in its sentences: which sentence counts, and what around it does not."""

from __future__ import annotations

import re

from compass.verifier.extracting.announcements import CORRECTED
from compass.verifier.extracting.boxes import drop_placeholders
from compass.verifier.extracting.denials import may_deny, same_answer, takes_back
from compass.verifier.extracting.languages import FOREIGN_THEREFORE
from compass.verifier.extracting.sentences import (
    AMOUNT,
    CHOSEN,
    COMPOUND,
    DANGLING,
    DENIED,
    EVERY,
    FORMULA,
    LOOKED_AT,
    NAMED_LAST,
    NUMBER,
    PRICE,
    SENTENCE,
    YES_OR_NO,
    YES_OR_NO_FIRST,
    Asked,
    drop_asides,
    drop_asked_bounds,
    find_bold_value,
    find_part_labels,
    find_stated_value,
    find_yes_or_no,
    formula_text,
    is_hedged,
    join_letters,
    last_formula,
    last_side,
)

_BECAUSE = re.compile(r"\b(?:because|since)\b", re.IGNORECASE)
_CONCLUSION = re.compile(
    rf"^[\s*$-]{{0,6}}(?:so|thus|hence|therefore|consequently|in total|altogether|finally|in conclusion|conclusion(?=\W*:)|overall|total|∴|\\therefore|{FOREIGN_THEREFORE})(?![a-z])"
    r"|\b(?:in total|altogether|in all)\b|\bI(?:['’](?:d|ll)|\s(?:would|will))\s(?:go\swith|say)\b|\bso\s(?!(?:on|far|much|many)\b)(?:he|she|it|they|we|there|the|[A-Z]\w+)\b",
    re.IGNORECASE,
)
_THEREFORE = re.compile(
    rf"\b(?:so|thus|hence|therefore|consequently|in total|altogether|in conclusion)\b|{FOREIGN_THEREFORE}",
    re.IGNORECASE,
)
_ONE_VALUE = r"(?:\$[^$]{1,300}\$|\\\([^()]{1,300}\\\)|[-−$]?\d[\d,./]*)\s?%?"
_ENDS_WITH_VALUE = re.compile(
    rf"\b(?:(?:is|are|equals)\s|(?:gives|yields|get|obtain|find|have|with)\s(?=\$)){_ONE_VALUE}(?:,?\s(?:or|that\sis(?:\sto\ssay)?),?\s{_ONE_VALUE}){{0,3}}\.?$"
)
_CUT = re.compile(
    r"[-+*/=^_({\[,\\]$|(?<![\w$\\])(?:the|an?|and|or|of|is|are|to|in|with|for|then|so|that|by|from|as|we|if|but)$"
)
_ONE_NAME = re.compile(r"[^\W\d_]{2,30}(?:[ -][^\W\d_]{1,30}){0,2}[.!]?")
"""A response that is a word or a name, such as `Canberra`: an answer as it stands."""
_ONE_CHOICE = re.compile(r"\**\(?[A-J]\)?\**[.!]?")
"""A last line that is the letter of a choice."""
_OUTPUT = re.compile(
    r"(?:```(?:output|text)?\s{0,3}\n|(?:^|\n)>>>[^\n]*\n|<\|?[a-z_]{0,20}(?:execution|output|result|response|stdout)\|?>\s{0,3})([^`<]{1,200}?)\s{0,9}(?:```|</?\|?\w{1,20}\|?>|(?<=[\])\w])(?=$))\s{0,9}$"
)
"""What code printed last: in a fence, between tags, or behind Python's prompt."""
_SOLUTIONS = re.compile(r"\{[A-Za-z]\w?:[^{}]*\}")
"""Values by the names of unknowns, as sympy prints them."""
_PROMPT = re.compile(r"\n>>>\s*$")
_LIST = re.compile(r"\[((?:[^\[\],]*,){2,}[^\[\],]*|[^\[\],]+)\]")
"""A list that Python printed; with two items and a comma it may be an interval."""
_VALUE = re.compile(rf"{FORMULA.pattern}|(?<![\w.,/:])\d[\d.,/:]*", re.DOTALL)
_AFTERWORD = re.compile(
    r"(?:\n[#*_>\s-]{0,8}|(?<=[.!?])\s)(?:(?:(?:quick|sanity|double|important|final|side)[\s-])?(?:check|verification|verify|notes?|remarks?|footnotes?|references?|explanation|fun\sfact|bonus|tip|key\stakeaway|aside|p\.?\s?s)"
    r"|(?:alternative|another|second|other)\s(?:method|solution|way|approach)|method\s(?:2|two))(?:\s(?:\d|\([^()\n]{1,30}\)|method|solution))?[.\s]*(?:\*\*|:|\n|\Z)"
    r"|\n[#*_>\s-]{0,8}(?:(?:you|we|one)\scan\salso|equivalently|alternatively|another\sway)\b"
    r"|\n\W{0,8}(?P<check>)(?:let(?:'s|’s|\sme|\sus)|(?:we|I|you)\s(?:can|could|may)|to)\s(?:\w+\s)?(?:check|verify|confirm|test|double-check)\b",
    re.IGNORECASE,
)
"""What opens a last section that adds to an answer: a check, notes, another way."""
_EXPLAINS = re.compile(
    r"\W*(?:why\b|how (?:so|(?:we|I) (?:get|got|find|found))\b|because\b|reason|explanation|proof\b|justification|derivation|details|here(?:'s|\sis)\s(?:how|why|the|my)|(?:let me|to)\s(?:explain|show|justify|see)\b)",
    re.IGNORECASE,
)
"""What comes after an answer that is explained."""
_RESTRICTS = re.compile(
    r"^\W*(?:but|however|yet|on second thought)\b|\b(?:if|unless|only|makes? the statement)\b", re.IGNORECASE
)
"""What takes a yes or no back in part."""
_BEGINS_WORK = re.compile(r"\W*(?:we|let|first|to|consider|note|suppose|start|since|by)\b", re.IGNORECASE)
"""How a first sentence begins that works towards an answer."""
_FOOTNOTE = re.compile(r"\n[ \t]*(?:\[(\d{1,2})\]|\\\*|[¹²³⁴⁵⁶⁷⁸⁹](?=\s))[^\n]*")
_CLOSING = re.compile(r"(?![-*•+#>|]\s|\d+[.)]\s)[^:]*[^\W\d_]{2,}\s[^:]*[^\W\d_]{2,}\s.*[.!]\**\Z", re.DOTALL)
"""A sentence with words, which ends."""
_PROVED = re.compile(
    r"(?:\s*(?:\$?\\(?:blacksquare|square|qed|Box|diamond)\$?|[∎■□◇♦]|Q\.?\s?E\.?\s?D\.?|[\[(]\d{1,3}\s(?:marks?|points?|pts)[\])]))+[ \t]*(?=\n|\Z)"
)
"""What ends a proof, and the marks that it earns."""
_OFFER = re.compile(
    r"(?:(?<=[.!?])\s|\n)\W{0,4}(?:(?:would|do|could|can|may)\syou|(?:want|need)\sme|shall\sI\salso)\b[^.!\n]{0,200}\?",
    re.IGNORECASE,
)
LONGEST_OFFER = 400
"""Characters at a text's end in which it may offer more to the reader."""
_RULE = re.compile(r"[-*_=#]{2,}")
"""A line across the page."""
_ASIDE = re.compile(
    r"\b(?:let me know|feel free|if you(?: have| need| want| would| like|['’]d)|ask away|hope (?:this|that|it)|(?:happy|glad) to help|any (?:other |more )?questions)\b"
    r"|^\W*(?:note|tip|fun fact|bonus|reminder|explanation|reasoning|justification|remark|check|verification|verify|hint|p\.?\s?s\.?|probe|vérification|comprobación|verifica|проверка|检验|验证|検算|검산)\b"
    r"|^\W*(?:(?:as|for)\s(?:an?\s)?)?(?:[a-z']+[\s-]){0,2}(?:check|verification|verify|verif(?:y|ies)\sthat|confirms)\b(?!.*\b(?:so|thus|hence|therefore)\b)"
    r"|(?:\bwould|['’]d)\shave\s(?:been|given|got|had|made)\b|\bwould\b.*\b(?:instead(?!\sof)|otherwise)\b|^\W*otherwise\b|^\W*gdyby\b"
    r"|^\W*(?:now\s)?(?:try|you\s(?:can|could|may|might))\b(?!.*\b(?:wrong|incorrect|not|instead|actually)\b)|^\W*now\syou\b|^\s*\([^()]*\)[.\s]*$|^\W*$",
    re.IGNORECASE,
)


def _drop_rules(text: str) -> str:
    """A text without the lines across the page at its end."""
    kept = text.rstrip()
    while (before := kept.rfind("\n")) >= 0 and _RULE.fullmatch(kept[before + 1 :].strip()):
        text = kept = kept[:before].rstrip()
    return text


def _drop_offer(text: str) -> str:
    """The text without a question to the reader near its end, such as "Would you like another example?", and what follows it."""
    offer = _OFFER.search(text, max(0, len(text) - LONGEST_OFFER))
    if offer is None or not text[: offer.start()].strip():
        return text
    rest = text[offer.end() :]
    concludes = _THEREFORE.search(rest) or DENIED.search(rest) or CORRECTED.search(rest) or YES_OR_NO.search(rest)
    return text if concludes else text[: offer.start()]


def find_stated_answer(text: str, asked: Asked, *, must_conclude: bool) -> str | None:
    """The answer that a text's last sentence states, where it `must_conclude` only one that does; that of each part where the question has
    parts, and that of the first sentence where the rest explains it."""
    if asked.parts and (joined := _join_stated_parts(text, asked, must_conclude=must_conclude)) is not None:
        return joined
    if (shorter := _drop_afterword(text)) != text and (
        value := find_stated_answer(shorter, asked, must_conclude=must_conclude)
    ) is not None:
        return value
    text = _PROVED.sub("", _drop_rules(text))
    text = text if must_conclude else _drop_offer(text)
    output = _OUTPUT.search(_PROMPT.sub("", text[-400:]))
    if output is not None and output[1].strip():
        printed = output[1].strip().splitlines()[-1]
        if (listed := _LIST.fullmatch(printed)) is not None:
            printed = ", ".join(listed[1].split()) if "," not in listed[1] else listed[1]
        elif _SOLUTIONS.fullmatch(printed):
            printed = printed.strip("{}").replace(":", " =")
        return None if must_conclude else printed
    if is_cut_off(text):
        return None
    display = [match for match in FORMULA.finditer(text) if match.group(1) or match.group(4)]
    rest = SENTENCE.split(text[display[-1].end() :].strip(" .\n")) if display else []
    if display and all(_ASIDE.search(part) and not may_deny(part) for part in rest if part):
        return last_side(formula_text(display[-1]))
    text = FORMULA.sub(_join_lines, text)
    sentences = [part for part in SENTENCE.split(text) if part and part.strip()]
    if not sentences:
        return None
    if _answers_first(sentences, asked, must_conclude=must_conclude):
        return find_stated_value(_drop_bold(sentences[0].strip()), asked)
    last = _choose_sentence(sentences[-LOOKED_AT:], asked).strip()
    if _ONE_CHOICE.fullmatch(last):
        return last.strip("().!* ")
    if len(sentences) == 1 and _is_name(last):
        return last.rstrip(".!")
    concludes = _concludes(last)
    last = _drop_bold(last)
    if must_conclude and len(sentences) > 1 and not concludes and not _closes(sentences[-1], last):
        return None
    if is_hedged(drop_asked_bounds(last, asked)):
        return None if (every := EVERY.search(drop_asides(last))) is None else every[1]
    if asked.predicate and (verdict := find_yes_or_no(last, asked)) is not None:
        return verdict
    value = find_stated_value(last, asked)
    if asked.letters and value is not None and (joined := join_letters(text, asked.letters)) is not None:
        return joined
    return last_formula(last) if value is None and not must_conclude else value


def _drop_bold(sentence: str) -> str:
    """A sentence without the marks that set all of it in bold."""
    return (
        sentence.strip("*")
        if sentence.count("**") <= 2 and sentence.startswith("**") and sentence.find("**", 2) in (-1, len(sentence) - 2)
        else sentence
    )


def _answers_first(sentences: list[str], asked: Asked, *, must_conclude: bool) -> bool:
    """Whether a text's first sentence answers and the rest explains it: how or why comes next and nothing concludes or corrects later, or,
    where it need not conclude, it says yes or no to a question that asks whether, and nothing later does or restricts it."""
    first, rest = sentences[0], sentences[1:]
    if not rest or _BEGINS_WORK.match(first) or any(map(CORRECTED.search, rest)):
        return False
    if not must_conclude and asked.asks_whether and YES_OR_NO_FIRST.match(f"{first.strip()}."):
        says = find_yes_or_no(rest[-1], asked)
        return says is None and not any(_RESTRICTS.search(sentence) or YES_OR_NO.search(sentence) for sentence in rest)
    return _EXPLAINS.match(rest[0]) is not None and not any(map(_THEREFORE.search, rest[1:]))


def _choose_sentence(sentences: list[str], asked: Asked) -> str:
    """Of a text's last sentences the last that may state the answer; one that concludes with a value counts before remarks after it,
    which hold no value, choose nothing and take nothing back."""
    for at in reversed(range(len(sentences) - 1)):
        if _CONCLUSION.search(sentences[at]) and _VALUE.search(sentences[at]) and not _is_aside(sentences[at]):
            rest = sentences[at + 1 :]
            remarks = not any(_chooses(one, asked) or is_hedged(one) for one in rest if not _is_aside(one))
            if remarks and not takes_back(" ".join(rest), "\0"):
                return sentences[at]
            break
    return next((one for one in reversed(sentences) if _may_state(one)), sentences[-1])


def _chooses(sentence: str, asked: Asked) -> bool:
    """Whether a sentence holds a value, or states a word: a name at its end, bold, a choice, yes or no, what it concludes, or a word of the
    question."""
    if (find_stated_value(sentence) or "").lower() in asked.words:
        return True
    signs = (_VALUE, _THEREFORE, NAMED_LAST, CHOSEN, YES_OR_NO_FIRST)
    is_word = _ONE_CHOICE.fullmatch(sentence) or _ONE_NAME.fullmatch(sentence) or find_bold_value(sentence)
    return bool(is_word or any(sign.search(sentence) for sign in signs))


def _join_stated_parts(text: str, asked: Asked, *, must_conclude: bool) -> str | None:
    """What is stated after the label of each part, as `(a) 3, (b) 5`; None where a part has no label of its own, or states nothing."""
    labels = [label for label in find_part_labels(text) if label[0] in asked.parts]
    last = {letter: (start, end) for letter, start, end in labels}
    if "".join(sorted(last, key=lambda letter: last[letter])) != asked.parts:
        return None
    starts = [*(_sentence_start(text, last[letter][0]) for letter in asked.parts[1:]), len(text)]
    values = [
        find_stated_answer(
            text[last[letter][1] : end].strip(" :,.\n").removeprefix("**").strip(" :,.\n"),
            asked._replace(parts=""),
            must_conclude=must_conclude,
        )
        for letter, end in zip(asked.parts, starts, strict=True)
    ]
    return (
        ", ".join(f"({letter}) {last_side(value)}" for letter, value in zip(asked.parts, values, strict=True) if value)
        if all(values)
        else None
    )


def _sentence_start(text: str, place: int) -> int:
    return max(text.rfind("\n", 0, place), text.rfind(". ", 0, place)) + 1


def _join_lines(formula: re.Match[str]) -> str:
    """A display formula on one line; any other as it stands, for two prices enclose a formula as well."""
    if not formula[0].startswith(("$$", "\\[")):
        return formula[0]
    return f"{formula[0][:2]}{' '.join(formula[0][2:-2].split())}{formula[0][-2:]}"


def _concludes_with_value(sentence: str) -> bool:
    conclusion = _CONCLUSION.search(sentence)
    return conclusion is not None and _VALUE.search(sentence, conclusion.end()) is not None


def _drop_afterword(text: str) -> str:
    """The text without a last section that checks, notes or derives again what stands before it, unless that section concludes or finds fault."""
    for opening in _AFTERWORD.finditer(text):
        rest = text[opening.start() :]
        if opening["check"] is not None and (DENIED.search(rest) or re.search(r"\bin\sfact\b", rest)):
            continue
        if not (
            any(_concludes_with_value(sentence) for sentence in SENTENCE.split(rest) if sentence)
            or CORRECTED.search(rest)
            or takes_back(rest, "\0")
        ):
            return text[: opening.start()]
    return text


def drop_footnotes(text: str) -> str:
    """The text without footnotes and without the numbers in brackets that point to them."""
    notes = list(_FOOTNOTE.finditer(text))
    if not notes or not text[: notes[0].start()].strip():
        return text
    text = _FOOTNOTE.sub("", text)
    return (
        re.sub(rf"\s?\[(?:{'|'.join(note[1] for note in notes if note[1])})\]", "", text)
        if any(note[1] for note in notes)
        else text
    )


def _may_state(sentence: str) -> bool:
    """Whether a sentence may give the answer, or take it back: it is no aside and holds a value, a word that it states, a hedge or a denial."""
    if _is_aside(sentence):
        return False
    speaks = (
        _VALUE.search(sentence)
        or YES_OR_NO.search(sentence)
        or CHOSEN.search(sentence)
        or _ONE_CHOICE.fullmatch(sentence)
    )
    return (
        bool(speaks or is_hedged(sentence) or may_deny(sentence))
        or find_stated_value(sentence) is not None
        or _is_name(sentence)
        or (_ONE_NAME.fullmatch(sentence) is not None and sentence[-1] not in ".!")
    )


def _is_name(sentence: str) -> bool:
    """Whether a sentence is a word, or a name of several words."""
    return _ONE_NAME.fullmatch(sentence) is not None and (" " not in sentence or sentence.istitle())


def _is_aside(sentence: str) -> bool:
    """Whether a sentence is a note, a check, a question, in brackets, speaks to the reader, or cheers: it states no answer."""
    cheers = sentence.rstrip().endswith("!") and not re.search(
        r"[\d$\\]|^(?:yes|no|true|false)\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b", sentence, re.IGNORECASE
    )
    return cheers or sentence.rstrip().endswith("?") or _ASIDE.search(sentence) is not None


def _concludes(sentence: str) -> bool:
    """Whether a sentence presents its value as the result: it begins with "so", ends in "is 5", sets a value in bold, or holds no other."""
    sentence = drop_asides(sentence)
    marks = _CONCLUSION.search(sentence) or _ENDS_WITH_VALUE.search(sentence) or YES_OR_NO.fullmatch(sentence)
    return (
        marks is not None
        or CHOSEN.search(sentence) is not None
        or NAMED_LAST.search(sentence) is not None
        or find_bold_value(sentence) is not None
        or len(_VALUE.findall(COMPOUND.sub("0", sentence))) == 1
    )


def _closes(end: str, sentence: str) -> bool:
    """Whether a sentence of prose is the last thing said: no line of a list, and nothing after it."""
    return _CLOSING.match(end.strip()) is not None and sentence.strip("* ") in end


def is_cut_off(text: str) -> bool:
    """Whether a response ends in the middle of a formula, or of a sentence."""
    rest = PRICE.sub("", FORMULA.sub(" 0", AMOUNT.sub("", text.replace(r"\$", ""))))
    return (
        rest.count("$") % 2 == 1
        or rest.count(r"\[") > rest.count(r"\]")
        or bool(_CUT.search(rest.rstrip().rstrip("*_")) or DANGLING.search(rest))
    )


def concludes_otherwise(after: str, answer: str) -> bool:
    """Whether the last sentence after an answer concludes with values of which none is that answer: "so there are 40 of them"."""
    sentences = [part for part in SENTENCE.split(drop_placeholders(after)) if part and part.strip()]
    last = next((sentence for sentence in reversed(sentences[-LOOKED_AT:]) if _may_state(sentence)), "")
    conclusions = [one for one in _THEREFORE.finditer(last) if _VALUE.search(last, one.end())]
    if not conclusions or _BECAUSE.search(last, 0, conclusions[-1].start()):
        return False
    claim = last[conclusions[-1].end() :]
    values = [last_side(formula_text(formula)) for formula in FORMULA.finditer(claim)]
    values += [number.strip(" ,") for number in NUMBER.findall(FORMULA.sub(" ", claim))]
    return bool(values) and answer.strip("$ ") not in claim and not any(same_answer(answer, value) for value in values)
