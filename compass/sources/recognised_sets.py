"""The table of open sets that the project knows how to read: where they are, their fields, licence and size.

Row counts and licences are those of the sets' own pages, seen in 2025; `revision` is a commit where a page names one, and
`main` otherwise, to be pinned by `python -m compass.sources.pin PROFILE`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from compass.settings import Source


@dataclass(frozen=True)
class Known:
    """A source that can be read: its settings, the rows to expect (0: not published), and what to know about it."""

    source: Source
    rows: int
    about: str
    files: tuple[str, ...] = ()
    """Names of files, without their endings, that hold this set."""


_BOXED = ["Let's think step by step and output the final answer within \\boxed{}."]
_DAPO_PREFIX = (
    "Solve the following math problem step by step. The last line of your response should be of the form "
    "Answer: $Answer (without quotes) where $Answer is the answer to the problem."
)
_VERL = {
    "adapter": "chat",
    "problem_field": "prompt",
    "answer_field": "reward_model.ground_truth",
    "id_field": "extra_info.index",
}
"""The row shape of verl's own preprocessing scripts."""


def _hub(name: str, hub: str, rows: int, licence: str, about: str, revision: str = "main", **fields: Any) -> Known:
    return Known(Source(name=name, hub=hub, revision=revision, licence=licence, **fields), rows, about)


def _file(name: str, stem: str, rows: int, licence: str, about: str, **fields: Any) -> Known:
    path = f"$COMPASS_DATA/raw/{stem}.jsonl.gz"
    return Known(Source(name=name, path=path, licence=licence, **fields), rows, about, (stem,))


KNOWN_SOURCES = (
    _hub(
        "numina-1.5",
        "AI-MO/NuminaMath-1.5",
        896_215,
        "Apache-2.0",
        "Competition and school problems. Proofs and unanswered rows have the golds `proof` and `notfound`.",
        revision="9a5aae8427cb65ac9a8bb3136ffb1d554b70c478",
        solution_field="solution",
    ),
    _hub(
        "numina-cot",
        "AI-MO/NuminaMath-CoT",
        859_494,
        "Apache-2.0",
        "The first edition: golds in the solution's last box. Licensed CC-BY-NC-4.0 before its change to Apache-2.0.",
        revision="d5fb806061f3392fb8fddde7d45e18dfac409855",
        answer_field="",
        solution_field="solution",
    ),
    _hub(
        "big-math",
        "SynthLabsAI/Big-Math-RL-Verified",
        251_122,
        "Apache-2.0",
        "Filtered and graded by 64 rollouts of Llama-3.1-8B; gated: accept its terms on the hub first.",
        level_field="llama8b_solve_rate",
        level_means="solve_rate",
    ),
    _hub(
        "deepscaler-preview",
        "agentica-org/DeepScaleR-Preview-Dataset",
        40_315,
        "MIT",
        "AIME 1984-2023, AMC, Omni-MATH and STILL; 1,090 groups of duplicates, 194 with different answers.",
        solution_field="solution",
    ),
    _hub(
        "dapo-17k",
        "BytedTsinghua-SIA/DAPO-Math-17k",
        1_791_700,
        "Apache-2.0",
        "17,917 problems, each about a hundred times under the same id: the copies go to the ledger as duplicate ids.",
        **_VERL,
        strip_prefixes=[_DAPO_PREFIX],
        strip_suffixes=['Remember to put your answer on its own line after "Answer:".'],
    ),
    _hub(
        "skywork-or1",
        "Skywork/Skywork-OR1-RL-Data",
        105_055,
        "unknown",
        "Golds are the JSON text of a list of one. Its page names no licence in its metadata.",
        revision="1cdedc52e0e2db85fdf252f9be682e63a5a38c33",
        split="math",
        **{**_VERL, "id_field": ""},
        level_field="extra_info.model_difficulty.DeepSeek-R1-Distill-Qwen-7B",
    ),
    _hub(
        "omni-math",
        "KbsdJames/Omni-MATH",
        4_428,
        "Apache-2.0",
        "Olympiad problems with difficulty 1-10. A benchmark for many: leave it out where it is evaluated.",
        revision="0000b6bc8be4aa61655413073c3645ae4b3b30e8",
        split="test",
        solution_field="solution",
        level_field="difficulty",
    ),
    *(
        _hub(
            f"math-{subset.replace('_', '-')}",
            "EleutherAI/hendrycks_math",
            rows,
            "MIT",
            "MATH, training split, one subset per subject; golds in the solution's last box.",
            subset=subset,
            answer_field="",
            solution_field="solution",
            level_field="level",
        )
        for subset, rows in (
            ("algebra", 1_744),
            ("counting_and_probability", 771),
            ("geometry", 870),
            ("intermediate_algebra", 1_295),
            ("number_theory", 869),
            ("prealgebra", 1_205),
            ("precalculus", 746),
        )
    ),
    _hub(
        "gsm8k",
        "openai/gsm8k",
        7_473,
        "MIT",
        "Grade school, golds behind `####`.",
        subset="main",
        problem_field="question",
        solution_field="answer",
    ),
    _hub(
        "aime-1983-2024",
        "di-zhang-fdu/AIME_1983_2024",
        933,
        "MIT",
        "Holds AIME 2024, which decontamination takes out where it is a benchmark.",
        problem_field="Question",
        answer_field="Answer",
        id_field="ID",
    ),
    Known(
        Source(
            name="orz-57k",
            path="$COMPASS_DATA/orz_math_57k_collection.json",
            adapter="chat",
            problem_field="0.value",
            answer_field="1.ground_truth.value",
            licence="MIT",
        ),
        56_878,
        "Open-Reasoner-Zero/orz_math_57k_collection on the hub: one JSON array of bare conversations, which `datasets` "
        "has no table for; download the file.",
        ("orz_math_57k_collection", "orz_math_57k_collected"),
    ),
    _file(
        "math-train",
        "math_train_hendrycks",
        7_500,
        "MIT",
        "MATH's training split in verl's shape, with levels and solutions. Its `target` has lost the line ends of "
        "matrices and the units, so that golds come from the solution's last box.",
        adapter="chat",
        problem_field="prompt",
        answer_field="",
        solution_field="reward_model.ground_truth.solution",
        id_field="extra_info.index",
        level_field="level",
    ),
    _file(
        "gsm8k-train",
        "gsm8k_train",
        7_473,
        "MIT",
        "Grade school, golds behind `####`.",
        problem_field="question",
        solution_field="answer",
    ),
    _file(
        "aime-1983-2023",
        "aime_1983_2023_deepscaler",
        975,
        "MIT",
        "AIME with several solutions per problem: many ids, few problems.",
        solution_field="solution",
        level_field="difficulty",
    ),
    _file("dsr-sub", "dsr_sub_1209", 1_209, "MIT", "A subset of DeepScaleR.", **_VERL, strip_suffixes=_BOXED),
    _file(
        "deepscaler",
        "deepscaler_by_difficulty",
        39_808,
        "MIT",
        "DeepScaleR in five levels. Its ids repeat from level to level: the row number stands in.",
        problem_field="prompt",
        level_field="difficulty_level",
    ),
    _file(
        "numina-20k",
        "numina_20k_empo",
        20_000,
        "Apache-2.0",
        "A part of NuminaMath-CoT; golds in a list of one.",
        **_VERL,
        strip_suffixes=_BOXED,
    ),
    _file(
        "agieval-math",
        "agieval_math",
        1_000,
        "MIT",
        "1,000 rows of MATH's test split: contamination for whoever evaluates on MATH-500.",
        problem_field="question",
        solution_field="other.solution",
        level_field="other.level",
    ),
    _file(
        "aqua",
        "aqua_dev_test",
        508,
        "Apache-2.0",
        "Multiple choice.",
        adapter="options",
        problem_field="question",
        options_field="options",
        answer_field="correct",
        solution_field="rationale",
    ),
    _file(
        "gaokao-mathqa",
        "gaokao_mathqa_zh",
        351,
        "MIT",
        "Chinese multiple choice.",
        adapter="options",
        problem_field="question",
        options_field="options",
        answer_field="label",
    ),
    _file("cmath", "cmath_zh", 960, "CC-BY-4.0", "Chinese grade school.", problem_field="input", answer_field="golden"),
    _file(
        "harp-proof",
        "harp_proof_based",
        310,
        "MIT",
        "USAMO and USAJMO proofs, most without an answer.",
        answer_field="",
        solution_field="solution_1",
        level_field="level",
    ),
    _file(
        "proofnet",
        "proofnet",
        371,
        "MIT",
        "Undergraduate proofs, none with an answer.",
        problem_field="nl_statement",
        answer_field="",
        solution_field="nl_proof",
        id_field="id",
    ),
)
