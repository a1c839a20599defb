"""`compass memorised MODEL… --benchmarks …`: whether a model knows a benchmark's problems by heart."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from cyclopts import Parameter

from compass.commands.evaluate_models import ModelsAsked, find_models


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Asked(ModelsAsked):
    """On what, and how, models are probed."""

    shown: tuple[int, ...] = (80, 60, 40)
    """percent of each problem that is shown."""
    max_tokens: int = 1024
    """longest continuation; the model may go on to solve the problem in it."""
    dtype: str = "auto"
    """float32, bfloat16 or auto."""
    kv_cache_gib: int = 1
    """GiB of the key-value cache on a CPU."""


def memorised(models: list[str] | None = None, /, *, asked: Asked) -> int:
    """See whether a model knows a benchmark's problems by heart.

    Shows the beginning of each problem, as plain text, and compares how the model goes on with the rest: the share of problems that it completes
    word by word, and that it answers without having seen the end. A model that completes an old benchmark and not a young one has seen the old one: give one
    that is younger than the model too. The report of `--out` then says which problems were completed.

    Args:
        models: a stage of the pipeline (base, rl-3), a model folder, a .gguf file, a hub id with its commit
            (OWNER/NAME@COMMIT), or the URL of a server; NAME=MODEL gives it a name.

    Raises:
        UserError: a model, benchmark or setting cannot be used.

    Examples:
        compass memorised base --benchmarks math-500 aime-2026
        compass memorised --server http://127.0.0.1:8000/v1 --benchmarks math-500 aime-2026 --shown 60
    """
    from pydantic import ValidationError

    from compass.commands.evaluate_benchmarks import load_benchmarks
    from compass.commands.progress import draw_progress
    from compass.errors import UserError
    from compass.evaluation.memorised import LEAST_WORDS, probe_model, summarise_memorised
    from compass.evaluation.results import replace_rows
    from compass.sampling.model_source import choose_limits
    from compass.sampling.resume import ON_EVERY_GPU
    from compass.settings import Sampling

    if not models and not asked.server:
        raise UserError("give a MODEL or --server URL")
    if wrong := [share for share in asked.shown if not 0 < share < 100]:
        raise UserError(f"--shown {wrong[0]}: give percent of a problem, from 1 to 99")
    benchmarks = load_benchmarks(asked.benchmarks, max_problems=asked.max_problems, seed=asked.seed)
    work = asked.out / "work"
    for name, model in find_models(models or [], asked.server, asked.server_model, work).items():
        tokens, length = choose_limits(model, max_tokens=asked.max_tokens)
        limits = {"max_tokens": tokens, "max_model_len": length}
        try:
            sampling = Sampling(prompt="plain", dtype=asked.dtype, kv_cache_gib=asked.kv_cache_gib, **limits)  # type: ignore[arg-type]
        except ValidationError as error:
            raise UserError(f"{name}: {error.errors()[0]['msg'].removeprefix('Value error, ')}") from None
        options = {"shares": asked.shown, "seed": asked.seed, "folder": work, "engines": ON_EVERY_GPU}
        with draw_progress("memorised", lines=True):
            rows = probe_model(name, model, benchmarks, sampling, **options)
        if not rows.num_rows:
            print(
                f"memorised: warning: no problem has an end of {LEAST_WORDS} words to ask {name} for", file=sys.stderr
            )
        rows = replace_rows(asked.out / "memorised.parquet", rows, ("model", "benchmark"))
    summary = summarise_memorised(rows)
    first, second = (
        max([least, *(len(one[name]) for one in summary)]) for name, least in (("model", 24), ("benchmark", 18))
    )
    print(
        f"{'model':{first}} {'benchmark':{second}} {'shown':>6} {'problems':>8} {'completed':>9} {'95% interval':>15} {'ROUGE-L':>8} {'answered':>9}"
    )
    for one in summary:
        low, high = one["ci95"]
        print(
            f"{one['model']:{first}} {one['benchmark']:{second}} {one['shown']:5}% {one['problems']:8} {one['completed']:9.1%} "
            f"{low:7.1%} -{high:6.1%} {one['rouge_l']:8.1%} {one['answered']:9.1%}"
        )
    print(f"\neach continuation beside the end that was hidden: {asked.out / 'memorised.parquet'}")
    return 0
