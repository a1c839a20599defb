r"""Texts that are no whole problem: too short or long, damaged, cut off, or debris of a web page with its images and links.

A tab before "rac" is `\frac` here and `\sqrt` there, and `compass.sources.repair` mends what it can; a control character without a known
command after it is anything. Tabs and line ends before a word are no damage: `\tan` read as a tab and "an" counts only where it
was repaired, in a formula. A last line such as "the area is" is a sentence to complete, as contests print them, and whole.
"""

from __future__ import annotations

import re
from unicodedata import east_asian_width

from compass.curation.noise.figure import stands_alone
from compass.curation.noise.finding import Finding, Strength, found
from compass.curation.noise.text import ASK, excerpt, holds_any, sentences, without_figures
from compass.settings import Denoise
from compass.settings.denoise import NoiseReason

_CALCULATION = re.compile(
    r"(?:[\d)}|\w])\s*(?:[-+*/×÷·^:=<>√%]|\\(?:cdot|times|div|pm))\s*\S|\\(?:frac|dfrac|sqrt|binom)\b|√|\|.*\|"
)
_RESULT_ASKED = re.compile(r"=[\s$.．。?？_()（）\\\]]*\Z")


def too_short(record: dict, settings: Denoise) -> Finding | None:
    """Fewer characters than `denoise.min_problem_chars`, those of East Asian width counted twice, and no calculation whose result is asked for."""
    # A character of Chinese, Japanese or Korean says as much as several letters.
    length = sum(
        2 if east_asian_width(char) in "WF" else 1 for char in record["problem"].strip()[: settings.min_problem_chars]
    )
    if length >= settings.min_problem_chars:
        return None
    text = record["problem"]
    if (_RESULT_ASKED.search(text) or ASK.search(text) or "多少" in text) and _CALCULATION.search(text):
        return None  # "2.8 / 0.7 =" is a whole problem
    return Finding(
        NoiseReason.TOO_SHORT,
        Strength.SURE,
        {"characters": length, "limit": settings.min_problem_chars, "text": record["problem"]},
    )


def too_long(record: dict, settings: Denoise) -> Finding | None:
    """More characters than `denoise.max_problem_chars`."""
    length = len(record["problem"])
    if length <= settings.max_problem_chars:
        return None
    return Finding(NoiseReason.TOO_LONG, Strength.SURE, {"characters": length, "limit": settings.max_problem_chars})


_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_EATEN = re.compile(
    r"\t(?:imes\b|heta\b|herefore\b|riangle|ilde\b|ext(?:bf|it|rm)?(?=\{)|f?rac(?=\s?[{\d]))|\r(?:ight(?![a-z])|ho\b|(?<=\{\r)m\b)|\n(?:eq|abla|otin)\b"
)
_BEHEADED = re.compile(
    r"(?<![A-Za-z\\])(?:rac(?=\s?\{)|imes\b|heta\b|qrt(?=\s?[\[{])|ext(?=\{)|egin(?=\{)|oxed(?=\{)|ightarrow\b)"
)  # what is left of a command where the control character went as well; none of them begins a word
_DECODED_TWICE = re.compile(
    r"\ufffd|[\ue000-\uf8ff]|Ã[\u0080-\u00bf]|â(?:€[\u0080-\uffff]|\u0080)|Â[\u00a0-\u00bf]|ï»¿"
)
_BEHEADED_GUARDS = ("rac", "imes", "heta", "qrt", "ext{", "egin{", "oxed{", "ightarrow")


def encoding(record: dict, settings: Denoise) -> Finding | None:
    """Damaged characters in the problem or its answer."""
    for field in ("problem", "answer"):
        text = record.get(field) or ""
        match = None
        # `isprintable` is false for line ends as well, and otherwise as fast as a comparison.
        if not text.isprintable():
            match = _CONTROL.search(text) or _EATEN.search(text)
        if not match and not text.isascii():
            match = _DECODED_TWICE.search(text)
        if not match and holds_any(text, _BEHEADED_GUARDS):
            match = _BEHEADED.search(text)
        if match:
            return Finding(
                NoiseReason.ENCODING,
                Strength.SURE,
                {"field": field, "found": ascii(match[0]), "text": excerpt(text, *match.span())},
            )
    return None


# No "is", "of", "that", "if", "to", "for", "with": sentences to complete end so. A comma behind a number may end a sequence, "a" behind
# "of", "is" or "for" is a variable, and "given" behind a noun is a participle.
_OPEN_END = re.compile(
    r"(?:(?<!\d)[,，]|[(\[]|(?<![\w$\\])(?:and|or|the|an|where|because|which|whose|let|suppose|(?<!\bof )(?<!\bis )(?<!\bfor )a|(?<![a-z] )given))\s*\Z"
)
_DEMANDS = re.compile(
    r"\W*(?:find|determine|calculate|compute|evaluate|what|how)\b(?!.*(?:such that|where|if)\b)", re.I | re.S
)
_ENVIRONMENT = re.compile(r"\\(begin|end)\{(\w+\*?)\}")
_DISPLAY_OPENS = re.compile(r"(?:^|[\s.,:;?!a-z])\\\[(?!.*\\\])", re.S)


_VALUE_LOST = re.compile(
    r"\b(?:is|was|at|of|by|equals) (?:How (?:many|much|long|far|fast|high)|Find|Calculate|Determine|Her|His|Its|What is) [a-z]"
)
"""A new sentence behind a word that a value follows: "where the speed of sound is How long after …"."""
_MAY_LOSE = re.compile(r" [HFCDIW](?:(?<=\b(?:is|at|of|by) .)|(?<=\bwas .)|(?<=\bequals .))")
"""Asked first, as `_OPEN_LAST` is: most of a text is passed over at its first sign."""
_OPEN_LAST = frozenset(",，([drenhta")
"""What `_OPEN_END` ends with."""


def truncated(record: dict, settings: Denoise) -> Finding | None:
    """A text that stops before its sentence or formula ends, or lost the value at which a sentence ends."""
    text = record["problem"].rstrip()
    if _MAY_LOSE.search(text) and (match := _VALUE_LOST.search(text)):
        return found(NoiseReason.TRUNCATED, Strength.LIKELY, record, match, found="a sentence without its value")
    if text.endswith("\\"):
        return Finding(NoiseReason.TRUNCATED, Strength.SURE, {"end": text[-60:], "found": "half a closing delimiter"})
    if text[-1:] in _OPEN_LAST and (match := _OPEN_END.search(text[-12:])):
        # "Find the sum of all such $k$," asks for all that it wants to know, and ends in a wrong sign.
        whole = match[0].strip() in (",", "，") and _DEMANDS.match(sentences(text)[-1])
        strength = Strength.POSSIBLE if whole else Strength.SURE
        return Finding(NoiseReason.TRUNCATED, strength, {"end": text[-60:], "found": match[0]})
    if "\\begin{" in text and (name := _unclosed(without_figures(text))):
        return Finding(
            NoiseReason.TRUNCATED, Strength.SURE, {"end": text[-60:], "found": f"\\begin{{{name}}} without its end"}
        )
    if "$" not in text and text.rfind("\\[") > text.rfind("\\]") and _DISPLAY_OPENS.search(text):
        return Finding(NoiseReason.TRUNCATED, Strength.SURE, {"end": text[-60:], "found": "\\[ without \\]"})
    return None


def _unclosed(text: str) -> str:
    depth: dict[str, int] = {}
    for kind, name in _ENVIRONMENT.findall(text):
        depth[name] = depth.get(name, 0) + (1 if kind == "begin" else -1)
    return next((name for name, count in depth.items() if count > 0), "")


_MARKUP = re.compile(
    r"</?(?:br|p|div|span|sub|sup|b|i|u|em|strong|details|summary|table|tr|td|th|ul|ol|li|font|center|h[1-6]|hr|code|pre|blockquote)\s*/?>"
    r"|<(?:div|span|table|td|font|p)\s+\w+\s*=|&(?:nbsp|lt|gt|amp|quot|times|le|ge|deg|#\d{2,5}|#x[0-9a-f]{2,4});"
    r"|(?<!\\)\[/?(?:i|b|u|hide|center|quote|list|code|tex|latex|tip|youtube|right|left|color|size)\]"
    r"|(?<!\\)\[(?:color|size|quote|hide|list|font|youtube)=[^\]]*\]"
    r"|\\(?:plus|minus|equal)\{\}|use hide for answers|\\section\*?\{|\\begin\{document\}",
    re.I,
)
# `[i]` alone may be an index and `a<b>c` two inequalities: such tags count with their closing ones only.
_OPEN_ALONE = re.compile(r"\[(?:i|b|u|right|left|list|code|size)\]|<[ibup]>", re.I)
_MARKUP_GUARDS = ("<", "[", "&", "{}", "hide", "\\section", "\\begin{")


def markup(record: dict, settings: Denoise) -> Finding | None:
    """Debris of a web page or a forum."""
    text = record["problem"]
    if not holds_any(text, _MARKUP_GUARDS):
        return None
    for match in _MARKUP.finditer(text):
        closing = match[0][0] + "/" + match[0][1:]
        if not _OPEN_ALONE.fullmatch(match[0]) or closing in text:
            return found(NoiseReason.MARKUP, Strength.SURE, record, match, found=match[0])
    return None


_LINK = re.compile(
    r"\b(?:https?|ftp)://|\bwww\.\w|\\(?:url|href)\s*\{|\[url\b|<a\s+href|\]\((?:/|mailto:|#)\w"
    r"|\b[\w-]+\.(?:com|org|net|edu|ru|cn|io)/\w",
    re.I,
)
_LINK_GUARDS = (
    "://",
    "www.",
    "\\url",
    "\\href",
    "[url",
    "href",
    "](",
    ".com/",
    ".org/",
    ".net/",
    ".edu/",
    ".ru/",
    ".cn/",
    ".io/",
)


def link(record: dict, settings: Denoise) -> Finding | None:
    """A hyperlink in any markup."""
    text = record["problem"]
    lowered = text.lower()
    if not holds_any(lowered, _LINK_GUARDS):
        return None
    match = _LINK.search(text)
    return match and Finding(NoiseReason.LINK, _beside(text, match), {"text": excerpt(text, *match.span())})


def _beside(text: str, match: re.Match[str]) -> Strength:
    """How sure it is that the text needs what it embeds or links: not where that stands on a line behind the whole problem."""
    before = text[: text.rfind("\n", 0, match.start()) + 1]
    return Strength.POSSIBLE if ASK.search(before) and stands_alone(before) else Strength.SURE


_IMAGE = re.compile(
    r"!\[[^\]]*\]\s*\(|!\[[^\]]*\]\[|<img\b|<image(?:[\s_-]?\d+)?\b|<svg\b|\\includegraphics\b|\[/?img\b|data:image/"
    r"|[\w/%-]\.(?:png|jpe?g|gif|svg|bmp|webp|tiff?)\b|\[image\]|<figure\b|attachments?/",
    re.I,
)
_IMAGE_GUARDS = (
    "![",
    "<",
    "graphics",
    "img",
    "image",
    ".png",
    ".jp",
    ".gif",
    ".svg",
    ".bmp",
    ".webp",
    ".tif",
    "attachment",
)


def image(record: dict, settings: Denoise) -> Finding | None:
    """An embedded or linked picture."""
    text = record["problem"]
    lowered = text.lower()
    if not holds_any(lowered, _IMAGE_GUARDS):
        return None
    match = _IMAGE.search(text)
    return match and Finding(NoiseReason.IMAGE, _beside(text, match), {"text": excerpt(text, *match.span())})
