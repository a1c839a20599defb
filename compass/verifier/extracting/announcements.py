"""What a text announces as its answer: "the answer is", labels, headings, `####`, tags, fields of JSON, 答案."""

from __future__ import annotations

import re
from typing import NamedTuple

from compass.verifier.answer_type import answer_type, is_wordy
from compass.verifier.extracting.languages import FOREIGN_ANNOUNCED
from compass.verifier.extracting.sentences import (
    FORMULA,
    SENTENCE,
    find_bold_value,
    find_stated_value,
    formula_text,
    is_hedged,
    last_side,
    read_value,
)
from compass.verifier.reading.numbers import write_numbers
from compass.verifier.reading.words import SYNONYMS

TAIL = 4_000
"""Characters at a response's end in which an answer without a box is looked for."""
REACH = 700
"""Characters after a phrase in which what it announces is looked for."""
CORRECTED = re.compile(
    r"\b(?:wait|hmm+|hold on|oops|actually|correction|corrected|sorry|instead|ignore|disregard|scratch that|(?<!common )(?<!typical )(?<!frequent )mistake|error|really|no,)(?![a-z])"
    r"|\b(?:this|that|it|which|above|box|answer)\s(?:is|was|'s)\s(?:wrong|incorrect|not\s(?:right|correct)|mistaken)\b|更正|不对",
    re.IGNORECASE,
)
ANNOUNCED = re.compile(
    r"####(?!#)|(?:final\s+)?(?:answer|result)s?\**(?:\s?\([^()\n:]{1,40}\))?\s{0,3}(?:is|are|:|=|will\s+be|would\s+be|should\s+be)\**\s{0,3}:?"
    r"|(?:correct\s+)?(?:option|choice)s?\s+(?:is|are)|correct\s+(?:option|choice|statement)s?\**:\**|(?<=\*)(?:conclusion|verdict)\**:\**|(?<![^\n])solutions?:(?=\s*\n\s*-\s)|(?<![^\n*])ans(?:\.\s{0,3}:?|\s?:)\**|(?<![^\n*])(?:final\s+)?(?:answer|result)\**\s(?:[-–—→⇒]|=>)(?=\s)|(?<![^\n*])\[(?:final\s+)?answer\]\**:?|故\s?选\s?[:：]?|应选\s?[:：]?|选\s?[:：]|(?<![不可若])选\s?(?=[A-H](?![A-Za-z]))|(?<!as\s)it\sshould\sbe|"
    + FOREIGN_ANNOUNCED,
    re.IGNORECASE,
)
_LAST_LABEL = re.compile(
    r"(?:^|\n)[*>\s]{0,4}(?:(?P<letter>A)|(?i:solution))\**:\**\s{0,3}(?P<value>[^\n]{1,120}?)\**\s*\Z"
)
"""A short label at the beginning of the last line: the `A` of a dialogue may also be the letter of a choice."""
_ONE_CHOICE = re.compile(r"(?:\$|\\text\w{0,2}\s?\{)?\(?([A-J])\)?(?:\$|\})?\.?")
_OTHER_CHOICE = re.compile(r"(?:^|\n)[*>\s(]{0,4}[B-E]\)?\**[.:)]")
"""Another choice at the beginning of a line."""
_TEXT_LABEL = re.compile(r"\\(?:text\w{0,6}|mbox|mathrm)\s?\{[^{}\n]{0,40}\Z")
"""A command that sets a label as text, before the label."""
_FINAL = re.compile(r"(?:final|correct(?:ed)?)\s+(?:answer|result)", re.IGNORECASE)
_LATER = re.compile(
    r"(?:final\s+)?answer\**\s{0,3}(?:is|:|=|should\s+be)\**\s{0,3}:?|it\sshould\sbe|答案\s{0,3}(?:是|为|：|:)",
    re.IGNORECASE,
)
_HEADING = re.compile(r"^[#* ]{0,8}(?:the\s)?(?:final\s)?(?:answer|result)s?[*: ]{0,8}$", re.IGNORECASE | re.MULTILINE)
_TAG = re.compile(
    r"[<\[]((?:final|my|the)?[_ -]?(?:answer|result))(?:\s(?:units?|var|variable|name)=[^<>]{0,40})?[>\]](.{0,2000}?)[<\[]/\1[>\]]",
    re.IGNORECASE | re.DOTALL,
)
_TAGS = re.compile(rf"<answers>(?:\s*{_TAG.pattern}){{2,20}}\s*</answers>", re.IGNORECASE | re.DOTALL)
"""A list of tags."""
_BULLETS = re.compile(r"\s*[-*•]\s+[^\n]{1,80}(?:\s*\n\s*[-*•]\s+[^\n]{1,80}){1,20}")
_BULLET = re.compile(r"^[-*•]\s+(?=[^\n]+\Z)")
"""The mark of a line that is the only one of a list."""
_LEADS_ON = re.compile(r"^[^\n\d$]{1,60}\b(?:is|are|equals)\s*:?\s*\n\s*(?=\S)")
_FIELD = re.compile(
    r"""([\"'])(?!(?:n|num|number|count|is|has|no|wrong|incorrect|student)[_ -]?(?:of[_ -]?)?answer)(?:[A-Za-z]{1,12}[_ -]?)?(?:answers?|(?:choice|option)(?=\1\s{0,9}:\s{0,9}["'(]{0,2}[A-J]\b))\1\s{0,9}:\s{0,9}""",
    re.IGNORECASE,
)
_CALL = re.compile(
    r"""(?:^|\n)[^\w\n]{0,9}(?:Action(?:\s?\d{1,3})?:\s{0,3})?(?:finish|submit|(?:final|submit)_answer)[\[(]\s{0,3}(["']?)([^"'\[\]()\n]{1,200})\1\s{0,3}[\])][\s`]*\Z""",
    re.IGNORECASE,
)
"""A call that ends a turn with its answer: `Finish[8]`."""
_RESULT = re.compile(
    r"""["'](?:final[_ -]?)?(?:result|solution)["']\s{0,9}:\s{0,9}(?=(?:[\s\d{}\[\],:.+-]|"[^"\n]{0,200}"|'[^'\n]{0,200}'|true|false|null|e)*[\s`]*\Z)""",
    re.IGNORECASE,
)
"""A field for the result, in an object with which the response ends."""
_TICK_BOXES = re.compile(r"(?:(?:^|\n)[\s*-]{0,6}\[[ xX]\]\s*\**\(?[A-J]\b[^\n]*){2,10}\s*\Z")
"""Options with boxes to tick, with which the response ends."""
_TICKED = re.compile(r"\[[xX]\]\s*\**\(?([A-J])\b")
_FIELD_END = re.compile(r"\s{0,99}(?:[,}\]]|$)")
_BOLD_FIRST = re.compile(r"[ :\n：>]{0,9}\*\*[^*\n]{1,120}\*\*")
_LEAD = re.compile(r"[\s*:：]*(?:(?<=\n)[\s*:：>]*)?")
"""What stands between a phrase and its value; `>` is a quotation's mark only where it begins a line."""
_FENCE = re.compile(r"\s{0,9}```\w{0,12}\s{1,9}")
_CONDITION = re.compile(
    r"\b(?:if|suppose|assume|when|whether|(?<!I'd )(?<!would )say|reference|expected)\b(?!.*\b(?:so|therefore|thus|hence|but\s(?:since|because|as))\b)",
    re.IGNORECASE,
)
_UNCLOSED = re.compile(r"""["']([^"'{}\n]{1,80}?)\s{0,9}\}[\s`]*""")
"""A field's text without the mark that should end it, before the brace that ends the object."""
_ARGUMENT = re.compile(r"""([\"'])([^\"'\n]{1,200})\1\s{0,3}[,)]""")
"""A quoted argument of a call: `answer="16/52", reason="..."`."""
_UNIT_FIELD = re.compile(r"""["']units?["']\s{0,3}:\s{0,3}["']([^"'{}\n]{1,30})["']""", re.IGNORECASE)
_INNER_FIELD = re.compile(r"""\{\s*(?:[^{}]*,\s*)?["'](?:value|answer|result|number)["']\s*:\s*""", re.IGNORECASE)
_SUBJECT = r"(?:\(?[A-J]\)?|[^\s;,.]{0,12}\d[^\s;,]{0,12}(?<![.)\]}])|[a-z]\s?=\s?[^\s;,]{1,12})"
_OWN_CLAUSE = re.compile(
    rf";\s+(?={_SUBJECT}(?:(?:,\s(?:and\s|or\s)?|\s(?:and|or)\s){_SUBJECT}){{0,9}}\s(?:is|are|was|were|does|do|did|can|cannot|has|have)(?:n't)?\s(?!\W*$))"
)
"""Where a clause begins that says something of other values than the announced: "(B); (A) and (C) are wrong"."""
_COUNT_OF = re.compile(r"(\d+):\s(?=-?\d+(?:,\s-?\d+){2,}\W*$)")
"""A count before what it counts: "11: 2, 3, 5, ..."."""
_LABEL_ENDS = (":", "：", "#", "-", "–", "—", "→", "⇒", ">", "]")
_LAST = 3


class Announced(NamedTuple):
    """A value that a phrase announces: where the phrase begins, the value, and whether it is called final."""

    place: int
    value: str
    is_final: bool


def find_announced(tail: str) -> list[Announced]:
    """The values that phrases announce, in their order; a phrase that announces no value, such as "the final answer is correct", says
    nothing."""
    tags = list(_TAG.finditer(tail))
    found = [(tag.start(), _first(tag[2]) or tag[2].strip(), True) for tag in tags[-_LAST:]]
    if (several := _TAGS.search(tail)) is not None:
        items = [_first(tag[2]) or tag[2].strip() for tag in tags if several.start() < tag.start() < several.end()]
        found = [(several.start(), ", ".join(items), True)]
    found += [
        (match.start(), value, True)
        for match in list(_FIELD.finditer(tail))[-_LAST:]
        if (value := _read_field_with_unit(tail[match.end() : match.end() + REACH]))
    ]
    if (boxes := _TICK_BOXES.search(tail)) is not None:
        found.append((boxes.start(), ", ".join(_TICKED.findall(boxes[0])), True))
    found += [
        (result.start(), value, True)
        for result in list(_RESULT.finditer(tail))[-1:]
        if (value := _read_field_with_unit(tail[result.end() : result.end() + REACH]))
    ]
    if (call := _CALL.search(tail)) is not None:
        found.append((call.start(), call[2].strip(), True))
    taken = [(start, start + 1) for start, _, _ in found]
    for heading in list(_HEADING.finditer(tail))[-_LAST:]:
        rest = _BULLET.sub("", tail[heading.end() : heading.end() + REACH].strip().lstrip("> "))
        if value := _first(rest):
            found.append((heading.start(), value, True))
            taken.append((heading.start(), heading.end() + 1))
    for match in list(ANNOUNCED.finditer(tail))[-2 * _LAST :]:
        if any(start <= match.end() and match.start() < end for start, end in taken):
            continue
        rest = _leave_bracket(tail, match)
        if _says_nothing(tail, match):
            continue
        argument = _ARGUMENT.match(rest) if match[0].rstrip().endswith("=") else None
        if argument is not None:
            found.append((match.start(), _read_label(argument[2].strip()) or "", True))
        elif value := _first(rest) if match[0].rstrip("* ")[-1:] in _LABEL_ENDS else _after(rest):
            final = "#" in match[0] or _FINAL.search(tail, max(0, match.start() - 12), match.end()) is not None
            found.append((match.start(), value, final))
    if not found and (label := _LAST_LABEL.search(tail)) is not None and (value := _read_last_label(tail, label)):
        found.append((label.start(), value, False))
    return [Announced(*one) for one in sorted(found)[-2 * _LAST :] if one[1]]


def _leave_bracket(tail: str, match: re.Match[str]) -> str:
    """What follows a phrase, up to the end of the bracket in which both stand: "(Answer: 5)"; behind it where the bracket holds the phrase
    alone: `\\text{Answer: } 5`."""
    rest = tail[match.end() : match.end() + REACH]
    before = tail[tail.rfind("\n", 0, match.start()) + 1 : match.start()]
    if _TEXT_LABEL.search(before) and rest.lstrip("* ").startswith("}"):
        return rest.lstrip("* ")[1:]
    if before.count("(") <= before.count(")"):
        return rest
    depth = 0
    for place, sign in enumerate(rest):
        depth += (sign in "([") - (sign in ")]")
        if depth < 0:
            return rest[:place]
    return rest


def _read_last_label(tail: str, label: re.Match[str]) -> str | None:
    """The value after a short label on the last line; with the label's letter where that may be a choice and the value is no letter. None
    where the line is prose, or one of several choices."""
    choice = _ONE_CHOICE.fullmatch(label["value"].strip())
    if label["letter"] is None:
        return choice[1] if choice else _read_label(label["value"])
    if _OTHER_CHOICE.search(tail):
        return None
    value = choice[1] if choice else _read_label(label["value"])
    return value if choice or value is None else f"A: {last_side(value)}"


def has_announcement(tail: str) -> bool:
    """Whether a phrase announces an answer, be it none that can be read: "the answer is less than 5", "is the answer 5?"."""
    return _FIELD.search(tail) is not None or any(
        not (_says_nothing(tail, match) or _opens_work(match[0], tail[match.end() :]))
        for match in ANNOUNCED.finditer(tail)
    )


def find_later_value(text: str) -> str | None:
    """The value that text after a box calls the answer; None where it announces none."""
    value = None
    for match in list(_LATER.finditer(text))[-_LAST:]:
        given = _after(text[match.end() : match.end() + REACH])
        if given and (re.search(r"[\d\\$]", given) or len(given) == 1):
            value = given
    return value


def _says_nothing(tail: str, match: re.Match[str]) -> bool:
    """Whether a phrase announces nothing: it is under a condition, named or printed, or a heading."""
    is_heading = match[0] == "####" and _is_heading(tail[match.end() : match.end() + REACH])
    return is_heading or _refers_on(tail, match) or _is_quoted(tail, match)


def _refers_on(tail: str, match: re.Match[str]) -> bool:
    """Whether the phrase is under a condition: "if the answer is 5", "suppose the answer is 5"."""
    start = max(tail.rfind("\n", 0, match.start()), tail.rfind(". ", 0, match.start())) + 1
    return _CONDITION.search(tail, start, match.start()) is not None


def _is_quoted(tail: str, match: re.Match[str]) -> bool:
    """Whether quotation marks open right before the phrase, or code prints it: the form is named, `end with "ANSWER: X"`, not used."""
    before = tail[max(0, match.start() - 3) : match.start()]
    if re.search(r"\bprint\(f?[\"']", tail[tail.rfind("\n", 0, match.start()) + 1 : match.start()]):
        return True
    return re.search(r'["“”„«`]\**\Z', before) is not None and _FIELD.match(tail, max(0, match.start() - 1)) is None


def _opens_work(label: str, rest: str) -> bool:
    """Whether a label stands over a whole solution: a line break follows it, and several sentences."""
    stands_alone = "\n" in label or re.match(r"[*:\s]*\n", rest) is not None
    return stands_alone and len([part for part in SENTENCE.split(rest) if part and part.strip("* ")]) > 2


def _is_heading(rest: str) -> bool:
    """Whether the rest of a line after `####` is words with values below it: Markdown's heading, and no answer."""
    line, _, below = rest.partition("\n")
    if re.search(r"[\d$\\]", write_numbers(line)) or line.strip().lower() in SYNONYMS:
        return False
    return re.search(r"[\d$\\]", below) is not None and len(re.findall(r"[^\W\d_]{2,}", line)) > 1


def _after(rest: str) -> str | None:
    """The value straight after a phrase that announces it; a fence around it is skipped, and a JSON object has fields of its own."""
    rest = _FENCE.sub("", rest.lstrip(" *:\n："), count=1) if "```" in rest else rest
    if (bold := _BOLD_FIRST.match(rest)) is not None and (
        value := find_bold_value(bold[0].strip(" \n:：>"))
    ) is not None:
        return read_value(value)
    if (bullets := _BULLETS.match(rest)) is not None:
        return ", ".join(line.strip()[1:].strip() for line in bullets[0].strip().splitlines() if line.strip())
    rest = _LEADS_ON.sub("", _LEAD.sub("", rest, count=1))
    if rest[:1] == "{" and _FIELD.search(rest):
        return None
    display = re.match(r"(\$\$|\\\[)", rest)
    formula = FORMULA.match(rest)
    if display is not None and formula is not None:
        return formula_text(formula)
    sentence = next((part for part in SENTENCE.split(rest) if part and part.strip()), "").strip().strip("*").strip()
    if not sentence:
        return None
    count = _COUNT_OF.match(sentence)
    return read_value(count[1] if count else _OWN_CLAUSE.split(sentence, maxsplit=1)[0])


def _first(rest: str) -> str | None:
    """The value of the first sentence under a heading."""
    if value := _after(rest):
        return value
    sentence = next((part for part in SENTENCE.split(rest) if part and part.strip()), "").strip()
    if not sentence:
        return None
    stated = find_stated_value(sentence)
    if stated is not None and re.search(r"[\d$\\]", sentence) is None and re.search(r"\d", stated):
        stated = None  # a number in words may only count the thing that is named
    return stated or _read_label(sentence)


_ESCAPE = re.compile(r"\\(\\|[\"/]|n(?!(?:eq?|u|abla|ot|i|mid|leq|geq)(?![a-z]))|u[0-9a-fA-F]{4})")
_COMMAND = re.compile(r"(?<!\\)(?:\\\\)*\\(?!n(?![eui]))[A-Za-z]{2}")


def _unescape(text: str) -> str:
    """The text of a JSON field. Models write LaTeX's backslashes once or twice: where one stands alone before a command, none is doubled."""
    if "\\" not in text:
        return text
    if _COMMAND.search(text):
        return text.replace('\\"', '"')
    return _ESCAPE.sub(_unescaped, text)


def _unescaped(escape: re.Match[str]) -> str:
    sign = escape[1]
    return " " if sign == "n" else chr(int(sign[1:], 16)) if sign[0] == "u" else sign


def _read_label(text: str) -> str | None:
    """The value of a label or a field: as in a sentence, else the text as it stands where the verifier reads it or it names something, as
    "all real numbers" does."""
    if value := read_value(text):
        return value
    kind = answer_type(text)
    stands = kind not in ("text", "unrecognised") or (kind == "text" and not is_wordy(text))
    if stands and not is_hedged(text):
        return text
    return find_stated_value(text) if text.endswith(".") else None


def _read_field_with_unit(text: str) -> str | None:
    """As `_read_field`, a number with the unit that the same object gives in a field of its own, where the verifier reads the two together."""
    value, unit = _read_field(text), _UNIT_FIELD.search(text.partition("}")[0])
    if value is None or unit is None or not re.fullmatch(r"[-−]?\d[\d.,]*", value):
        return value
    whole = f"{value} {unit[1]}"
    return whole if answer_type(whole) not in ("text", "unrecognised") else value


def _read_field(text: str) -> str | None:
    """The value of a JSON field that `text` begins with, however badly its text is escaped; None for `null`, and where it is cut off."""
    if text[:1] in ('"', "'"):
        ends = (at for at in range(1, len(text)) if text[at] == text[0] and _FIELD_END.match(text, at + 1))
        end = next((at for at in ends if text[at - 1] != "\\" or text[at - 2 : at] == "\\\\"), None)
        if end is None:
            unclosed = _UNCLOSED.fullmatch(text)
            return _read_label(unclosed[1]) if unclosed else None
        return _read_label(_unescape(text[1:end]).strip())
    if text[:2] == "[[" and "]]" in text:
        return text[: text.index("]]") + 2]
    if text[:1] == "[" and "]" in text:
        items = re.findall(r"""\"[^\"]*\"|'[^']*'|[^,\s\"']+""", text[1 : text.index("]")])
        return ", ".join(item.strip("\"'") for item in items) or None
    if (inner := _INNER_FIELD.match(text)) is not None:
        return _read_field(text[inner.end() :])
    value = re.match(r"[^,}\]\n\"{\[]+", text)
    return value[0].strip() if value and value[0].strip().lower() not in ("null", "none") else None
