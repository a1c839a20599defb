"""The table of benchmarks that the project knows by name: their copies, counts, contents, licences, rules and citations.

A copy says where it is and how it is read. Commits are those that several public projects pin; a copy without a known commit has the
revision `main`. `sha256` is `compass.evaluation.benchmarks.content_hash` of the records, empty where no copy was at hand to compute it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from compass.settings import Source

FOLDER = "$COMPASS_DATA/benchmarks"
"""Where local copies are looked for."""

DEEPSCALER = "https://raw.githubusercontent.com/agentica-project/deepscaler/95ef74ffee001cce89463f2d61dfdce1d03576c1/deepscaler/data/test"
QWEN = "https://raw.githubusercontent.com/QwenLM/Qwen2.5-Math/a45202bd16f1ec06f433442dc1152d0074773465/evaluation/data"


@dataclass(frozen=True)
class Copy:
    """One published copy of a benchmark."""

    source: Source
    rows: int
    sha256: str
    url: str = ""
    """Of its file, which `compass data get` puts where it is looked for; empty where the copy has no public file."""

    downloaded: str = ""
    """Of a hub dataset: where the file is put."""


@dataclass(frozen=True)
class KnownBenchmark:
    """A benchmark: what it is, how it is scored, and its copies in the order in which they are looked for."""

    name: str
    rows: int
    licence: str
    rules: str
    citation: str
    copies: tuple[Copy, ...]


def _here(name: str, stem: str, rows: int, sha256: str, licence: str, **fields: Any) -> Copy:
    """A file with the fields id, problem and answer."""
    source = Source(name=name, path=f"{FOLDER}/{stem}.jsonl", licence=licence, **{"id_field": "id", **fields})
    return Copy(source, rows, sha256)


def _file(name: str, file: str, url: str, rows: int, sha256: str, licence: str, **fields: Any) -> Copy:
    source = Source(name=name, path=f"{FOLDER}/{name}/{file}", licence=licence, **fields)
    return Copy(source, rows, sha256, url)


def _one_file(
    name: str,
    rows: int,
    sha256: str,
    licence: str,
    citation: str,
    url: str,
    rules: str = "the verifier's rules",
    **fields: Any,
) -> KnownBenchmark:
    """A benchmark with one public file."""
    file = f"test{PurePosixPath(url).suffix}"
    return KnownBenchmark(
        name, rows, licence, rules, citation, (_file(name, file, url, rows, sha256, licence, **fields),)
    )


def _hub(name: str, hub: str, file: str, rows: int, sha256: str, licence: str, revision: str, **fields: Any) -> Copy:
    source = Source(name=name, hub=hub, revision=revision, licence=licence, **fields)
    if not file:
        return Copy(source, rows, sha256)
    url = f"https://huggingface.co/datasets/{hub}/resolve/{revision}/{file}"
    return Copy(source, rows, sha256, url, f"{FOLDER}/{name}/{file}")


def _hub_set(
    name: str,
    rows: int,
    licence: str,
    citation: str,
    hub: str,
    subset: str,
    rules: str = "the verifier's rules",
    **fields: Any,
) -> KnownBenchmark:
    """A benchmark of which the hub alone has the rows, at no commit that is known here: the parquet file that the hub makes of its split `test`, or the hub itself."""
    url = f"https://huggingface.co/api/datasets/{hub}/parquet/{subset}/test/0.parquet"
    copies = (
        _file(name, "test.parquet", url, rows, "", licence, **fields),
        _hub(name, hub, "", rows, "", licence, "main", subset=subset, split="test", **fields),
    )
    return KnownBenchmark(name, rows, licence, rules, citation, copies)


def _arena(
    name: str, rows: int, revision: str, competition: str, rules: str = "the verifier's rules"
) -> KnownBenchmark:
    """A competition's final-answer problems as MathArena publishes them."""
    licence, hub = "CC-BY-NC-SA-4.0", f"MathArena/{name.replace('-', '_')}"
    file = "data/train-00000-of-00001.parquet"
    copies = (
        _here(name, name.replace("-", ""), rows, "", licence),
        _hub(name, hub, file, rows, "", licence, revision, id_field="problem_idx"),
    )
    citation = f"{competition}; typed by Balunovic et al. 2025, arXiv 2505.23281 (MathArena)"
    return KnownBenchmark(name, rows, licence, rules, citation, copies)


_AIME_RULES = "whole numbers from 0 to 999; leading zeros do not matter"
_AIME_LICENCE = "none declared; the problems are the MAA's"
_MINERVA = {"tolerance": "1%"}
_OLYMPIAD = {"tolerance_field": "error", "unit_field": "unit"}
_SHA = {
    "aime-2024": "c484a4692f4adad14bb757520d807b74a9d075f106dca701521625335638cef0",
    "amc-2023": "0c1d0dc633c66a7096b6040f0f0febc2a1acfc844b217700d53a21035104f112",
    "math-500": "98764ccb5026e09f186e74b926db671d852e6f7bf63536c38a5709200f764634",
    "minerva-math": "1e8feef6d106c8ebaa385f6ebfb5dfd119fb1f6149f053d35aa27f3ba0736396",
    "olympiad-bench": "3d3dcff822b6db016cf178f760605e57a07bb6ed0a62979ffa9882189f45b88e",
    "gsm8k": "40f66ec4f22f0e268c9106e9cf901a3027c252671e103948c6c7c61099ba6caf",
}

KNOWN_BENCHMARKS = (
    KnownBenchmark(
        "aime-2024",
        30,
        _AIME_LICENCE,
        _AIME_RULES,
        "Mathematical Association of America, American Invitational Mathematics Examination I and II, 2024",
        (
            _here("aime-2024", "aime2024", 30, _SHA["aime-2024"], _AIME_LICENCE, level_field="level"),
            _file("aime-2024", "aime.json", f"{DEEPSCALER}/aime.json", 30, _SHA["aime-2024"], _AIME_LICENCE),
            _hub(
                "aime-2024",
                "HuggingFaceH4/aime_2024",
                "data/train-00000-of-00001.parquet",
                30,
                "",
                _AIME_LICENCE,
                "2fe88a2f1091d5048c0f36abc874fb997b3dd99a",
                id_field="id",
            ),
        ),
    ),
    KnownBenchmark(
        "amc-2023",
        83,
        "Apache-2.0; the problems are the MAA's",
        "numbers; AMC 12 of 2022 and 2023 with the choices taken away: not the 40 problems of 2023 alone that others call AMC23",
        "Project Numina, aimo-validation-amc, 2024",
        (
            _here("amc-2023", "amc", 83, _SHA["amc-2023"], "Apache-2.0", level_field="level"),
            _file("amc-2023", "amc.json", f"{DEEPSCALER}/amc.json", 83, _SHA["amc-2023"], "Apache-2.0"),
            _hub(
                "amc-2023",
                "AI-MO/aimo-validation-amc",
                "data/train-00000-of-00001.parquet",
                83,
                "",
                "Apache-2.0",
                "69d78a4a2c840e82d69af6bc742bda09005f6316",
                id_field="id",
            ),
        ),
    ),
    KnownBenchmark(
        "math-500",
        500,
        "MIT",
        "the verifier's rules",
        "Hendrycks et al. 2021, arXiv 2103.03874; the selection: Lightman et al. 2023, arXiv 2305.20050",
        (
            _here("math-500", "math500", 500, _SHA["math-500"], "MIT", level_field="level"),
            _file(
                "math-500",
                "oai.jsonl",
                "https://raw.githubusercontent.com/ZubinGou/math-evaluation-harness/db77bc6bb2a17c90ed2d63e88ebd8c40a82858c5/data/math_oai/test.jsonl",
                500,
                _SHA["math-500"],
                "MIT",
                id_field="unique_id",
                level_field="level",
            ),
            _hub(
                "math-500",
                "HuggingFaceH4/MATH-500",
                "test.jsonl",
                500,
                "",
                "MIT",
                "6e4ed1a2a79af7d8630a6b768ec859cb5af4d3be",
                split="test",
                id_field="unique_id",
                level_field="level",
            ),
        ),
    ),
    KnownBenchmark(
        "minerva-math",
        272,
        "none declared; the courses are CC-BY-NC-SA-4.0",
        "numbers within 1% of the gold, formulas by the verifier's rules; golds are the solutions' boxes, the widespread ones are scored beside",
        "Lewkowycz et al. 2022, arXiv 2206.14858 (OCWCourses)",
        (
            _here(
                "minerva-math",
                "minerva_math",
                272,
                _SHA["minerva-math"],
                "unknown",
                other_answer_field="answer_sail",
                **_MINERVA,
            ),
            _file(
                "minerva-math",
                "test.jsonl",
                f"{QWEN}/minerva_math/test.jsonl",
                272,
                _SHA["minerva-math"],
                "unknown",
                answer_field="",
                solution_field="solution",
                **_MINERVA,
            ),
            _hub(
                "minerva-math",
                "knoveleng/Minerva-Math",
                "",
                272,
                "",
                "unknown",
                "main",
                answer_field="",
                solution_field="solution",
                **_MINERVA,
            ),
        ),
    ),
    KnownBenchmark(
        "olympiad-bench",
        675,
        "Apache-2.0",
        "text-only, English, open-ended mathematics; several values are all needed, in any order; a row's error is absolute; units may be left out",
        "He et al. 2024, arXiv 2402.14008",
        (
            _here(
                "olympiad-bench",
                "olympiad_bench",
                675,
                _SHA["olympiad-bench"],
                "Apache-2.0",
                answer_field="answers",
                **_OLYMPIAD,
            ),
            _file(
                "olympiad-bench",
                "test.jsonl",
                f"{QWEN}/olympiadbench/test.jsonl",
                675,
                _SHA["olympiad-bench"],
                "Apache-2.0",
                problem_field="question",
                answer_field="final_answer",
                id_field="id",
                **_OLYMPIAD,
            ),
            _hub(
                "olympiad-bench",
                "Hothan/OlympiadBench",
                "OlympiadBench/OE_TO_maths_en_COMP/OE_TO_maths_en_COMP.parquet",
                674,  # the hub's edition has one problem less
                "",
                "Apache-2.0",
                "91184b52131e7fc9455fef848035173aea8cc01a",
                subset="OE_TO_maths_en_COMP",
                problem_field="question",
                answer_field="final_answer",
                id_field="id",
                **_OLYMPIAD,
            ),
        ),
    ),
    KnownBenchmark(
        "aime-2025",
        30,
        _AIME_LICENCE,
        _AIME_RULES,
        "Mathematical Association of America, American Invitational Mathematics Examination I and II, 2025",
        (
            _here("aime-2025", "aime2025", 30, "", _AIME_LICENCE),
            _hub(
                "aime-2025",
                "math-ai/aime25",
                "test.jsonl",
                30,
                "",
                _AIME_LICENCE,
                "563bb8404243c5f09de6ec262f2db674fe5bce9b",
                split="test",
                id_field="id",
            ),
        ),
    ),
    _arena(
        "aime-2026",
        30,
        "d2de22f3c656b4f56cf8981212186377d1e23bc3",
        "American Invitational Mathematics Examination I and II, 2026",
        _AIME_RULES,
    ),
    _arena(
        "hmmt-feb-2025",
        30,
        "6fdc4277120810ff75aa22d2d5489b91f7a262a1",
        "Harvard-MIT Mathematics Tournament, February 2025",
    ),
    _arena(
        "hmmt-nov-2025",
        30,
        "118dbfb45c4c9467c672268ed55166642897aa46",
        "Harvard-MIT Mathematics Tournament, November 2025",
    ),
    _arena(
        "hmmt-feb-2026",
        33,
        "02fba4f74d8e68e73e66a02d540fd979c05c274c",
        "Harvard-MIT Mathematics Tournament, February 2026",
    ),
    _arena("brumo-2025", 30, "6de9bc0987f5710c6376ee980e1483dbeb55cfda", "Brown University Math Olympiad, 2025"),
    _arena(
        "cmimc-2025",
        40,
        "8f27517ce4ad1d05e023c0e7eca4344754ba2a04",
        "Carnegie Mellon Informatics and Mathematics Competition, 2025",
    ),
    _arena("smt-2025", 53, "d8e99d83f1583842f46d4953cd960eea5d887e45", "Stanford Math Tournament, 2025"),
    _arena(
        "apex-2025",
        12,
        "ac8a641db12cc87be39e61ea89f2e04c80c5f2e7",
        "problems of 2025's competitions that no model solved reliably",
    ),
    _one_file(
        "beyond-aime",
        100,
        "",
        "CC0-1.0",
        "ByteDance Seed 2025, BeyondAIME: Advancing Math Reasoning Evaluation Beyond High School Olympiads",
        "https://huggingface.co/api/datasets/ByteDance-Seed/BeyondAIME/parquet/default/test/0.parquet",
        "whole numbers",
    ),
    _one_file(
        "imo-answerbench",
        400,
        "7330fa54a5962a4f576fa032c0d9631aa91ddf3269defc681911ac3126cd71db",
        "CC-BY-4.0",
        "Luong et al. 2025, arXiv 2511.01846 (IMO-Bench)",
        "https://raw.githubusercontent.com/google-deepmind/superhuman/a02069ef66dbae4c5b0713ba0dc144a35375558f/imobench/answerbench.csv",
        "the verifier's rules; 15 golds are words or cannot be read; 29 problems or golds were corrected in 2026, in a file that is not whole CSV",
        problem_field="Problem",
        answer_field="Short Answer",
        id_field="Problem ID",
    ),
    *(
        _one_file(
            f"olymmath-{level}",
            100,
            sha256,
            "MIT",
            "Sun et al. 2025, arXiv 2503.21380; the English edition",
            f"https://raw.githubusercontent.com/RUCAIBox/OlymMATH/94e19ffb8b7b7abe0f10f0015620c2e1eb57bf67/data/OlymMATH-EN-{level.upper()}.jsonl",
            id_field="unique_id",
        )
        for level, sha256 in (
            ("easy", "84595726a575c2bfbf61b665e9637cc38004386b899d7ed5f0fc576b02821788"),
            ("hard", "4974a147399c60d542428ae10df469c767f4669231fb97797d9d9c8816eb7222"),
        )
    ),
    _one_file(
        "math-perturb-simple",
        279,
        "e2f3f741d0906905f2b935d98acce9782090682957a60d6eb9e75bd2c3501554",
        "Apache-2.0",
        "Huang et al. 2025, arXiv 2502.06453 (MATH-P-Simple)",
        "https://raw.githubusercontent.com/Kaffaljidhmah2/MATH-Perturb/df4840f680fce405c9449008564574961c7f4df1/math_perturb/math_perturb_simple.jsonl",
        "the verifier's rules; problems of MATH, level 5, changed so that the same way leads to the answer",
        id_field="problem_id",
    ),
    _hub_set(
        "amo-bench-p",
        39,
        "MIT",
        "An et al. 2025, arXiv 2510.26768 (AMO-Bench)",
        "meituan-longcat/AMO-Bench",
        "default",
        "the verifier's rules; the 39 problems of its 50 whose answers are no descriptions, as its authors' AMO-Bench-P; they check formulas by substitution",
        problem_field="prompt",
        id_field="question_id",
        only={"answer_type": ["number", "set", "variable"]},
    ),
    *(
        _hub_set(
            f"livemathbench-{subset.lower()}",
            rows,
            "none declared",
            f"Liu et al. 2024, arXiv 2412.13147 (LiveMathBench, version 202412, English: {full_name})",
            "opencompass/LiveMathBench",
            f"v202412_{subset}_en",
            problem_field="question",
        )
        for subset, rows, full_name in (
            ("AMC", 46, "American Mathematics Competition"),
            ("CCEE", 44, "China's Standardized College Entrance Examination"),
            ("CNMO", 18, "China National Mathematical Olympiad"),
            ("WLPMC", 11, "William Lowell Putnam Mathematical Competition"),
        )
    ),
    *(
        _one_file(
            name,
            rows,
            sha256,
            "CC-BY-NC-ND-4.0",
            "Mirzadeh et al. 2024, arXiv 2410.05229",
            f"https://raw.githubusercontent.com/apple/ml-gsm-symbolic/b6a1625025fc857300203bac9f617e5d8ec99f65/generated_data/{file}.jsonl",
            "numbers behind ####; 50 problems from each template of GSM8K",
            problem_field="question",
            solution_field="answer",
            cluster_field="id",
        )
        for name, rows, file, sha256 in (
            ("gsm-symbolic", 5_000, "GSM_symbolic", ""),
            (
                "gsm-symbolic-p2",
                2_500,
                "GSM_p2",
                "a39e687de4ca2c5ae2d6df22a6f258bc375bdcfc28eb007454dfc6bd3b71c1f4",
            ),
        )
    ),
    KnownBenchmark(
        "gsm8k",
        1_319,
        "MIT",
        "numbers behind ####; test split",
        "Cobbe et al. 2021, arXiv 2110.14168",
        (
            _here("gsm8k", "gsm8k", 1_319, _SHA["gsm8k"], "MIT"),
            _file(
                "gsm8k",
                "test.jsonl",
                f"{QWEN}/gsm8k/test.jsonl",
                1_319,
                _SHA["gsm8k"],
                "MIT",
                problem_field="question",
                solution_field="answer",
            ),
            _hub(
                "gsm8k",
                "openai/gsm8k",
                "main/test-00000-of-00001.parquet",
                1_319,
                "",
                "MIT",
                "740312add88f781978c0658806c59bc2815b9866",
                subset="main",
                split="test",
                problem_field="question",
                solution_field="answer",
            ),
        ),
    ),
)
"""Every known benchmark, those of the report's Table 1 first."""

PUBLISHED = {
    "aime-2024": "2024-02", "amc-2023": "2023-11", "math-500": "2021-03", "minerva-math": "2022-06", "olympiad-bench": "2024-02", "aime-2025": "2025-02",
    "aime-2026": "2026-02", "hmmt-feb-2025": "2025-02", "hmmt-nov-2025": "2025-11", "hmmt-feb-2026": "2026-02", "brumo-2025": "2025-04",
    "cmimc-2025": "2025-04", "smt-2025": "2025-04", "apex-2025": "2025-08", "beyond-aime": "2025-06", "imo-answerbench": "2025-11",
    "olymmath-easy": "2025-03", "olymmath-hard": "2025-03", "math-perturb-simple": "2025-02", "amo-bench-p": "2025-10", "livemathbench-amc": "2024-12",
    "livemathbench-ccee": "2024-12", "livemathbench-cnmo": "2024-12", "livemathbench-wlpmc": "2024-12", "gsm-symbolic": "2024-10",
    "gsm-symbolic-p2": "2024-10", "gsm8k": "2021-10",
}  # fmt: skip
"""Year and month from which the problems could be read, by benchmark: of a competition its last day, of another set its first publication."""

OVERLAPS = {
    "amc-2023": "holds the 40 problems of AMC 12 2023 that others call AMC23",
    "math-500": "500 of MATH's 5,000 test problems, which are old competitions' (AMC, AIME)",
    "olympiad-bench": "past olympiads, many in other collections",
    "apex-2025": "taken from competitions of 2025, some of which are benchmarks here",
    "imo-answerbench": "past olympiads, reworded by its authors",
    "math-perturb-simple": "each problem is a changed one of MATH, level 5",
    "gsm-symbolic": "templates of problems of gsm8k",
    "gsm-symbolic-p2": "templates of problems of gsm8k, with two clauses more",
    "beyond-aime": "new problems, some like those of past competitions",
}
"""What a benchmark has in common with others, where that is known; `denoise` looks for common problems of sources and benchmarks by itself."""
