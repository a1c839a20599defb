"""`compass label`: a person judges a sample of the run's responses, and learns how often the verifier is wrong; or of its rows, and how right curation is."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclopts import Parameter

from compass.commands.ask_labels import SHOWN, ask
from compass.errors import UserError
from compass.named_function import load_function
from compass.page.terminal import safe

if TYPE_CHECKING:
    from compass.evaluation.labels import Response


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is judged, and where judgements are kept."""

    rows: bool = False
    """judge rows of a curation, dropped and kept, instead of responses."""
    data: Path = Path("data")
    """a pipeline's data folder, or one of `compass evaluate`; with --rows also one of `compass curate`."""
    labels: Path = Path("labels")
    """the folder where labels are kept."""
    count: int = 40
    """responses or rows to judge now; 0 judges none."""
    seed: int = 0
    """another seed draws others."""
    second: str | None = None
    """MODULE:FUNCTION of another verifier, called with gold and response; its verdicts are kept."""
    model: str | None = None
    """only responses of this model."""
    benchmark: str | None = None
    """only responses to this benchmark."""
    reason: str | None = None
    """with --rows: only rows dropped for this reason."""
    source: str | None = None
    """with --rows: only rows of this source."""
    add: Path | None = None
    """a file of labels, as the ledger's page saves them: they are added to the others first."""
    json: bool = False
    """print what the labels measure as JSON."""


def label(*, asked: Asked = Asked()) -> int:
    """Judge a sample of responses and measure how often the verifier is wrong, or with --rows how right curation is. Stop and go on at any time.

    Raises:
        UserError: there are no samples or rows, the second verifier cannot be used, or labels cannot be read.

    Examples:
        compass label                                    judge 40 responses of data/evaluate
        compass label --second my_grader:is_right        look first at what another verifier judges differently
        compass label --count 0                          only say what the labels so far measure
        compass label --rows                             judge 40 rows that curation kept or dropped
        compass label --rows --count 0 --add ~/Downloads/labels.jsonl    measure what was marked in the ledger's page
    """
    from compass.evaluation.label_files import add_labels, read_labels
    from compass.evaluation.labels import WEIGHTS, distinct_responses, in_turn, measured_error

    if asked.count < 0:
        raise UserError(f"--count {asked.count}: must be 0 or more")
    for name in ("second", "model", "benchmark") if asked.rows else ("reason", "source"):
        if getattr(asked, name) is not None:
            raise UserError(f"--{name} is for {'responses: leave out --rows' if asked.rows else 'rows: add --rows'}")
    if asked.add is not None:
        add_labels(asked.labels / "labels.jsonl", asked.add)
    if asked.rows:
        from compass.commands.label_rows import label_rows

        label_rows(asked)
        return 0
    samples, problems = _read(asked)
    path = asked.labels / "labels.jsonl"
    labels = read_labels(path)
    second = _second(asked, distinct_responses(samples), problems)
    responses = distinct_responses(samples, second)
    if asked.count:
        waiting = list(in_turn(responses, labels, asked.seed, WEIGHTS))
        ask(
            "Is the final answer right?",
            waiting,
            asked.count,
            path,
            lambda response, number: _show(response, problems[response.id], number),
            lambda response: response.text,
        )
        labels = read_labels(path)
    _print(measured_error(responses, labels), as_json=asked.json)
    return 0


def _read(asked: Asked) -> tuple[Any, dict[str, dict[str, Any]]]:
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    from compass.evaluation.labels import samples_folder

    folder = samples_folder(asked.data)
    for name in ("samples.parquet", "problems.parquet"):
        if not (folder / name).exists():
            raise UserError(
                f"{folder / name}: no such file; run the evaluate stage, or give with --data the folder that `compass evaluate` or `compass score --out` wrote"
            )
    samples = pq.read_table(folder / "samples.parquet")
    if "response" not in samples.column_names:
        raise UserError(f"{folder / 'samples.parquet'}: holds no responses; run the evaluate stage again")
    for column, value in (("model", asked.model), ("benchmark", asked.benchmark)):
        if value is not None:
            there = samples.column(column).unique().to_pylist()
            if value not in there:
                raise UserError(f"--{column} {value}: the samples have {', '.join(there)}")
            samples = samples.filter(pc.equal(samples.column(column), value))
    problems = {row["id"]: row for row in pq.read_table(folder / "problems.parquet").to_pylist()}
    return samples, problems


def _second(
    asked: Asked, responses: list[Response], problems: Mapping[str, dict[str, Any]]
) -> dict[tuple[str, str], bool]:
    """What the second verifier says: kept verdicts, and new ones where `--second` is given."""
    from compass.commands.progress import draw_items
    from compass.evaluation.label_files import read_labels, write_label

    path = asked.labels / "second.jsonl"
    known = {key: right for key, right in read_labels(path).items() if right is not None}
    if asked.second is None:
        return known
    function = _function(asked.second)
    if others := _judges(path) - {asked.second}:
        raise UserError(f"{path}: holds verdicts of {', '.join(sorted(others))}; give another folder with --labels")
    golds = {name: row["answer"] for name, row in problems.items()}
    new = [one for one in responses if one.key not in known]
    for one in draw_items(new, len(new), "judged by the second verifier"):
        known[one.key] = bool(function(golds[one.id], one.text))
        write_label(path, one.key, known[one.key], asked.second)
    return known


def _judges(path: Path) -> set[str]:
    if not path.exists():
        return set()
    return {json.loads(line)["by"] for line in path.read_text(encoding="utf-8").splitlines()}


def _function(name: str) -> Callable[[str, str], bool]:
    def error(found: str, remedy: str) -> UserError:
        return UserError(f"--second {name}: {found}", remedy)

    return load_function(name, error, "give MODULE:FUNCTION, a function of gold and response", ("gold", "response"))


def _show(response: Response, problem: Mapping[str, Any], number: str) -> None:
    """A response without the verifier's verdict."""
    golds = [problem["answer"], *(problem.get("alternatives") or [])]
    tolerance = f" (tolerance {problem['tolerance']})" if problem.get("tolerance") else ""
    print(f"\n--- {number}, {problem['benchmark']}, {response.id}")
    print(safe(problem["problem"]))
    print(f"gold: {safe(' or '.join(golds))}{tolerance}")
    cut = len(response.text) > SHOWN
    print(f"response{', its end' if cut else ''}:\n{safe(response.text[-SHOWN:]) or '(empty)'}\n")


def _print(found: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(found, indent=2))
        return
    from compass.evaluation.labels import STRATA

    print(
        f"\n{found['responses']:,} responses, {found['labelled']} labelled, {found['unsure']} that the person could not judge"
    )
    for name, stratum in found["strata"].items():
        counts = f"{stratum['labelled']} labelled, {stratum['wrong']} verdicts wrong"
        print(f"  {stratum['responses']:>8,} {STRATA[name]}: {counts}")
    low, high = found["ci95"]
    if found["error"] is None:
        print("the verifier's error: not known yet; every kind of response needs labels")
    else:
        print(
            f"the verifier's error: {found['error']:.2%} of responses ({low:.2%} to {high:.2%}); "
            f"called right and wrong {found['accepted_wrong']:.2%}, called wrong and right {found['refused_right']:.2%}"
        )
