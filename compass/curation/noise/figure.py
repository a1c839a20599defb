"""Figures that the text depends on and does not hold, or holds as drawing code.

A figure is missing where the text refers to one definite picture, graph or table ("in the diagram", "the spinner shown",
"the following table") and holds none. A picture that the text itself introduces ("Anna draws a figure …"), a table or
formula that stands in the text, and other senses of the words (the image of a map, a prize drawing, the number shown on
a die) are no figures that miss.

Drawing code beside a text that is whole without it only illustrates. The text needs it where it refers to a figure, points at
something ("the following lattice", "the gray region"; an "as shown" behind a whole sentence alone does not), or where the drawing alone holds a length, an angle or another label that is no point's name.
"""

from __future__ import annotations

import re

from compass.curation.noise.finding import Finding, Strength, found
from compass.curation.noise.text import holds_any, without_figures
from compass.settings import Denoise
from compass.settings.denoise import NoiseReason

_CODE = re.compile(r"\[/?asy\]|\\begin\{(?:asy|tikzpicture|pspicture|picture)\}|\\psset|\bdraw\(\(", re.I)
_CODE_GUARDS = ("asy", "\\begin{", "\\psset", "draw((")
_LABEL = re.compile(
    r'\blabel\(\s*(?:[\w.]+\([^"()]*\)\s*\*\s*)?"([^"]*)"|\\(?:rput|uput|put)\b[^{}]*\{([^{}]*)\}|\bnode\b[^{};]*\{([^{}]*)\}'
)
_POINTS_AT_A_DRAWING = re.compile(
    r"\b(?:shown|pictured|indicated|marked|following|here|below(?! the\b| \\?[$(])|gr[ae]y|darker|lighter|dashed|dotted)\b",
    re.I,
)
_AS_SHOWN = re.compile(
    r"(?<!\barranged)(?<!\bplaced)(?<!\boccupied)(?<!\bpainted)(?<!\bshaded)(?<!\bcolored)(?<!\bdivided)(?<!\bcut)(?<!\bjoined)(?<=[\w$)}])"
    r",?\s+as (?:is )?(?:shown|pictured|depicted|illustrated|drawn)\b(?: (?:below|above|here|(?:in|on) the (?:figure|diagram|picture)(?: (?:below|above|shown))?))?"
    r"(?=\s*[.,;:]|\s+(?:so|and|with|where)\b|\s*$)",
    re.I,
)
"""Says where to see what its sentence has said already: "… crisscross between the eyelets as shown."; behind "arranged" and the like it
says how."""
_NUMBER = re.compile(r"(?<![\w/.])\d+(?:\.\d+)?(?![\w/])")
_ENOUGH_WORDS = 25
_POINT_NAME = re.compile(r"[A-Za-z](?:_?\d|')*|O_\{?\d\}?|")

_PICTURE = (
    r"(?:figures?|diagrams?|pictures?|drawings?|illustrations?|images?|sketch(?:es)?|photos?|photographs?|schematic)\b"
)
_CHART = (
    r"(?:(?:bar|line|circle|pie|flow)[ -]?(?:graphs?|charts?)|graphs?|charts?|plots?|box[- ]?plots?|dot[- ]?plots?|histograms?|"
    r"maps?|scatter ?plots?)\b"
)
_TABLE = r"(?:tables?|chart|list|menu|schedule|calendar|program|code|stem-and-leaf plot)\b"
_SHAPE = (
    r"(?:(?:oct|hex|pent|poly|non|dec)agons?|(?:right |isosceles |equilateral )?triangles?|squares?|rectangles?|circles?|semicircles?|"
    r"trapezoids?|trapeziums?|parallelograms?|quadrilaterals?|rhombus|kite|shapes?|stars?|grids?|boards?|clocks?|spinners?|dials?|"
    r"thermometer|nets?|cubes?|solids?|prisms?|pyramids?|dots|number line|tracks?|mazes?|puzzles?|patterns?|tilings?|tiles?|regions?|"
    r"curves?|parabolas?|networks?|paths?|roads?|array|logo|scale|ruler|arrows?|angles?|lines?|coins|bills|cards|symbols|objects|blocks|buildings?|staircase|flags?|figures?)\b"
)
_PLACE = (
    r"(?:(?:below|above)(?! (?:the|an?|this|its|each|these|that)\b| \$)|here|at (?:the )?(?:right|left|top|bottom|side)"
    r"(?!-| (?:of|angle|triangle|focus|end|vertex|side)\b)|on the (?:right|left)(?! (?:side|hand|of|half|end)\b)"
    r"|to the (?:right|left)(?! (?:by|of|until|so|end|side)\b| \$?\d| \$))\b"
)
_SHOWN = r"(?:shown|seen|pictured|illustrated|depicted|drawn|displayed|given|presented|sketched|indicated|provided)"
_THE = r"(?:the|this|these|each|both|following|given|adjoining|accompanying|adjacent|attached|enclosed|provided|corresponding)"
_ADJECTIVES = r"(?:(?!of\b|and\b|is\b|are\b|has\b|to\b|in\b|on\b)[\w-]+ ){0,2}?"

# What a depicted thing does; "the figure has area 6" says no more than "it has".
_SHOWS = r"(?:shows?|depicts?|illustrates?|represents?|displays?|gives?|indicates?|lists?|consists?|contains?|is (?:made|formed|composed|constructed|divided|an? )|are (?:made|formed|composed))\b"

# (kind, whether a demonstrative alone may mean what was just described, pattern)
_PICTURES = re.compile(
    rf"\b(?:in|on|from|see|at|with|using|by|to|refer to|consider|of) (?:the |this |these )?{_THE} {_ADJECTIVES}(?P<a>{_PICTURE})"
    rf"|\b(?:as|is|are|was|were) (?:\w+ )?{_SHOWN} (?:in|on|by|below in) (?:the |this )?{_ADJECTIVES}(?P<b>{_PICTURE})"
    rf"|\b{_THE} (?:\w+ )?(?P<c>{_PICTURE}) (?:\w+ )?(?:{_PLACE}|{_SHOWN}\b|{_SHOWS})"
    rf"|\b(?:following|adjoining|accompanying|attached|enclosed|(?:see|cf\.?)(?: the)?) (?:\w+ )?(?P<d>{_PICTURE})"
    rf"|\b(?:fig|figure|diagram|picture)\.? ?\(?\$?[A-Z]?[1-9]\b|\bsee (?:the )?fig\b"
    rf"|\bbelow (?:is|are) (?:pictured|shown|drawn|(?:an?|the) (?:\w+ ){{0,4}}?(?:picture|diagram|graph|map|sketch|figure))",
    re.I,
)
_CHARTS = re.compile(
    rf"\b(?:the|this|following) {_ADJECTIVES}(?:{_CHART}) (?:\w+ )?(?:{_PLACE}|shows?\b|depicts?\b|illustrates?\b|(?:{_SHOWN})\b(?! by))"
    rf"|\b(?:shown|given|depicted|displayed|illustrated) (?:in|on|by) (?:the |this )(?:following )?{_ADJECTIVES}{_CHART}(?! of \$)"
    rf"|\b(?:according to|based on|(?:in|on|from) the (?:following|bar|line|circle|pie|given)) (?:the |this )?(?:\w+ )?(?:{_CHART})(?! of \$)"
    rf"|\bgraphs? of [^.?;]{{1,60}}? (?:is|are) (?:shown|pictured|sketched|displayed) ?(?:{_PLACE}|[.,;])"
    rf"|\b(?:is|are) shown (?:[\w$]+ ){{1,3}}(?:below|above|here)\b",
    re.I,
)
_SHAPES = re.compile(
    rf"\b(?:the|this|these|of|each|following) {_ADJECTIVES}(?:{_SHAPE} and )?(?:{_SHAPE}) (?:[\w$]+ )?(?:(?:pictured|depicted|illustrated)\b|{_PLACE})"
    rf"|\b(?:the )?following (?:[\w-]+ )?(?:grids?|boards?(?! games?)|mazes?|spinners?|dials?|clocks?|number lines?|nets?|crossword|magic squares?)\b"
    rf"|\b(?:shown|seen|pictured|depicted|drawn|illustrated) {_PLACE}"
    rf"|\b(?:as|is|are) (?:shown|pictured|illustrated|depicted|drawn|sketched)(?= *[.,;:?)]| (?:here|below|above|at|and|with|so|where|to form)\b)"
    rf"|\bas (?:shown|pictured|illustrated|depicted|indicated)\b(?! (?:by|in)\b| on (?:the|an?|each|its|his|her) (?!right\b|left\b|{_SHAPE}|{_PICTURE}|{_CHART}))"
    rf"|\bas (?:shown|depicted|illustrated) in (?:this|the) (?:[\w-]+ )?(?:view|layout|arrangement|plan|map|graph|grid)\b",
    re.I,
)
_TABLES = re.compile(
    rf"\b(?:the|this) (?:[\w-]+ ){{0,2}}?{_TABLE} (?:{_PLACE}|{_SHOWN} {_PLACE}|(?:shows?|lists?|gives?|summari[sz]es|displays?|records?|indicates?)\b(?! him| her| them))"
    rf"|\b(?:the )?following {_ADJECTIVES}{_TABLE}"
    rf"|\b(?:shown|given|listed|summari[sz]ed|recorded|displayed|as) (?:in|on|by) (?:the|this) (?:following )?(?:[\w-]+ )?(?:table|chart|list|calendar|schedule)\b"
    rf"|\b(?:according to|using|based on|use) the (?:following |given )?(?:\w+ )?table\b",
    re.I,
)
# "the spinner shown", "… is shown." — but not "the number shown on a die" or "it can be shown that".
_OBJECT_SHOWN = re.compile(
    rf"\b({_SHAPE}) shown\b(?! (?:that|to|by|on|in (?:a|an|each|every|one)|when|each)\b)"
    r"|\b([\w$}\\]+,?) shown\b(?= *[.,;:?)]|$| (?:is|are|has|have|can|in the|with|was|consists?|at|there|there's|how|what)\b)(?! (?:in (?:a|an|total|each|every|one)\b|on (?:the|each|its)))",
    re.I,
)
_NOT_SHOWN_WORDS = (
    "number numbers value values point points time times gestures face faces outcome outcomes result results order terms be been "
    "was were is are later digit digits side sides have has had movies films process steps work not answer scores total sum "
    "dots pips heads tails letter letters card cards that already previously it as we"
)
_NOT_SHOWN = frozenset(_NOT_SHOWN_WORDS.split())

# Each pattern with pieces of text of which a match holds one, as cheap guards.
_PICTURE_WORDS = (
    "figure",
    "diagram",
    "picture",
    "drawing",
    "illustration",
    "image",
    "sketch",
    "photo",
    "schematic",
    "fig.",
    "fig ",
    "below is",
    "below are",
)
_CHART_WORDS = ("graph", "chart", "plot", "histogram", " map", " shown ")
_TABLE_WORDS = ("table", "chart", " list", "menu", "schedule", "calendar", "program", " code", "-leaf plot")
_SHAPE_WORDS = (
    "shown", "pictured", "depicted", "illustrated", "indicated", "drawn", "sketched", "below", "above", "at right", "at left", "following",
    "at the right", "at the left", "at the top", "at the bottom", "on the right", "on the left", "to the right", "to the left",
)  # fmt: skip

_IN_TEXT = re.compile(
    r"\\begin\{(?:tabular|array|[a-zA-Z]*matrix|align|cases|verbatim|lstlisting|enumerate|itemize)|\|\s*:?-{2,}|```|\\hline|\|[^|\n]{0,80}\|[^|\n]{0,80}\|"
    r"|(?:(?:^|\n)[^|\n]{1,80}(?: \| [^|\n]{1,80}){1,9}(?=\n)){3}"
    r"|(?:^|\n)[^\n]*\t[^\n]*\t|<t[dr]\b|(?:\n[^\S\n]*[-\d.,]+(?:[^\S\n]+[-\d.,…]+){2,}[^\S\n]*){2}",
)
_DISPLAY = re.compile(
    r"\\\[|\$\$|\\begin\{(?:equation|gather|align|multline)|:\s*\$|:\s*\\\(|:\s*[-\d\"“(\[{]|:\s*\n(?!\s*!\[)|^\s*[-*•] ",
    re.M,
)

_POINTED = re.compile(rf" ?(?:{_PLACE}|{_SHOWN}\b|following\b|adjoining\b|accompanying\b|attached\b|enclosed\b)", re.I)
_UNSEEN_CHART = re.compile(
    r"\ban? (?:bar |pie |line |circle )?(?:graph|chart|diagram|figure|picture|map|histogram) (?:shows|depicts|illustrates|is shown|below)\b",
    re.I,
)

# Words of other senses beside the word: what is left is no picture.
_MAPPED = re.compile(
    r"\bimages? (?:of|under|is (?:the|a)? ?(?:point|circle|triangle|line)|points?|circle|triangle|line|set|is \$|has|have|distance)|\b(?:reflect|rotat|translat|dilat|transform|mirror|lens|homothety|linear map|mapped|mapping|preimage|pre-image)",
    re.I,
)
_LOTTERY = re.compile(
    r"\b(?:lotter|raffle|ticket|prize|lots?\b|cards?\b|balls?\b|urn|marbles?|winner|participants?)", re.I
)
_GERUND = re.compile(r"\s+(?:an?|the|two|three|four|one|from|out|at least|exactly|lots?|cards?|balls?|\$?\d)\b", re.I)
_SENSE_AFTER = re.compile(
    r"\s*(?:of speech|frame|cards?|book|eight|skat|out\b|(?:bounded|enclosed|formed|obtained|defined|described|consisting|with vertices|whose|that|which|composed|of rotation|of revolution|in the (?:complex|coordinate)|on the (?:complex|coordinate))\b)",
    re.I,
)
_SENSE_BEFORE = re.compile(
    r"\b(?:significant|action|stick|resulting|plane|geometric(?:al)?|solid|sum of the|product of the|new|formed|obtained|sales|these two|such|each|both) $",
    re.I,
)

_SHADED = re.compile(
    r"\b(?:what|how|find|determine|calculate)\b[^.?]*\b(?:area|fraction|percent\w*|part|portion|region|square|perimeter|many)\b[^.?]*\b(?:is|are) shaded\b"
    r"|\b(?:the|of|unshaded|total|each|two) (?:(?!un)\w+ )?shaded \w+",
    re.I,
)
_SHADES = re.compile(
    r"\b(?:is|are|be|were|was|we|and)(?: \w+)? shaded\b|\bshaded (?:so|by|in|if|red|grey|gray|blue)\b|\bshad(?:es?|ing)\b"
)
_SHADING_SAID = re.compile(
    r"\b(?:inside|outside|between|within|but not|except|common to|bounded by|formed by|enclosed by|consist\w*|remaining|exterior|interior|which is|excluding|contained)\b",
    re.I,
)
_CHINESE = re.compile(r"如图|下图|图中|右图|左图|上图|图所示|图形中|下表|统计图")


def figure(record: dict, settings: Denoise) -> Finding | None:
    """Drawing code, or a reference to a figure that the text does not hold."""
    text = record["problem"]
    code = _CODE.search(text) if holds_any(text, _CODE_GUARDS) else None
    if code and settings.drawing_code == "keep":
        return None
    if code is None:
        return _missing(record, text)
    needed = not stands_alone(_AS_SHOWN.sub("", without_figures(text))) or _holds_data(text)
    return found(NoiseReason.FIGURE, Strength.SURE if needed else Strength.POSSIBLE, record, code, kind="code")


def stands_alone(text: str) -> bool:
    """Whether a text neither speaks of a figure nor points at anything, and says enough to be a problem without one."""
    said = len(_NUMBER.findall(text)) >= 2 or len(text.split()) >= _ENOUGH_WORDS
    return said and not _POINTS_AT_A_DRAWING.search(text) and _missing({"problem": text}, text) is None


def _missing(record: dict, plain: str) -> Finding | None:
    """A figure or shading that the text, with blanks for its drawing code, speaks of and does not hold."""
    lowered = plain.lower()
    finding = _reference(record, plain, lowered)
    if (finding is None or finding.strength == Strength.POSSIBLE) and "shaded" in lowered:
        finding = _shading(record, plain, lowered) or finding
    if finding is None and not plain.isascii() and (match := _CHINESE.search(plain)):
        finding = found(NoiseReason.FIGURE, Strength.LIKELY, record, match, kind="reference")
    return finding


def _holds_data(text: str) -> bool:
    """Whether a label of the drawing code is neither a point's name nor said in the text."""
    said = _bare(without_figures(text))
    labels = (_bare(next(filter(None, label.groups()), "")) for label in _LABEL.finditer(text))
    return any(not _POINT_NAME.fullmatch(label) and label not in said for label in labels)


def _bare(text: str) -> str:
    return re.sub(r"[\s$^{}]|\\(?:circ|text|mathrm|tiny|small|scriptsize|footnotesize)(?![A-Za-z])|\\[,;!()]", "", text)


def _reference(record: dict, text: str, lowered: str) -> Finding | None:
    doubt = None
    if holds_any(lowered, _PICTURE_WORDS):
        for match in _PICTURES.finditer(text):
            strength = _picture(match, text)
            if strength == Strength.LIKELY:
                return found(NoiseReason.FIGURE, strength, record, match, kind="reference")
            if strength and not doubt:
                doubt = found(NoiseReason.FIGURE, strength, record, match, kind="reference")
    for pattern, words in (
        (_CHARTS, _CHART_WORDS),
        (_TABLES, _TABLE_WORDS),
        (_SHAPES, _SHAPE_WORDS),
        (_OBJECT_SHOWN, (" shown",)),
    ):
        if not holds_any(lowered, words):
            continue
        for match in pattern.finditer(text):
            if pattern is _OBJECT_SHOWN and (match[1] or match[2]).rstrip(",").lower() in _NOT_SHOWN:
                continue
            if _held(text, match) or (pattern is _SHAPES and _in_words(match, text)):
                continue
            return found(NoiseReason.FIGURE, Strength.LIKELY, record, match, kind="reference")
    if (
        doubt is None
        and holds_any(lowered, (*_PICTURE_WORDS, *_CHART_WORDS))
        and (match := _UNSEEN_CHART.search(text))
        and not _held(text, match)
    ):
        doubt = found(NoiseReason.FIGURE, Strength.POSSIBLE, record, match, kind="reference")
    return doubt


def _picture(match: re.Match[str], text: str) -> Strength | None:
    """How sure it is that a definite picture is meant, and that the text neither holds nor introduces it."""
    name = next((group for group in "abcd" if match[group]), "")
    if not name:
        return Strength.POSSIBLE if _IN_TEXT.search(text) else Strength.LIKELY
    noun, end = match[name].lower(), match.end(name)
    before, after = text[max(0, match.start(name) - 20) : match.start(name)], text[end : end + 30]
    if (_SENSE_AFTER.match(after) and not re.search(_PLACE, match[0], re.I)) or _SENSE_BEFORE.search(before):
        return None
    if noun.startswith("image") and _MAPPED.search(text):
        return None
    if noun.startswith("drawing") and (_GERUND.match(after) or _LOTTERY.search(text)):
        return None
    if _introduced(noun, text[: match.start()]):
        return None
    pointed = _POINTED.search(match[0]) or _POINTED.match(after)
    if noun.startswith("photo") and not pointed:
        return None  # a thing of the story: "likes on the photo"
    if name == "a" and re.match(r"of\b", match[0], re.I) and not pointed:
        return None if noun.startswith(("picture", "photo")) else Strength.POSSIBLE
    if _IN_TEXT.search(text):
        return Strength.POSSIBLE
    if re.search(r"\bth(?:is|ese)\b", match[0], re.I) and not pointed and match.start() > 60:
        return Strength.POSSIBLE  # "this figure" may be what was just described
    return Strength.LIKELY


def _introduced(noun: str, before: str) -> bool:
    """Whether the text before speaks of such a picture as something new: "a picture", "each picture", "draws a figure"."""
    stem = noun.rstrip("s").removesuffix("e") if noun.startswith("sketch") else noun.rstrip("s")
    return bool(
        re.search(
            rf"\b(?:an?|another|every|any|some|one|two|three|four|several|many|his|her|their|its|\d+)\s+(?:[\w$\\-]+\s+){{0,4}}?{stem}\w*"
            rf"(?!\s+(?:below|above|show|is shown|are shown|at (?:the )?(?:right|left)))",
            before,
            re.I,
        )
    )


def _held(text: str, match: re.Match[str]) -> bool:
    """Whether what is pointed at stands in the text: a table, an array, a list or a displayed formula near the match."""
    if _IN_TEXT.search(text):
        return True
    if re.search(r"pictured|depicted|illustrated|drawn|graph", match[0], re.I):  # no formula is pictured
        return False
    return bool(_DISPLAY.search(text, match.start(), match.end() + 250))


def _in_words(match: re.Match[str], text: str) -> bool:
    """Whether "as shown" points at words or a device: "as shown by the formula", "is shown on the screen"."""
    said = match[0].lower()
    if said.startswith(("is shown", "are shown", "is drawn", "are drawn", "is indicated", "are indicated")):
        before = text[max(0, match.start() - 40) : match.start()].lower()
        if said.split()[1] == "drawn" and not re.search(_PLACE, said):
            return True  # "a chord is drawn" is an act
        words = before.split()
        return bool(words) and words[-1].strip("$,") in _NOT_SHOWN
    if said == "as shown" and re.search(r"\\[lc]?dots|\.\.\.|…", text[: match.start()]):
        return True  # a pattern of terms, as shown
    return said.startswith("drawn") and not re.search(r"below|above|here", said)


def _shading(record: dict, text: str, lowered: str) -> Finding | None:
    """Shading that is asked for: missing where the text says nothing of what is shaded."""
    match = _SHADED.search(text)
    if not match or any(not match.start() <= said.start() < match.end() for said in _SHADES.finditer(lowered)):
        return None
    sure = lowered.count("shaded") == 1 and not _SHADING_SAID.search(text)
    return found(NoiseReason.FIGURE, Strength.LIKELY if sure else Strength.POSSIBLE, record, match, kind="shading")
