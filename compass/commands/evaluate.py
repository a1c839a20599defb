"""`compass evaluate MODEL… --benchmarks …`: score any model on benchmarks, with or without the pipeline."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from compass.commands.evaluate_models import ModelsAsked, find_models
from compass.errors import UserError

if TYPE_CHECKING:
    import pyarrow as pa

    from compass.sampling.model_source import Model, Server
    from compass.settings import Evaluate


class EvaluateError(UserError):
    """Arguments that name no model or benchmark; the message says what is allowed."""


SAMPLING = Parameter(group=Group("Sampling", sort_key=1))
COST = Parameter(group=Group("Cost", sort_key=2))


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Asked(ModelsAsked):
    """On what, and how, models are scored."""

    samples: int = 8
    """sampled responses per problem; with `--until verdict` in the first round."""
    until: Literal["samples", "verdict"] = "samples"
    """`verdict`: sample in rounds, twice as many each time, until the comparison that decides has a verdict."""
    at_most: int = 0
    """samples per problem after the last round, with `--until verdict`."""
    primary: tuple[str, str] | None = None
    """the two models whose comparison decides (without it the last and base, or the first)."""
    greedy: bool = False
    """also one greedy response per problem."""
    replace: bool = False
    """drop responses that `--out` has of the model under another setup."""
    prompt: Annotated[str, SAMPLING] = "default"
    """a named prompt; docs/reference/evaluation.md lists them."""
    other_prompts: Annotated[tuple[str, ...], SAMPLING] = ()
    """named prompts to sample with as well: the report says whether the models stand in the same order."""
    chat_template: Annotated[str, SAMPLING] = ""
    """`chatml`, `question-answer` or `plain`, for a model that has none."""
    chat_template_kwargs: Annotated[str, SAMPLING] = "{}"
    """JSON object for the model's own chat template: '{"enable_thinking": false}', '{"reasoning_effort": "high"}'."""
    system_prompt: Annotated[str, SAMPLING] = ""
    """with the prompt `default`."""
    prompt_suffix: Annotated[str, SAMPLING] = ""
    """with the prompt `default`."""
    temperature: Annotated[float, SAMPLING] = 1.0
    """of sampling."""
    top_p: Annotated[float, SAMPLING] = 1.0
    """of sampling."""
    max_tokens: Annotated[int, SAMPLING] = 0
    """longest response (0: what the model's configuration leaves after a prompt, at most 32,768)."""
    max_model_len: Annotated[int, SAMPLING] = 0
    """longest prompt and response together (0: as long as these need, and the model takes)."""
    dtype: Annotated[str, SAMPLING] = "auto"
    """float32, bfloat16 or auto."""
    kv_cache_gib: Annotated[int, SAMPLING] = 1
    """GiB of the key-value cache on a CPU."""
    engines: Annotated[int, SAMPLING] = 0
    """vLLM engines that sample at once (0: one per GPU)."""
    json: bool = False
    """print the scores as JSON, as `scores.json` has them."""
    price_per_million_tokens: Annotated[float, COST] = 0.0
    """of sampled tokens."""
    price_per_hour: Annotated[float, COST] = 0.0
    """of the machine while it samples."""


def evaluate(models: list[str] | None = None, /, *, asked: Asked) -> int:
    """Score any model on benchmarks.

    A stopped run goes on where it was; more samples or another benchmark add to what is there.

    Args:
        models: a stage of the pipeline (base, rl-3), a model folder, a .gguf file, a hub id with its commit
            (OWNER/NAME@COMMIT), or the URL of a server; NAME=MODEL gives it a name.

    Raises:
        UserError: a model, benchmark or setting cannot be used, or `--out` holds responses of another setup.

    Examples:
        compass evaluate rl-3 base --benchmarks math-500 aime-2024 --samples 8 --greedy
        compass evaluate Qwen/Qwen2.5-Math-7B@COMMIT --benchmarks problems.jsonl --prompt qwen-math --max-tokens 3072
        compass evaluate --server http://127.0.0.1:8000/v1 --benchmarks math-500
        compass evaluate base rl-3 --benchmarks math-500 --until verdict --at-most 64
    """
    from compass.commands.evaluate_benchmarks import load_benchmarks
    from compass.commands.progress import draw_progress
    from compass.evaluation.results import GIVEN

    if not models and not asked.server:
        raise EvaluateError("give a MODEL or --server URL")
    if asked.out.exists() and not asked.out.is_dir():
        raise EvaluateError(f"--out {asked.out}: is a file; name a folder")
    if (asked.out / GIVEN).exists():
        raise EvaluateError(
            f"--out {asked.out}: is there as `compass score` wrote it, with responses made elsewhere; name another folder"
        )
    settings = _settings(asked)
    benchmarks = load_benchmarks(asked.benchmarks, max_problems=asked.max_problems, seed=asked.seed)
    found = find_models(models or [], asked.server, asked.server_model, asked.out / "work")
    limited = {name: _limited(settings, model, asked) for name, model in found.items()}
    with draw_progress("evaluate", lines=True):
        results = _sample(found, benchmarks, limited, asked)
    if asked.json:
        print(json.dumps({"models": results[0]}, indent=2, ensure_ascii=False))
        return 0
    _print(*results)
    print(f"\nresponses, problems, setups, comparisons and scores: {asked.out}")
    return 0


def _sample(
    models: dict[str, Model | Server], benchmarks: dict[str, pa.Table], settings: dict[str, Evaluate], asked: Asked
) -> tuple[dict[str, Any], dict[str, Any], pa.Table]:
    """Sample every model, in rounds where that is asked for, and write the results; returns scores, setups and samples of all that is in `--out`."""
    from compass.evaluation.evaluate import evaluate_model, evaluate_prompts
    from compass.evaluation.looks import check_plan, find_pair, sample_until_verdict
    from compass.evaluation.results import (
        add_prompts,
        add_results,
        problems_table,
        read_clusters,
        read_looks,
        write_results,
    )
    from compass.files import write_json
    from compass.settings import Engines

    if asked.engines < 0:
        raise EvaluateError(f"--engines must not be negative, found {asked.engines}")
    if asked.primary and asked.until == "samples":
        raise EvaluateError("--primary names the models that --until verdict compares; give that too")
    options: dict[str, Any] = {"seed": asked.seed, "work": asked.out / "work", "engines": Engines(count=asked.engines)}
    pair = find_pair(list(models), asked.primary) if asked.until == "verdict" else []
    looks = read_looks(asked.out)
    check_plan(looks, list(models), at_most=asked.at_most, samples=asked.samples, pair=pair)
    _check_alone(asked.out, pair, benchmarks)
    table = problems_table(benchmarks)
    found: tuple[pa.Table, pa.Table, dict[str, Any]]

    def add(names: Sequence[str], count: int) -> pa.Table:
        nonlocal found
        for name in names:
            wanted = settings[name].model_copy(update={"samples": count})
            sampled, setups = evaluate_model(name, models[name], benchmarks, wanted, **options)
            found = add_results(asked.out, _priced(sampled, asked), table, setups, replace=asked.replace)
            write()
        return found[0]

    def write() -> dict[str, Any]:
        scores = write_results(asked.out, *found, seed=asked.seed, looks=looks)
        write_json(asked.out / "scores.json", {"models": scores})
        return scores

    if pair:
        looks = sample_until_verdict(
            lambda count: add(list(models) if count == asked.samples else pair, count),
            samples=asked.samples,
            at_most=asked.at_most,
            pair=pair,
            seed=asked.seed,
            clusters=read_clusters(table),
        )
    else:
        add(list(models), asked.samples)
    for name in models if asked.other_prompts else ():
        add_prompts(asked.out, *evaluate_prompts(name, models[name], benchmarks, settings[name], **options))
    return write(), found[2], found[0]


def _check_alone(out: Path, pair: Sequence[str], benchmarks: Mapping[str, Any]) -> None:
    """Refuse a folder that has the two models' responses to other benchmarks: a look counts all that a comparison counts."""
    import pyarrow.parquet as pq

    path = out / "samples.parquet"
    rows = pq.read_table(path, columns=["model", "benchmark"]).to_pylist() if pair and path.exists() else []
    if others := sorted({row["benchmark"] for row in rows if row["model"] in pair} - set(benchmarks)):
        raise EvaluateError(
            f"--out {out}: has responses of {' and '.join(pair)} to {', '.join(others)} as well, which the verdict would count; give "
            "another --out, or name these benchmarks too"
        )


def _settings(asked: Asked) -> Evaluate:
    """The settings that are asked for; limits of length are those given, and wide ones where none are."""
    from pydantic import ValidationError

    from compass.settings import Evaluate, Sampling

    names = (
        "prompt",
        "chat_template",
        "system_prompt",
        "prompt_suffix",
        "temperature",
        "top_p",
        "dtype",
        "kv_cache_gib",
    )
    try:
        given = json.loads(asked.chat_template_kwargs)
    except ValueError as error:
        raise EvaluateError(f"--chat-template-kwargs {asked.chat_template_kwargs}: not JSON ({error})") from None
    try:
        sampling = Sampling(
            **{name: getattr(asked, name) for name in names},
            chat_template_kwargs=given,
            max_tokens=asked.max_tokens or 1,
            max_model_len=asked.max_model_len or asked.max_tokens + 2,
        )
        return Evaluate(
            samples=asked.samples,
            until=asked.until,
            at_most=asked.at_most,
            greedy=asked.greedy,
            max_problems=asked.max_problems,
            sampling=sampling,
            other_prompts=list(asked.other_prompts),
        )
    except ValidationError as error:
        problems = []
        for problem in error.errors():
            options = [f"--{part} ".replace("_", "-") for part in map(str, problem["loc"][-1:]) if not part.isdigit()]
            problems.append("".join(options) + problem["msg"].removeprefix("Value error, "))
        raise EvaluateError("; ".join(problems)) from None


def _limited(settings: Evaluate, model: Model | Server, asked: Asked) -> Evaluate:
    """The settings with the limits of length that a model has."""
    from compass.sampling.model_source import choose_limits

    tokens, length = choose_limits(model, max_tokens=asked.max_tokens, max_model_len=asked.max_model_len)
    if tokens >= length:
        raise EvaluateError(
            f"--max-tokens {tokens}: the model takes {length} tokens, and a prompt has to fit too; give fewer"
        )
    limits = {"max_tokens": tokens, "max_model_len": length}
    return settings.model_copy(update={"sampling": settings.sampling.model_copy(update=limits)})


def _priced(samples: pa.Table, asked: Asked) -> pa.Table:
    """The samples with their `cost`, null where no price is given."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not asked.price_per_million_tokens and not asked.price_per_hour:
        return samples
    tokens = pc.multiply(pc.cast(samples.column("tokens"), pa.float64()), asked.price_per_million_tokens / 1e6)
    hours = pc.multiply(samples.column("seconds"), asked.price_per_hour / 3600)
    return samples.append_column("cost", pc.add(tokens, hours))


def _print(scores: dict[str, Any], setups: dict[str, Any], samples: pa.Table) -> None:
    """The table: one line per model and benchmark."""
    from compass.evaluation.benchmark_scores import MOST_UNREAD
    from compass.evaluation.results import differences

    used = {
        (row["model"], row["setup"])
        for row in samples.select(["model", "setup"]).group_by(["model", "setup"]).aggregate([]).to_pylist()
    }
    for model, digest in sorted(used):
        prompt, engine = setups[digest]["prompt"], setups[digest]["engine"]
        print(
            f"{model}: prompt {prompt['name']} (version {prompt['version']}), {engine['name']} {engine['version']}, setup {digest}"
        )
    digests = sorted({digest for _, digest in used})
    for other in digests[1:]:
        changed = [name for name in differences(setups[digests[0]], setups[other]) if not name.startswith("model.")]
        if changed:
            print(f"evaluate: warning: setups {digests[0]} and {other} differ in {', '.join(changed)}", file=sys.stderr)
    first = max([24, *map(len, scores)])
    second = max([18, *(len(benchmark) for scored in scores.values() for benchmark in scored)])
    print(f"\n{'model':{first}} {'benchmark':{second}} {'accuracy':>8} {'95% interval':>15} {'greedy':>7} {'lenient':>8} {'cut off':>8} {'tokens':>7} {'s/problem':>9}")  # fmt: skip
    for model, scored in scores.items():
        for benchmark, score in scored.items():
            low, high = score["ci95"]
            greedy = f"{score['greedy']:7.1%}" if "greedy" in score else f"{'':7}"
            print(
                f"{model:{first}} {benchmark:{second}} {score['accuracy']:8.1%} {low:7.1%} -{high:6.1%} {greedy} {score['lenient']:8.1%} "
                f"{score['truncated']:8.1%} {score['length']:7.0f} {score.get('seconds', 0.0):9.1f}"
            )
            if (share := score["unanswered"] + score["unreadable"]) > MOST_UNREAD:
                print(
                    f"evaluate: warning: {share:.0%} of {model}'s responses to {benchmark} give no answer that can be read "
                    f"({score['truncated']:.0%} are cut off); look at some: compass verify GOLD RESPONSE --response",
                    file=sys.stderr,
                )
