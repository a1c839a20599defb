"""Sources that lose an unusual share of their rows for one reason: a reading that went wrong looks like this more often than bad data.

    odd = OddSources("verify", settings.curation.warn_share)
    summary = write_pieces(folder, "verify", read=…, pieces=odd.watch(pieces))
    odd.metrics()      # {"warnings": ["source 'shop': unreadable_gold takes 66 of 90 rows (73%); …"]}

The stage prints the warnings, `metrics/<stage>.json` and `summary.json` hold them, and the report repeats them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from compass.ledger import REASONS, Reason
from compass.settings.denoise import NoiseReason

FEWEST = 10
"""Dropped rows below which a share says nothing."""

MOST_FORMS = 10_000
"""Forms that are counted per source and reason; later ones are not, which bounds memory."""

_LOOK = "`compass ledger --reason {reason} --source {source} --sample 5` shows some (with `--data OUT` after `compass curate`)"
_FIELDS = "name the fields if they are others (`compass curate FILE --explain` shows how they were read)"
_GOLDS = "write these golds in a form that the verifier reads (`compass verify GOLD ANSWER` tries one), or name another field for them"
_ELSEWHERE = "expected where it repeats another source; otherwise its problems lack a field that tells them apart"
_SKIP = "`denoise.skip_reasons: [{reason}]` keeps them"
_OWN = "a filter that `denoise.filters` names gives this reason"
_REMEDIES: dict[str, str] = {
    Reason.EMPTY_PROBLEM: _FIELDS,
    Reason.MISSING_ANSWER: _FIELDS,
    Reason.PLACEHOLDER_GOLD: _FIELDS,
    Reason.TOO_LARGE: "`collect.max_problem_chars`, `max_answer_chars` and `max_solution_chars` are the limits",
    Reason.LICENCE: "`collect.allow_licences` names the licences that are kept",
    Reason.UNREADABLE_GOLD: _GOLDS,
    Reason.UNSTABLE_GOLD: _GOLDS,
    Reason.WORDY_GOLD: "`verify.wordy_golds: keep` keeps them",
    NoiseReason.LANGUAGE: "`denoise.languages: [en, zh]` would keep English and Chinese",
    NoiseReason.TOO_SHORT: "`denoise.min_problem_chars` is the limit",
    NoiseReason.TOO_LONG: "`denoise.max_problem_chars` is the limit",
    Reason.EXACT_DUPLICATE: _ELSEWHERE,
    Reason.NEAR_DUPLICATE: _ELSEWHERE,
    Reason.ANSWER_CONFLICT: "check that the gold is read from the right field, and that the problem is whole",
    Reason.CONTAMINATED: "this source holds items of that benchmark",
}
_FILTERED = frozenset(map(str, NoiseReason))
_OF_THE_GOLD = frozenset(("unreadable_gold", "unstable_gold", "wordy_gold", "suspicious_gold", "placeholder_gold"))
_NUMBER = re.compile(r"\d[\d.,]*")
_LETTERS = re.compile(r"[^\W\d_]+(?:[\s'’-]+[^\W\d_]+)*")


class OddSources:
    """Counts what a stage drops per source, reason and form."""

    def __init__(self, stage: str, share: float) -> None:
        """
        Args:
            stage: what drops the rows; the printed warnings begin with it.
            share: of a source's rows that reached the stage; a reason that takes more is a warning.
        """
        self.stage, self.share = stage, share
        self._read: Counter[str] = Counter()
        self._dropped: dict[tuple[str, str], Counter[str]] = {}
        self._examples: dict[tuple[str, str, str], str] = {}

    def watch(self, pieces: Iterable[tuple[pa.Table, pa.Table]]) -> Iterator[tuple[pa.Table, pa.Table]]:
        """Pass on pieces of kept and dropped rows, and count them; after the last, print the warnings."""
        for kept, dropped in pieces:
            self._read.update(kept.column("source").to_pylist())
            for row in dropped.select(["source", "problem", "answer", "reason", "evidence"]).to_pylist():
                self._count(row)
            yield kept, dropped
        for warning in self.warnings():
            print(f"{self.stage}: warning: {warning}", flush=True)

    def warnings(self) -> list[str]:
        """One line per source and reason that takes too much of it, the most rows first."""
        found = []
        for (source, reason), forms in self._dropped.items():
            count, read = forms.total(), self._read[source]
            if count >= FEWEST and count > self.share * read:
                found.append((-count, source, reason, self._line(source, reason, forms, read)))
        return [line for *_, line in sorted(found)]

    def metrics(self) -> dict[str, Any]:
        """`warnings`, where there are any."""
        found = self.warnings()
        return {"warnings": found} if found else {}

    def _count(self, row: dict[str, Any]) -> None:
        source, reason = row["source"], row["reason"]
        self._read[source] += 1
        forms = self._dropped.setdefault((source, reason), Counter())
        example = _example(row)
        form = _form(example)
        if form not in forms and len(forms) >= MOST_FORMS:
            form = example = ""
        forms[form] += 1
        self._examples.setdefault((source, reason, form), example)

    def _line(self, source: str, reason: str, forms: Counter[str], read: int) -> str:
        count = forms.total()
        line = f"source {source!r}: {reason} takes {count:,} of {read:,} rows ({count / read:.0%})"
        form, times = min(((form, -times) for form, times in forms.items()), key=lambda one: (one[1], one[0]))
        if form:
            example = self._examples[source, reason, form]
            line += f", {-times:,} of them like {example!r}"
        remedy = _REMEDIES.get(reason) or (_SKIP if reason in _FILTERED else "" if reason in REASONS else _OWN)
        return "; ".join(filter(None, (line, remedy.format(reason=reason), _LOOK.format(reason=reason, source=source))))


def _example(row: dict[str, Any]) -> str:
    """What of a dropped row shows why: its gold, its twin's source, the benchmark, the language, or the text that was found."""
    evidence = json.loads(row["evidence"])
    if row["reason"] in _OF_THE_GOLD:
        return (row["answer"] or "")[:60]
    for name in ("twin_source", "benchmark", "language"):
        if name in evidence:
            return str(evidence[name])
    if (span := evidence.get("span")) and "field" not in evidence:
        return (row["problem"] or "")[span[0] : min(span[1], span[0] + 60)]
    return ""


def _form(text: str) -> str:
    """The text with every number as 9 and all words as one: golds of one form are read, or not read, alike."""
    return " ".join(_LETTERS.sub("a", _NUMBER.sub("9", text)).split())
