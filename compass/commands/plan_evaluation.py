"""`compass plan evaluation`: what an evaluation takes, and the chance that it finds a gain."""

from __future__ import annotations

import json as json_text
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter, validators

from compass.errors import UserError

if TYPE_CHECKING:
    import pyarrow as pa

    from compass.page.blocks import Table
    from compass.plan.evaluation import Chance, Variances
    from compass.plan.hardware import Machine
    from compass.plan.shape import Shape

Positive = Annotated[int, Parameter(validator=validators.Number(gte=1))]


@dataclass(frozen=True)
class Earlier:
    """What an earlier evaluation measured, by benchmark."""

    pair: tuple[str, ...] = ()
    variances: Mapping[str, Variances] | None = None
    problems: Mapping[str, int] | None = None
    lengths: Mapping[str, float] | None = None
    """Mean tokens of a sampled response of the two models."""


@dataclass(frozen=True)
class Cost:
    """What sampling a benchmark takes, for all models together."""

    name: str
    responses: int
    tokens: tuple[float, ...]
    """Low, middle and high."""

    hours: tuple[float, ...]
    """The same; empty where the model's shape is not known."""

    length: str
    """Mean tokens of a response, in words."""

    source: str


def evaluation(
    *,
    benchmarks: Annotated[list[str], Parameter(consume_multiple=(1, None))],
    gain: Annotated[float, Parameter(validator=validators.Number(gt=0, lt=100))],
    samples: Positive = 8,
    greedy: bool = False,
    models: Annotated[int, Parameter(validator=validators.Number(gte=2))] = 2,
    accuracy: Annotated[float, Parameter(validator=validators.Number(gt=0, lt=100))] = 50.0,
    earlier: Path | None = None,
    pair: tuple[str, str] | None = None,
    model: str | None = None,
    max_tokens: Positive = 2048,
    gpu: str | None = None,
    price: Annotated[float | None, Parameter(validator=validators.Number(gt=0))] = None,
    json: bool = False,
) -> int:
    """Forecast an evaluation before it is sampled: problems, tokens, hours, and the chance that it finds a gain.

    The chance is that of the verdict `better` (a corrected p of at most 5%, and an interval without 0), for the pair that decides. Variances and lengths come
    from an earlier evaluation where there is one, and are assumed where not.

    Args:
        benchmarks: names that `compass benchmarks` lists, files of problems, or names that the earlier evaluation has; several by commas.
        gain: the true gain that should be found, in points of accuracy, the same on each benchmark.
        samples: per problem and model.
        greedy: also a greedy response per problem.
        models: that are evaluated; with more than two, the pair that decides is tested at 4% in place of 5%.
        accuracy: of the two models where no earlier evaluation says it, in percent.
        earlier: the folder of an earlier evaluation (samples.parquet); without it data/evaluate, if it is there.
        pair: which of its models to take variances from (without it, those that decided).
        model: folder, hub id or file of the model, for the hours; without it the policy of params.yaml.
        max_tokens: the limit on a response, from which its length is assumed.
        gpu: GPUs by name and number, such as h100:8; without it those of this machine, or its CPU. One engine on one GPU samples.
        price: of one GPU for an hour, or of this machine.
        json: print one object.

    Raises:
        UserError: a benchmark, an earlier evaluation or a GPU is not known.

    Examples:
        compass plan evaluation --benchmarks aime-2024,math-500 --gain 3                       from assumed variances
        compass plan evaluation --benchmarks math-500 --gain 2 --samples 16 --gpu h100:1       on a rented GPU
    """
    from compass.page.blocks import Note
    from compass.page.terminal import print_blocks
    from compass.plan.evaluation import plan_chances
    from compass.plan.hardware import find_machine

    machine = find_machine(gpu)
    known = _read_earlier(earlier, pair)
    names = [name for words in benchmarks for name in words.split(",") if name]
    problems = _count_problems(names, known)
    chances = plan_chances(
        {name: one for name, one in (known.variances or {}).items() if name in problems},
        problems,
        accuracy=accuracy / 100,
        gain=gain / 100,
        samples=samples,
        models=models,
    )
    shape = _find_shape(model)
    costs = _costs(
        problems, known, shape, machine, per_problem=models * (samples + greedy), models=models, most=max_tokens
    )
    if json:
        found = {"gain": gain, "samples": samples, "models": models, "chances": chances, "costs": costs}
        print(json_text.dumps({name: [asdict(one) for one in value] if isinstance(value, list) else value for name, value in found.items()}, indent=2))  # fmt: skip
        return 0
    more = " and a greedy response" if greedy else ""
    what = f"A gain of {gain:g} points, {models} models, {samples} samples per problem{more}, on {machine}"
    print_blocks([Note(what), _table(chances, costs, price)])
    print("\nFrom:")
    print("\n".join(_inputs(chances, costs, known, shape, accuracy)))
    return 0


def _read_earlier(folder: Path | None, pair: tuple[str, str] | None) -> Earlier:
    import pyarrow.parquet as pq

    from compass.evaluation.benchmark_scores import drop_greedy, is_known
    from compass.evaluation.comparisons import default_primary, pair_models
    from compass.evaluation.results import read_clusters
    from compass.plan.evaluation import measure_variances

    place = folder or Path("data/evaluate")
    path = place / "samples.parquet"
    if not path.exists():
        if folder or pair:
            raise UserError(
                f"{path}: no such file; give --earlier the folder of an evaluation, or leave it and --pair out"
            )
        return Earlier()
    samples = pq.read_table(path, columns=["model", "benchmark", "id", "greedy", "correct", "tokens"])
    there = samples.column("model").unique().to_pylist()
    decided = _primary(place)
    chosen = list(pair or decided or default_primary(there) or there[-2:])
    if len(set(chosen)) < 2 or not set(chosen) <= set(there):
        raise UserError(f"{path}: has the models {', '.join(there)}; name two of them with --pair")
    asked = pq.read_table(place / "problems.parquet") if (place / "problems.parquet").exists() else None
    variances, problems, lengths = {}, {}, {}
    for name in samples.column("benchmark").unique().to_pylist():
        rows = _of(samples, benchmark=[name], model=chosen)
        problems[name] = len(rows.column("id").unique())
        drawn = drop_greedy(rows)
        if drawn.num_rows and is_known(drawn, "tokens"):
            lengths[name] = sum(drawn.column("tokens").to_pylist()) / drawn.num_rows
        each = (
            pair_models(drawn, *chosen, clusters=read_clusters(asked))
            if len(drawn.column("model").unique()) == 2
            else []
        )
        if each and each[0].sampling_variance is not None:
            variances[name] = measure_variances(each[0])
    return Earlier(tuple(chosen), variances, problems, lengths)


def _primary(folder: Path) -> list[str] | None:
    path = folder / "comparisons.json"
    try:
        return json_text.loads(path.read_text(encoding="utf-8")).get("primary") if path.exists() else None
    except ValueError as error:
        raise UserError(f"{path}: not JSON ({error}); evaluate again, or give another --earlier") from None


def _of(table: pa.Table, **values: list[Any]) -> pa.Table:
    """The rows whose columns have one of the values."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for column, allowed in values.items():
        table = table.filter(pc.is_in(table.column(column), pa.array(allowed, table.schema.field(column).type)))
    return table


def _count_problems(names: Sequence[str], known: Earlier) -> dict[str, int]:
    """Problems per benchmark: those of the table, of the earlier evaluation, or of a file."""
    from compass.commands.evaluate_benchmarks import load_benchmarks
    from compass.evaluation.benchmarks import BENCHMARKS

    counts = {}
    for name in names:
        if name in BENCHMARKS:
            counts[name] = BENCHMARKS[name].rows
        elif name in (known.problems or {}):
            counts[name] = known.problems[name]
        else:
            counts |= {own: rows.num_rows for own, rows in load_benchmarks([name], max_problems=0, seed=0).items()}
    return counts


def _find_shape(model: str | None) -> Shape | None:
    from compass.plan.shape import find_shape, policy_shape
    from compass.settings import load_settings

    if model:
        return find_shape(model, Path())
    return policy_shape(load_settings(Path("params.yaml")), Path()) if Path("params.yaml").exists() else None


def _costs(
    problems: Mapping[str, int],
    known: Earlier,
    shape: Shape | None,
    machine: Machine,
    *,
    per_problem: int,
    models: int,
    most: int,
) -> list[Cost]:
    """What each benchmark takes; a model's start counts with the first."""
    from compass.plan.forecast import expect_lengths, sampling_hours, start_seconds

    found = []
    for name, count in problems.items():
        measured = (known.lengths or {}).get(name)
        low, middle, high = lengths = expect_lengths(most, measured)
        words = f"{middle:,.0f} tokens" + ("" if measured else f" ({low:,.0f} to {high:,.0f} of {most:,})")
        responses, start = count * per_problem, 0.0 if found else start_seconds(machine, "evaluate") * models
        hours: tuple[float, ...] = ()
        if shape:
            asked = (responses, responses, responses)
            hours = sampling_hours(machine, shape, asked, lengths, limit=most, start=start, models=models)
        tokens = responses * low, responses * middle, responses * high
        found.append(Cost(name, responses, tokens, hours, words, "measured" if measured else "assumed"))
    return found


def _table(chances: Sequence[Chance], costs: Sequence[Cost], price: float | None) -> Table:
    from compass.page.blocks import Table, format_hours, format_short

    head = ("benchmark", "problems", "responses", "tokens", "hours", *(["cost"] if price else []), "chance to find it", "found in 4 of 5 from", "samples for that")  # fmt: skip
    total = Cost(
        "average",
        sum(one.responses for one in costs),
        tuple(map(sum, zip(*(one.tokens for one in costs), strict=True))),
        tuple(map(sum, zip(*(one.hours for one in costs), strict=True))),
        "",
        "",
    )
    rows = []
    for chance, cost in zip(chances, [*costs, total], strict=True):
        low, middle, high = chance.power
        span = "" if high - low < 0.005 else f" ({100 * low:.0f} to {100 * high:.0f}%)"
        hours = cost.hours[1] if cost.hours else None
        rows.append((
            chance.name, chance.problems, cost.responses, format_short(cost.tokens[1]), "?" if hours is None else format_hours(hours),
            *([f"{hours * price:,.2f}" if hours is not None else "?"] if price else []),
            f"{100 * middle:.0f}%{span}", "none" if chance.smallest is None else f"{100 * chance.smallest:.1f} points",
            "no number" if chance.samples is None else chance.samples,
        ))  # fmt: skip
    return Table(head, rows)


def _inputs(
    chances: Sequence[Chance], costs: Sequence[Cost], known: Earlier, shape: Shape | None, accuracy: float
) -> list[str]:
    """What the forecast is made from, and where each of it is from."""
    from compass.plan.evaluation import LIKELY, SURE, UNSURE

    lines = [f"  {one.name}: mean response: {one.length} ({one.source})" for one in costs]
    measured = [one.name for one in chances[:-1] if one.source == "measured"]
    assumed = [one.name for one in chances[:-1] if one.source == "assumed"]
    if measured:
        lines.append(
            f"  {', '.join(measured)}: variances of {' and '.join(known.pair)} in the earlier evaluation (measured)"
        )
    if assumed:
        lines.append(
            f"  {', '.join(assumed)}: accuracy {accuracy:g}%, correlation {LIKELY.correlation} of a problem's samples, and {LIKELY.alike} ({UNSURE.alike} to {SURE.alike}) "
            "of the models' chances on a problem (assumed)"
        )
    size = (
        f"{shape.parameters / 1e6:,.1f} M parameters (configuration)"
        if shape
        else "not known, so hours are not; give --model"
    )
    return [
        *lines,
        f"  model: {size}",
        "  the true gain is the same on each benchmark; a benchmark's own chance is at its first share of the level (assumed)",
    ]
