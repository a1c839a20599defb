"""Noise and quality filters (report, sections 1 and 4.2; Big-Math's published filters).

    drop, findings = noise.review(record, settings.denoise)

Every filter is `(record, settings) -> Finding | None`, and says why, how sure it is and on what text. Adding one is a
function, a line in `FILTERS`, and its reason with any threshold in `compass.settings.denoise`; the user's own (`denoise.filters`) need no edit. A finding as strong as `denoise.strictness` drops the row;
all findings stay with the row, dropped or kept; those of a kept row are doubts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from compass.curation.noise.answer_given import answer_given
from compass.curation.noise.damaged_text import encoding, image, link, markup, too_long, too_short, truncated
from compass.curation.noise.estimation import estimation, scoring
from compass.curation.noise.figure import figure
from compass.curation.noise.finding import Finding
from compass.curation.noise.guessable import letter_gold, multiple_choice, true_false, yes_no
from compass.curation.noise.impossible_gold import impossible_gold
from compass.curation.noise.language import language
from compass.curation.noise.lost_context import lost_context
from compass.curation.noise.multi_part import multi_part
from compass.curation.noise.multi_question import multi_question
from compass.curation.noise.own_filter import load_filter
from compass.curation.noise.proof import proof
from compass.ledger import Drop
from compass.settings import Denoise
from compass.settings.denoise import NoiseReason

Filter = Callable[[dict, Denoise], Finding | None]


FILTERS: dict[NoiseReason, Filter] = {
    # Length first: it bounds what the regular expressions below have to read.
    NoiseReason.TOO_LONG: too_long,
    NoiseReason.TOO_SHORT: too_short,
    NoiseReason.LANGUAGE: language,
    NoiseReason.ENCODING: encoding,
    NoiseReason.IMAGE: image,
    NoiseReason.LINK: link,
    NoiseReason.FIGURE: figure,
    NoiseReason.MULTIPLE_CHOICE: multiple_choice,
    NoiseReason.TRUE_FALSE: true_false,
    NoiseReason.YES_NO: yes_no,
    # Parts before proof: a list of parts with a proof among them is named for its parts.
    NoiseReason.MULTI_PART: multi_part,
    NoiseReason.PROOF: proof,
    NoiseReason.MULTI_QUESTION: multi_question,
    NoiseReason.ANSWER_GIVEN: answer_given,
    NoiseReason.ESTIMATION: estimation,
    NoiseReason.SCORING: scoring,
    NoiseReason.LOST_CONTEXT: lost_context,
    NoiseReason.LETTER_GOLD: letter_gold,
    NoiseReason.IMPOSSIBLE_GOLD: impossible_gold,
    NoiseReason.TRUNCATED: truncated,
    NoiseReason.MARKUP: markup,
}
"""Every filter by its reason, in the order in which `check` asks them."""


def review(record: dict, settings: Denoise) -> tuple[Drop | None, list[Finding]]:
    """The verdict on a record: why it is dropped, or None, and what every filter finds in it.

    The first finding that is strong enough decides, those of the user's own filters after the built-in ones. Where a problem is too long
    to read, its length is all that is found.

    Args:
        record: a row with at least `problem` and `answer`.
        settings: thresholds, languages and strictness.

    Raises:
        FilterError: a filter of the user's cannot be used.
    """
    findings = []
    for judge in _filters(settings):
        if finding := judge(record, settings):
            findings.append(finding)
            if finding.reason == NoiseReason.TOO_LONG:
                break
    drop = next((finding.as_drop() for finding in findings if finding.drops(settings.strictness)), None)
    return drop, findings


def _filters(settings: Denoise) -> Iterator[Filter]:
    skipped = settings.skip_reasons
    yield from (judge for reason, judge in FILTERS.items() if reason not in skipped) if skipped else FILTERS.values()
    yield from map(load_filter, settings.filters)


def check(record: dict, settings: Denoise) -> Drop | None:
    """Why a record is dropped, None for one that is kept."""
    return review(record, settings)[0]
