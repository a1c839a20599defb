"""`compass label --rows`: a person judges rows of a curation, dropped and kept, and learns how right each reason is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from compass.commands.ask_labels import SHOWN, ask
from compass.errors import UserError, did_you_mean
from compass.page.terminal import safe
from compass.report.printable import printable

if TYPE_CHECKING:
    import pyarrow as pa

    from compass.commands.label import Asked
    from compass.evaluation.row_labels import Row
    from compass.report.outputs import Outputs

STAGES = ("collect", "dedup", "denoise", "grade", "verify")
"""Stages that drop rows for what they are; later ones only choose among them."""

Key = tuple[str, str]


def label_rows(asked: Asked) -> None:
    """Judge rows and print what the labels measure.

    Raises:
        UserError: there are no rows, or none that are asked for, or labels cannot be read.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    from compass.evaluation.label_files import read_labels
    from compass.evaluation.labels import in_turn
    from compass.evaluation.row_labels import curated_rows, measured_rows
    from compass.ledger import REASONS
    from compass.report.outputs import choose, open_outputs, read_table

    outputs = open_outputs(asked.data)
    ledger = outputs.ledger()
    dropped = ledger.filter(pc.is_in(ledger["stage"], pa.array(STAGES)))
    kept = read_table([path for stage, path in outputs.kept.items() if stage in STAGES][-1])
    _check("source", asked.source, {*dropped["source"].to_pylist(), *kept["source"].to_pylist()})
    _check("reason", asked.reason, {*REASONS, *dropped["reason"].to_pylist()})
    dropped, kept = choose(dropped, source=asked.source), choose(kept, source=asked.source)
    rows = curated_rows(dropped, kept)
    path = asked.labels / "labels.jsonl"
    labels = read_labels(path)
    if asked.count:
        wanted = [row for row in rows if asked.reason in (None, row.stratum)]
        strata = dict.fromkeys(sorted({row.stratum for row in wanted}), 1)
        waiting = list(in_turn(wanted, labels, asked.seed, strata))
        shown = _texts(outputs, waiting, dropped, kept)
        ask(
            "Is this row fit to train on?",
            waiting,
            asked.count,
            path,
            lambda row, number: _show(shown[row.key], number),
            lambda row: shown[row.key]["problem"] or "",
        )
        labels = read_labels(path)
    _print(measured_rows(rows, labels), as_json=asked.json)


def _check(option: str, name: str | None, there: set[str]) -> None:
    if name is not None and name not in there:
        meant = did_you_mean(name, there, "{!r}")
        raise UserError(
            f"--{option} {name!r}: no such {option} among these rows; {meant}there are {', '.join(sorted(there))}"
        )


def _texts(outputs: Outputs, waiting: list[Row], dropped: pa.Table, kept: pa.Table) -> dict[Key, dict[str, Any]]:
    """What is shown of each row: its columns, and under `others` the twin or benchmark item that it was dropped for."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from compass.evaluation.label_files import row_key
    from compass.report.evidence import find_related, named_texts, read_evidence

    ids = pa.array(sorted({row.id for row in waiting}), pa.string())
    shown = {}
    for table in (kept, dropped):
        for row in table.filter(pc.is_in(table["id"], ids)).to_pylist():
            shown[row_key(row)] = {**row, "evidence": read_evidence(row.get("evidence"))}
    texts = named_texts(outputs, [row["evidence"] for row in shown.values()])
    for row in shown.values():
        row["others"] = find_related(row["problem"] or "", row["evidence"], texts)
    return shown


def _show(row: dict[str, Any], number: str) -> None:
    """A row without its fate; beside a duplicate the row that stayed, beside a contaminated one the item."""
    print(f"\n--- {number}, {printable(row['source'])}:{printable(row['source_id'])}")
    problem = row["problem"] or ""
    print(safe(problem[:SHOWN]) or "(empty)", "(cut)" * (len(problem) > SHOWN))
    golds = [row["answer"] or "none", *(row["alternatives"] or [])]
    print(f"gold: {safe(' or '.join(golds))}")
    for other in row["others"]:
        what = {"twin": "the training set also holds", "item": "a benchmark holds"}[other.kind]
        print(f"{what} {printable(other.name)}:\n{safe(other.problem[:SHOWN])}\ngold: {safe(other.answer or 'none')}")
    print()


def _print(found: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(found, indent=2))
        return
    print(f"\n{found['labelled']} rows labelled, {found['unsure']} that the person could not judge")
    print(f"{'dropped for':17} {'rows':>9} {'labelled':>9} {'unfit':>6}  precision")
    for reason, one in found["reasons"].items():
        print(
            f"{reason:17} {one['rows']:>9,} {one['labelled']:>9} {one['unfit']:>6}  {_share(one['share'], one['ci95'])}"
        )
    kept = found["kept"]
    print(
        f"{'kept':17} {kept['rows']:>9,} {kept['labelled']:>9} {kept['unfit']:>6}  should have gone: {_share(kept['error'], kept['ci95'])}"
    )
    if found["findings"]:
        print(f"{'found':17} {'':>9} {'labelled':>9} {'unfit':>6}  of the labelled rows, dropped for it or not")
    for reason, strengths in found["findings"].items():
        for strength, one in strengths.items():
            if strength != "without":
                named = f"{reason} ({strength})"
                without = _share(strengths["without"]["share"], strengths["without"]["ci95"])
                share = _share(one["share"], one["ci95"])
                print(f"{named:27} {one['labelled']:>9} {one['unfit']:>6}  {share}, without it {without}")


def _share(share: float | None, interval: list[float]) -> str:
    return "not known yet" if share is None else f"{share:.1%} ({interval[0]:.1%} to {interval[1]:.1%})"
