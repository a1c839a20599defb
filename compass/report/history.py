"""The history of one problem: its source row, each stage's verdict on what evidence, and the RL stages that train on it."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from compass.evaluation.accuracy import wilson
from compass.evaluation.label_files import row_key
from compass.records import ROW_NUMBERS, RecordError, split_stages
from compass.report.evidence import find_quotes, find_related, item_name, marked, named_texts, read_evidence
from compass.report.item_history import item_tallies, items_like
from compass.report.outputs import Outputs, find_rows, read_table
from compass.report.printable import as_text, printable
from compass.report.rollouts import problem_lines
from compass.sources.gold import with_decimal_point

MEANING = {
    "empty_problem": "its problem is empty",
    "missing_answer": "the fields that golds are read from hold none",
    "duplicate_id": "an earlier row of its source has its id",
    "too_large": "one of its texts is longer than the limit",
    "undecodable": "its problem is no text",
    "licence": "its licence is none of those that are allowed",
    "marked_unfit": "a person marked it as unfit",
    "placeholder_gold": "its gold is a word for a missing answer",
    "exact_duplicate": "it has the same tokens as its twin",
    "near_duplicate": "its words are nearly those of its twin, and its numbers are the same",
    "semantic_duplicate": "it says in other words what its twin says, with the same numbers and an equal gold",
    "answer_conflict": "its twin has another answer, and the rule chose the twin's or neither",
    "contaminated": "it is a benchmark's item, or holds a share of it",
    "unreadable_gold": "the verifier cannot read the gold",
    "wordy_gold": "the gold is a statement in words that no other wording equals",
    "unstable_gold": "the gold does not equal itself rewritten, or equals a perturbed copy",
    "suspicious_gold": "the graded rollouts agree with each other and contradict the gold",
    "doubtful": "a noise filter doubts it",
    "ungraded": "nothing says how hard it is",
    "solve_rate": "its solve rate is outside of the range",
    "not_selected": "others were chosen",
}
"""What a reason means; of a noise filter's the filter says it (`explain_reason`)."""


SHOWN = 1_500
"""Characters of a text that is shown with its marks."""

MOST_DUPLICATES = 10
"""Duplicates of a kept row that are listed."""


def history(outputs: Outputs, id_: str, *, with_twin: bool = True) -> Iterator[str]:
    """The history of one problem, line by line, ready to print.

    Args:
        outputs: where the rows are.
        id_: the record's id.
        with_twin: also say what became of the twin of a dropped duplicate.

    Raises:
        RecordError: no stage has a row of that id.
    """
    fates = outputs.find(id_)
    if not fates:
        raise RecordError(f"no row has the id {id_!r} in {outputs.folder}; give the problem's text to search for it")
    rows = [row for _, row in fates.values()]
    first, last = rows[0], rows[-1]  # columns only ever gain values: the last stage's row has them all
    yield f"{id_}  {printable(item_name(first))}  licence {printable(first['licence'] or '?')}  digest {row_key(first)[1]}"
    if origin := outputs.origins().get(first["source"]):
        yield f"  file      {printable(origin)}{_row_place(outputs, first)}"
    yield f"  problem   {printable(first['problem'], 600)}"
    gold = last.get("published_answer")
    has_commas = gold is not None and gold != first["answer"] and with_decimal_point(gold) == first["answer"]
    if last.get("original"):
        how = "repaired" if gold is None or has_commas else f"recast, published gold {printable(gold)}"
        yield f"  {how}; as published: {printable(_visible(last['original']), 600)}"
    commas = f"  (published with a decimal comma: {printable(gold, 200)})" if gold is not None and has_commas else ""
    yield f"  answer    {printable(first['answer'] or 'none', 200)}{commas}"
    if first["source_level"]:
        yield f"  level     {printable(first['source_level'])} (the source's own)"
    yield ""
    for stage, (fate, _) in fates.items():
        yield from _stage(outputs, stage, fate, last, id_, with_twin)
    yield from _training(outputs, id_)
    for item in items_like(outputs.folder, id_):
        scores = item_tallies(outputs.folder, item["benchmark"], item["id"])
        shares = ", ".join(f"{model} {one.right}/{one.samples}" for model, one in scores.items())
        yield f"{'evaluate':11} resembles {item['benchmark']} {item['id']} ({shares}): {printable(item['problem'], 90)}"


def _row_place(outputs: Outputs, row: dict[str, Any]) -> str:
    """Where a row is in its file, counted from 1, and its line where each row is one; empty where its id is the source's own."""
    facts = outputs.sources()[row["source"]]
    name, _, number = row["source_id"].rpartition(":")
    if facts.get("ids") != ROW_NUMBERS or not number.isdigit():
        return ""
    place = int(number) + 1
    path = (name or str(facts.get("path", ""))).removesuffix(".gz").removesuffix(".zst")
    line = {".jsonl": place, ".csv": place + 1, ".tsv": place + 1}.get(Path(path).suffix)
    at = f" (line {line:,} if each row is one line)" if line else ""
    return f", {name + ', ' if name else ''}row {place:,}{at}"


def _visible(text: str) -> str:
    """The text with Unicode's pictures of control characters (␌, ␉): as escapes, `\\f` and "rac" would look whole."""
    return re.sub(r"[\x00-\x1f]", lambda sign: chr(0x2400 + ord(sign[0])), text)


def _stage(outputs: Outputs, stage: str, fate: str, row: dict[str, Any], id_: str, with_twin: bool) -> Iterator[str]:
    if fate == "kept":
        yield f"{stage:11} kept{_facts(stage, row)}"
        if overruled := outputs.overruled(stage).get(id_):
            yield f"{'':11}   kept by a mark; would be dropped: {overruled.pop('reason')}"
            yield from _facts_of({**overruled.pop("evidence"), **overruled})
        if stage == "dedup" and (row["cluster_size"] or 1) > 1:
            yield from _duplicates(outputs, id_)
        if stage == "grade":
            yield from _rollouts(outputs.folder, id_)
        return
    reason = row["reason"]
    meaning = explain_reason(reason)
    yield f"{stage:11} DROPPED: {reason}" + (f", {meaning}" if meaning else "")
    evidence = read_evidence(row["evidence"])
    yield from _facts_of(evidence)
    if not with_twin:
        return
    yield from _texts(outputs, row, evidence)
    if "twin" in evidence:
        yield ""
        yield "Its twin:"
        yield from (f"  {line}" for line in history(outputs, evidence["twin"], with_twin=False))


def explain_reason(reason: str) -> str:
    """What a reason means, as the end of a sentence; empty for that of a user's filter."""
    from compass.curation.noise import FILTERS

    if reason not in FILTERS:
        return MEANING.get(reason, "")
    begin, _, _ = (inspect.getdoc(FILTERS[reason]) or reason).partition("\n")
    return begin[0].lower() + begin[1:].rstrip(".").replace("`", "")


def _facts_of(evidence: Mapping[str, Any]) -> Iterator[str]:
    for name, value in evidence.items():
        yield f"{'':11}   {name:16} {printable(as_text(value), 300)}"


def _texts(outputs: Outputs, row: dict[str, Any], evidence: dict[str, Any]) -> Iterator[str]:
    """The problem beside its twin or the benchmark item, or with what the evidence quotes; what counts stands in ⟪ and ⟫."""
    problem = row["problem"] or ""
    others = find_related(problem, evidence, named_texts(outputs, [evidence]))
    for other in others:
        yield f"{'':11}   this problem     {printable(marked(problem, other.here), SHOWN)}"
        yield f"{'':11}   gold             {printable(row['answer'] or 'none', 200)}"
        yield f"{'':11}   {other.kind:16} {printable(other.name)}: {printable(marked(other.problem, other.there), SHOWN)}"
        yield f"{'':11}   {other.kind + ' gold':16} {printable(other.answer or 'none', 200)}"
    if not others and (spans := find_quotes(problem, evidence)):
        yield f"{'':11}   in the problem   {printable(marked(problem, spans), SHOWN)}"


def _duplicates(outputs: Outputs, id_: str) -> Iterator[str]:
    """The rows that the same problem was dropped for."""
    columns = ["id", "source", "source_id", "reason", "evidence"]
    if "dedup" not in outputs.dropped:
        return
    dropped = read_table(outputs.dropped["dedup"], columns)
    rows = dropped.filter(pc.match_substring(dropped["evidence"], id_)).to_pylist()
    for row in rows[:MOST_DUPLICATES]:
        yield f"{'':11}   {row['id']}  {printable(item_name(row))}  {row['reason']}"
    if len(rows) > MOST_DUPLICATES:
        yield f"{'':11}   and {len(rows) - MOST_DUPLICATES:,} more"


def _facts(stage: str, row: dict[str, Any]) -> str:
    """What a stage added to a row that it kept."""
    facts = ""
    if stage == "dedup" and (row["cluster_size"] or 1) > 1:
        facts = f"stands for {row['cluster_size']} rows of the same problem"
    elif stage == "denoise" and row["findings"]:
        doubts = json.loads(row["findings"])
        named = (f"{doubt['reason']} ({doubt['strength']}) {doubt['evidence'].get('text', '')}" for doubt in doubts)
        facts = f"doubtful: {printable('; '.join(named), 300)}"
    elif stage == "grade" and row["solve_rate"] is not None:
        low, high = wilson(row["solve_rate"], row["n_rollouts"])
        facts = f"solve rate {row['solve_rate']:.3f} of {row['n_rollouts']} rollouts (95%: {low:.3f} to {high:.3f}), level {row['level']}"
    elif stage == "verify" and row["answer_type"]:
        facts = f"answer type {row['answer_type']}"
    elif stage == "curriculum" and row["stages"]:
        facts = f"trains {', '.join(split_stages(row['stages']))}"
    return f": {facts}" if facts else ""


def _rollouts(folder: Path, id_: str) -> Iterator[str]:
    if samples := find_rows(folder / "grade" / "rollouts.parquet", id_):
        right = sum(bool(row["correct"]) for row in samples)
        answers = ", ".join(printable(str(row["answer"]), 20) for row in samples[:16])
        yield f"{'':11}   {right} of {len(samples)} rollouts right; they answered {answers}"


def _training(outputs: Outputs, id_: str) -> Iterator[str]:
    """The rewards of each RL stage that sampled the problem, and its responses of iterations whose rollouts are kept."""
    for stage, path in outputs.rewards().items():
        rows = find_rows(path, id_)
        if not rows:
            continue
        groups = sorted({(row["step"], row["used"]) for row in rows})
        mean = sum(row["reward"] for row in rows) / len(rows)
        sampled, trained = len({step for step, _ in groups}), len({step for step, used in groups if used})
        yield (
            f"{stage:11} sampled in {sampled} iteration{'s' * (sampled != 1)}, trained on in {trained}: "
            f"{len(rows)} response{'s' * (len(rows) != 1)}, mean reward {mean:+.3f}"
        )
        for step, used in groups:
            group = [row for row in rows if (row["step"], row["used"]) == (step, used)]
            each = " ".join(f"{row['reward']:+g}" for row in group)
            tokens = sum(row["response_tokens"] for row in group) / len(group)
            fate = "" if used else "; left out of the update"
            yield f"{'':11}   iteration {step}: rewards {each}  ({tokens:.0f} tokens on average{fate})"
        if kept := find_rows(outputs.folder / stage / "rollouts.parquet", id_):
            yield f"{'':11}   kept responses ({len(kept)}):"
            yield from (f"{'':11}     {line}" for line in problem_lines(kept))
