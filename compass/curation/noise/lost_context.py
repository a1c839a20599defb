"""Problems that lean on something outside: another problem or part, a numbered theorem, a passage, the contest itself.

A reference to something that the text holds, such as "part (a)" behind a part (a), and stories about people who solve
problems are whole.
"""

from __future__ import annotations

import re

from compass.curation.noise.finding import Finding, Strength, found
from compass.curation.noise.text import ANSWER_TOLD, holds_any
from compass.settings import Denoise
from compass.settings.denoise import NoiseReason

_TASK = r"(?:problems?|questions?|exercises?|tasks?|puzzles?|parts?|items?|examples?)"
_BEFORE = r"(?:previous|preceding|last|prior|earlier|foregoing|above|other|next|following)"
_NUMBER = r"(?:\(?[#№]?\s?\$?\d+(?:\.\d+)*[a-z]?\$?\)?|\([a-hivx]+\)|[A-D]\b|[IVX]+\b|one\b|two\b|three\b)"
_OUTSIDE = re.compile(
    # the answer of another problem
    rf"\b(?:answers?|solutions?|results?|values?|outputs?|responses?) (?:to|of|from|in|for|obtained in|found in) (?:the |your |each |both )?(?:{_BEFORE} (?:\w+ )?)?{_TASK} {_NUMBER}"
    rf"|\b(?:answers?|solutions?|results?|values?) (?:to|of|from|in|for) (?:the |your )(?:{_BEFORE}) (?:(?!two|three|four|five|six|\d)\w+ )?{_TASK}\b"
    rf"|\b(?:using|from|in|of|see|by|continuing|use|as in|defined in|for|refer(?:ring)? to|setting of|notation of|assumptions of|conditions of|context of|than in) (?:the )?(?:(?:previous|preceding|prior|earlier|foregoing) (?:\w+ )?(?:problem|question|exercise|part|example|subsection|section|item)s?|last (?:problem|question|exercise))\b(?! of (?:a|an|the|his|her|their)\b)"
    rf"|\b(?:defined|described|given|stated|introduced|mentioned|as|found|obtained|considered|discussed|balls|graph|function|setting|game|set-up|setup|situation)(?: (?:of|from|in))? (?:{_TASK}) (?:\(?\d+(?:\.\d+)*\)?|\([a-h]\))"
    rf"|\b(?:in|from|of|see) (?:{_TASK}) (?:\d+\.\d+|\([a-h]\)|[#№]\s?\d+)"
    rf"|\b(?:the )?(?:{_TASK}) (?:above|before this|preceding this)\b"
    # numbered statements
    r"|\b(?:theorem|lemma|proposition|corollary|definition|section|chapter|appendix|exercise|equation|eq\.|formula) \(?(?:\d+\.\d+(?:\.\d+)*|[A-Z]\.\d+)\)?"
    r"|\b(?:the |this )?(?:above|preceding|previous|foregoing) (?:theorem|lemma|proposition|corollary|exercise|example|passage|text|article|story|discussion|paragraph)\b"
    # files beside the text
    r"|[(<\[](?:see )?(?:the )?attached\b[^)>\]\d]{0,40}[)>\]]"
    # passages
    r"|\b(?:according to|based on|in|from|read) the (?:passage|article|story|text|reading|essay|letter|paragraph)(?! of\b| message)(?: (?:above|below))?\b"
    # relays and the contest itself
    # "the number you will receive", "the number from the preceding problem": acronyms, with blanks between the letters or without
    r"|\bT ?N ?(?:Y ?W ?R|F ?T ?P ?P)\b|\bthe number you will receive\b"
    r"|\bin (?:this|the entire) (?:\w+ )?(?:guts|relay|contest|round|booklet|problem set)\b"
    r"|\bwrote (?:a problem|problems) for\b",
    re.I,
)
_NUMBERED = re.compile(
    r"\b(?:in|of|from|solve|see|to) (?:the )?(?:problem|question|exercise)s? [#№]?\d+(?:\.\d+)?\b", re.I
)
_DOUBTED = re.compile(
    r"^.{0,60}?\b(?:as before|as above|as previously|again consider|defined (?:similarly )?as before)\b|\bthe same set of \w+ as before\b"
    r"|\bthe answer (?:to|of) this (?:problem|question)\b"
    r"|^\s*(?:now|also|continue|furthermore|moreover|in addition|next|then)\b,? (?:suppose|assume|let|find|determine|what|how|consider)",
    re.I,
)
_STORY = re.compile(
    r"\b(?:homework|worksheet|quiz|exam|test|textbook|teacher|students?|class|worth|he|she|they|minutes?|solv(?:es|ed))\b",
    re.I,
)
_RANGE = re.compile(r"\b(?:problems|questions|exercises) \d+\s?(?:-|–|--|to|through)\s?\d", re.I)
_PARTS = re.compile(r"[(（](?:1|2|a|b|i|I|Ⅰ)[)）]|①|(?:^|\n)\s*(?:1|a)[.)]\s")
_GUARDS = (
    "previous", "preceding", "foregoing", "prior ", "earlier ", "problem", "question", "exercise", "part (", "parts (", "part a", "part b",
    "theorem", "lemma", "proposition", "corollary", "passage", "article", "the story", "the text", "the letter", "essay", "tnywr", "will receive",
    "t n y w r", "tnftpp", "t n f t p p", "attached", "contest", "guts", "relay", " section ", "chapter", "appendix", "definition", "equation (", "formula (",
    "in example", "of example", "see example", "as before", "as above", "paragraph", "defined similarly", "same set of", "continuing", "same as",
)  # fmt: skip
_DOUBTS = (
    "as before",
    "as above",
    "as previously",
    "same set of",
    "again consider",
    "this problem",
    "this question",
)
_STARTS = ("now", "also", "continue", "furthermore", "moreover", "in addition", "next", "then")


def lost_context(record: dict, settings: Denoise) -> Finding | None:
    """A reference to something that the text does not hold."""
    text = record["problem"]
    lowered = text.lower()
    if not holds_any(lowered, _GUARDS) and not lowered.startswith(_STARTS):
        return None
    for match in _OUTSIDE.finditer(text):
        if not _holds(text, match):
            return found(NoiseReason.LOST_CONTEXT, Strength.LIKELY, record, match)
    match = _NUMBERED.search(text)
    if match and not _STORY.search(text) and not _holds(text, match):
        return found(NoiseReason.LOST_CONTEXT, Strength.LIKELY, record, match)
    match = _DOUBTED.search(text) if holds_any(lowered, _DOUBTS) or lowered.startswith(_STARTS) else None
    return match and found(NoiseReason.LOST_CONTEXT, Strength.POSSIBLE, record, match)


def _holds(text: str, match: re.Match[str]) -> bool:
    """Whether what is referred to stands in the text, or is part of a story."""
    said = match[0]
    if _RANGE.search(text, match.start(), match.end() + 8):
        return True  # "answers to Questions 1-15": a test that the text describes
    if re.match(r"as \w+ [(\d]", said) and re.search(r"\bas \w+ (?:\w+ ){0,3}$", text[: match.start()], re.I):
        return True  # "worth twice as many points as problem 3" compares problems of a story
    if re.search(r"\b(?:previous|preceding|prior|earlier|above|same)\b", said, re.I) and _PARTS.search(
        text[: match.start()]
    ):
        return True
    if label := re.search(r"\((\w{1,3})\)|\b(\d{1,2})\)?$", said):
        name = label[1] or label[2]
        others = re.compile(
            rf"(?:\(|（|\b(?:part|problem|question|exercise|step) |(?:^|\n)\s*){re.escape(name)}(?:\)|）|[.:]|\b)", re.I
        )
        if any(not match.start() <= other.start() < match.end() for other in others.finditer(text)):
            return True
    if "?" in text[: match.start()] and ANSWER_TOLD.match(text, match.start()):
        return True  # "If the answer to the above question is 38, what is x?"
    if re.search(r"\b(?:last|first|next|previous) (?:problem|question)", said, re.I):
        return bool(_STORY.search(text))
    if re.search(r"\babove\b|\bpreceding\b|\bprevious\b|\bequation\b|\bformula\b", said, re.I) and re.search(
        r"\b(?:theorem|lemma|proposition|corollary|example|passage|story|text|paragraph)[ :.,]",
        text[: match.start()],
        re.I,
    ):
        return True
    if re.search(r"\bin the (?:story|letter|text|article|reading)$", said, re.I):
        return bool(
            re.search(r"\b(?:a|an|this|his|her|the) (?:story|letter|text|article)\b", text[: match.start()], re.I)
        ) or not re.search(r"\baccording|based|read\b", said, re.I)
    return False
