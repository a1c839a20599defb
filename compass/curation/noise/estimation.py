"""Estimation contests and live games: points for closeness or for what others do, so that no one answer is right.

An estimate that follows from a stated method or from data ("by rounding", "in a sample of 50") has one answer and stays.
"""

from __future__ import annotations

import re

from compass.curation.noise.finding import Finding, Strength, found
from compass.curation.noise.text import holds_any
from compass.settings import Denoise
from compass.settings.denoise import NoiseReason

_FORMULA = r"(?:\\max|\\min|\\lfloor|\\left|\\frac|\\ln|\bmax\s*[({]|\bmin\s*[({]|\\log|\\mathrm ?\{?~?min)"
# Points for the reader's own answer, by a formula.
_POINTS = re.compile(
    rf"\b(?:your|you|team'?s?|teams|an?) (?:\w+ ){{0,3}}?(?:score|answer|estimate|guess|submission|response)s?\s+(?:\S+\s+){{0,2}}?(?:of|for|is|will|that|gets?|earns?|within)\b[^.]{{0,90}}?(?:\bpoints?\b|scor\w+|{_FORMULA}|\d ?- ?|credit)"
    rf"|\b(?:you|your team|team|it|teams|an (?:estimate|answer|guess) of \S{{1,12}}) (?:will |would |may |can )?(?:be )?(?:receives?|earns?|gets?|scores?|awarded|given|worth|granted|lose)\b[^.]{{0,80}}(?:{_FORMULA}|\bpoints?\b)"
    rf"|\bpoints (?:are|will be|is|awarded)\b[^.]{{0,40}}{_FORMULA}|\b(?:is|are) worth \$?{_FORMULA}"
    r"|\byour (?:score|points?|answer) (?:(?:for|on) this (?:problem|question) )?(?:is|will be|shall be|equals?)\b",
    re.I,
)
_CLOSENESS = re.compile(
    rf"{_FORMULA}|\|[^|$]{{1,30}}-[^|$]{{1,30}}\||\|\s*\\?\w+\s*-\s*\\?\w+\s*\||\bdistance|\berror\b|\bclosest\b|\bcloseness\b",
    re.I,
)
_TRUTH = re.compile(
    r"\b(?:correct|actual|true|right|exact) (?:answer|value|number)\b|\\leq? [UM]\b|\btruth\b|\|[^|$]{1,30}-[^|$]{1,30}\||\{[A-Z]\}\{[A-Z]\}|\{[A-Z]\}\{[a-z]\}",
    re.I,
)
_ESTIMATE = re.compile(r"\b(?:estimat\w*|approximat\w*|guess\w*|submit an? (?:integer|number|real))\b", re.I)
_DEMAND = re.compile(
    r"(?:(?:^|[.?!:;,)\n]\s*)(?:please )?|\bthen |\band )estimate\b,?\s+(?!(?:is|was|of|for|that|and|in|from)\b)|^\s*guess the\b",
    re.I,
)
# A method or data from which an estimate follows.
_METHOD = re.compile(
    r"\bround|\bsampl|\bsurvey|\bpoll|\brule\b|\blinear|\bdifferential|\btangent|\bNewton|\bEuler|\bTaylor|\bSimpson|\btrapez|\bRiemann|\bseries\b"
    r"|\bintervals?\b|\bregress|\blikelihood|\bunbiased|\bmark(?:s|ed|ing)?\b|\bcaught|\bbased on|\baccording to|\busing|\bfrom the (?:table|graph|results)"
    r"|\bfrequenc|\bexperiment|\bnearest|\bgiven\b|\bif \$|\bassum|\bmean\b|\baverage|\bconfidence|\berror\b|\bdata\b|\baccura|\bbisection|\bdistribut"
    r"|\bdoubl|\brates?\b|\bgrow|\bper ?cent|\\%|\brange\b|\bwithin\b|\bresults? (?:were|are|is)|(?:\b\d[\d.]*, ){3}|\beliminat|\bprocess is repeated",
    re.I,
)
_LIVE = re.compile(
    r"\b(?:your (?:score|points?|team)|you (?:will |may )?(?:earn|receive|get|score|lose|submit)|each team (?:will |must )?(?:submit|write|choose|pick)s?|teams? (?:whose|that|who) |(?:nobody|no one|any|every)(?: ?(?:one|body))? else|all (?:other )?(?:teams|contestants|participants)['’]?)\b",
    re.I,
)
_SUBMIT = re.compile(
    r"(?:^|[.!:\n]\s*)(?:write down|choose|pick|submit|list|draw|name|give|construct|select|find as many)\b|\beach (?:team|contestant|player|participant) (?:will |must )?(?:submit|write|choose|pick)",
    re.I,
)
_ASKED = re.compile(r"\b(?:what|how many|expected|probability|determine|maximi[sz]e)\b|\bfind the\b", re.I)
_GUARDS = ("estimat", "approximat", "guess", "your score", "points")
_LIVE_GUARDS = ("your", "you ", "team", "else")


def estimation(record: dict, settings: Denoise) -> Finding | None:
    """An estimate that earns points for closeness, or is asked for without a method."""
    text = record["problem"]
    lowered = text.lower()
    if not holds_any(lowered, _GUARDS):
        return None
    asked = _ESTIMATE.search(text)
    points = _POINTS.search(text)
    if (
        points
        and (asked or _TRUTH.search(text))
        and _CLOSENESS.search(text, max(0, points.start() - 20), points.end() + 160)
    ):
        strength = Strength.SURE if asked else Strength.LIKELY
        return found(NoiseReason.ESTIMATION, strength, record, points, kind="scored by closeness")
    demand = _DEMAND.search(text) if asked else None
    if not demand or re.search(
        r"\bround|\bnearest (?:ten|hundred|whole|thousand)|\brule\b|\bdecimal places?\b|\bsignificant (?:figures|digits)\b",
        text,
        re.I,
    ):
        return None
    strength = Strength.POSSIBLE if _METHOD.search(text) else Strength.LIKELY
    return found(NoiseReason.ESTIMATION, strength, record, demand, kind="no method")


def scoring(record: dict, settings: Denoise) -> Finding | None:
    """A game that is played live: the reader's points hang on what others hand in, or on how much is handed in."""
    text = record["problem"]
    lowered = text.lower()
    if ("point" not in lowered and "score" not in lowered) or not holds_any(lowered, _LIVE_GUARDS):
        return None
    live = _LIVE.search(text)
    if not live or not _SUBMIT.search(text) or _ASKED.search(text) or estimation(record, settings):
        return None
    return found(NoiseReason.SCORING, Strength.LIKELY, record, live, kind="live game")
