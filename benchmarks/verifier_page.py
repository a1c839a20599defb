"""The page docs/measurements/scoreboard.md and its plot, from the results of `benchmarks/verifier.py`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from verifier_graders import GRADERS

WRONG_LABELS = Path(__file__).with_name("wrong_labels.json")
OURS = ("compass", "compass_strict")
MATH_VERIFY = ("math_verify", "math_verify_boxed")
SETS = {
    "mix": "a real gold and the same, a rewritten or a wrong answer",
    "cases": "hard pairs, labelled by hand; some are whole responses",
    "parser": "unusual LaTeX forms against what they mean",
    "new_pairs": "pairs written from the rules of mathematics and of writing; groups `round2_*` aim at weaknesses of an earlier version; seen while the rules were written, so other pairs fare worse",
    "hardverify": "HardVerify-Math: a right but awkward and a wrong answer to each problem",
    "grader_tests": "assertions from the tests of other graders, conventions included; many are whole responses",
    "new_responses": "whole responses, labelled with what a careful teacher would pay; seen while the rules were written",
    "answer_pairs": "this project's own tests",
}
NAMES = {
    "compass": "**this project**",
    "compass_strict": "**this project, strict**",
    "math_verify": "Math-Verify 0.9.0",
    "math_verify_boxed": "Math-Verify 0.9.0, boxed",
    "verl_math_dapo": "verl `math_dapo`",
    "verl_math_reward": "verl `math_reward`",
    "verl_prime_math": "verl `prime_math`",
    "oat": "oat `math_grader`, slow mode",
    "lm_eval_math_equal": "`math_equal` of lm-evaluation-harness",
}
HEAD = """# Scoreboard of answer verifiers

Every grader on the same labelled pairs, each in a process of its own. *Balanced* is the mean of the share of equal pairs and of the share of
different pairs that are judged right; *precision* and *recall* are those of the judgement "equal". Times are processor time in one process.
Rates and times are those of the pass with the median rate: on `mix` of {passes} for this project; {times}. The machine moves it: on
a slower day it was 178 to 194 (40 to 42 pairs/s of Math-Verify).

    python benchmarks/verifier.py SET.jsonl... --python math_verify=PYTHON \\
      --json work/verifier.json --page docs/measurements/scoreboard.md

writes this page and the plot. `PYTHON` is an interpreter that has the grader; with `--keep` and `--graders compass compass_strict`, results of other graders on
unchanged sets are kept. The sets are not in this repository; the top of `benchmarks/verifier.py` describes their format.

Math-Verify is run in two modes, and the comparisons take the one with the better balanced accuracy on each set: answers set in `$...$`, as
its README shows, or in `\\boxed{{}}`. `math_equal` is the function that ToRA, Qwen2.5-Math and NeMo-Skills share. On whole responses each grader uses its
own extraction.

![Balanced accuracy and speed of the verifiers](images/scoreboard.svg)

## By set
"""


def short(number: float) -> str:
    """A share with three digits: `.985`."""
    return "1" if number == 1 else f"{number:.3f}".lstrip("0") or "0"


def row_of(cells: list[object]) -> str:
    """A line of a table."""
    return f"| {' | '.join(map(str, cells))} |"


def best(results: list[dict[str, Any]], names: tuple[str, ...]) -> dict[str, Any] | None:
    """The result of the better of some graders."""
    return max((row for row in results if row["grader"] in names), key=lambda row: row["balanced"], default=None)


def table_of_sets(results: dict[str, Any]) -> list[str]:
    """All graders on every set."""
    lines = [
        row_of(["set", "grader", "balanced", "precision", "recall", "false +", "false −", "pairs/s", "p99 ms"]),
        row_of(["---"] * 9),
    ]
    for name, found in results.items():
        rows = [row for row in found["results"] if row["grader"] != "compass_strict" or name == "new_responses"]
        for number, row in enumerate(sorted(rows, key=lambda row: list(GRADERS).index(row["grader"]))):
            shares = [short(row[key]) for key in ("balanced", "precision", "recall")]
            errors = [row["false_positives"], row["false_negatives"]]
            speed = [f"{row['pairs_per_second']:,.0f}", f"{row['p99_ms']:.2f}"]
            title = f"`{name}` ({row['pairs']:,})" if number == 0 else ""
            lines.append(row_of([title, NAMES[row["grader"]], *shares, *errors, *speed]))
    return lines


def table_of_groups(results: dict[str, Any]) -> list[str]:
    """This project beside Math-Verify on every group of every set."""
    lines = [
        row_of(["set", "group", "pairs", "balanced", "precision", "recall", "pairs/s", "p99 ms", "Math-Verify: balanced", "precision", "recall", "pairs/s", "p99 ms"]),
        row_of(["---"] * 13),
    ]  # fmt: skip
    for name, found in results.items():
        ours, theirs = best(found["results"], ("compass",)), best(found["results"], MATH_VERIFY)
        if ours is None:
            continue
        for group, one in ours["groups"].items():
            other = theirs["groups"][group] if theirs else None
            lines.append(
                row_of([f"`{name}`", group, one["pairs"], *cells(one), *(cells(other) if other else [""] * 5)])
            )
    return lines


def cells(one: dict[str, Any]) -> list[str]:
    """What a group's line says of a grader."""
    shares = [short(one[key]) for key in ("balanced", "precision", "recall")]
    return [*shares, f"{one['pairs_per_second']:,.0f}", f"{one['p99_ms']:.2f}"]


def footnote(results: dict[str, Any]) -> list[str]:
    """Published labels that we hold to be wrong; the tables count them as published."""
    found = json.loads(WRONG_LABELS.read_text(encoding="utf-8"))
    lines = [row_of(["set", "line", "why"]), row_of(["---"] * 3)]
    for name, rows in found.items():
        lines += [row_of([f"`{name}`", line, why.replace("|", "\\|")]) for line, why in rows.items() if name in results]
    return lines


def plot(results: dict[str, Any], path: Path) -> None:
    """Balanced accuracy against pairs per second, one panel per set."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    pyplot.rcParams["svg.hashsalt"] = "scoreboard"
    pyplot.rcParams["svg.fonttype"] = "none"  # text stays text: small and searchable
    pyplot.rcParams["axes.formatter.use_mathtext"] = False
    figure, axes = pyplot.subplots(
        (len(results) + 3) // 4, 4, figsize=(16, 4 * ((len(results) + 3) // 4)), squeeze=False
    )
    for axis in axes.flat[len(results) :]:
        axis.axis("off")
    for axis, (name, found) in zip(axes.flat, results.items(), strict=False):
        for row in found["results"]:
            if row["grader"] == "compass_strict":
                continue
            color = "tab:red" if row["grader"] in OURS else "tab:blue"
            axis.scatter(row["pairs_per_second"], row["balanced"], s=50, color=color)
            place = (row["pairs_per_second"], row["balanced"])
            axis.annotate(row["grader"], place, textcoords="offset points", xytext=(5, -11), fontsize=7)
        axis.set(
            xscale="log",
            xlabel="pairs per second",
            ylabel="balanced accuracy",
            title=f"{name} ({found['results'][0]['pairs']:,})",
        )
        axis.minorticks_off()
        axis.margins(0.3)
        axis.grid(alpha=0.3)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})


def times(results: dict[str, Any]) -> tuple[int, str]:
    """Passes of this project on `mix`, and a sentence on how many times as fast as Math-Verify it is."""
    found = results.get("mix", {}).get("results", [])
    ours, theirs = best(found, ("compass",)), best(found, MATH_VERIFY)
    if ours is None or theirs is None:
        return 1, "no comparison with Math-Verify was made"
    ratio = ours["pairs_per_second"] / theirs["pairs_per_second"]
    return ours[
        "passes"
    ], f"there it is {ratio:.0f} times as fast as Math-Verify (passes of Math-Verify: {theirs['passes']})"


def write(results: dict[str, Any], page: Path) -> None:
    """Write the page, and the plot into `images/` beside it."""
    plot(results, page.parent / "images/scoreboard.svg")
    passes, sentence = times(results)
    sets = [f"- `{name}`: {SETS[name]}." for name in results if name in SETS]
    lines = [
        HEAD.format(passes=passes, times=sentence),
        *sets,
        "",
        *table_of_sets(results),
        "",
        "## By group",
        "",
        "This project, then Math-Verify in its better mode. Where a group has equal pairs alone or different pairs alone, *balanced* is the share judged right.",
        "",
        *table_of_groups(results),
        "",
        "## Labels that we hold to be wrong",
        "",
        "The tables count every label as published. In these rows (line of the file, from 1) we think that the label or the gold is wrong:",
        "",
        *footnote(results),
    ]
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")
