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

RULES = "the verifier's rules"

GITHUB = "https://raw.githubusercontent.com"
DEEPSCALER = f"{GITHUB}/agentica-project/deepscaler/95ef74ffee001cce89463f2d61dfdce1d03576c1/deepscaler/data/test"
QWEN = f"{GITHUB}/QwenLM/Qwen2.5-Math/a45202bd16f1ec06f433442dc1152d0074773465/evaluation/data"
HUB_FILE = "data/train-00000-of-00001.parquet"


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
    published: str
    """Year and month from which the problems could be read: of a competition its last day, of another set its first publication."""

    overlaps: str | None = None
    """What it has in common with others, where that is known; `denoise` looks for common problems of sources and benchmarks by itself."""


def _here(stem: str, **fields: Any) -> dict[str, Any]:
    """A file with the fields id, problem and answer, which has no public address."""
    return {"path": f"{FOLDER}/{stem}.jsonl", "id_field": "id", **fields}


def _file(url: str, file: str = "", **fields: Any) -> dict[str, Any]:
    """A public file, which is put under the name `file`."""
    return {"url": url, "file": file or f"test{PurePosixPath(url).suffix}", **fields}


def _hub(hub: str, revision: str, file: str = "", **fields: Any) -> dict[str, Any]:
    """A dataset of the hub, with its file where that can be downloaded alone."""
    url = f"https://huggingface.co/datasets/{hub}/resolve/{revision}/{file}" if file else ""
    return {"hub": hub, "revision": revision, "url": url, "file": file, "sha256": "", **fields}


def _known(
    name: str, published: str, rows: int, licence: str, citation: str, *copies: dict[str, Any], rules: str = RULES, sha256: str = "",
    overlaps: str | None = None, source_licence: str = "", **fields: Any,
) -> KnownBenchmark:  # fmt: skip
    """A benchmark with its copies; `fields` hold for all of them, and where a copy does not say otherwise `rows` and `sha256`."""
    found = []
    for copy in copies:
        own = {"rows": rows, "sha256": sha256, "url": "", "file": "", **copy, **fields}
        count, digest, url, file = (own.pop(key) for key in ("rows", "sha256", "url", "file"))
        place = f"{FOLDER}/{name}/{file}"
        if file and "hub" not in own:
            own["path"] = place
        source = Source(name=name, licence=source_licence or licence, **own)
        found.append(Copy(source, count, digest, url, place if file and source.hub else ""))
    return KnownBenchmark(name, rows, licence, rules, citation, tuple(found), published, overlaps)


def _hub_set(name: str, published: str, rows: int, licence: str, citation: str, hub: str, subset: str, **facts: Any) -> KnownBenchmark:  # fmt: skip
    """A benchmark of which the hub alone has the rows, at no commit that is known here: the parquet file that the hub makes of its split `test`, or the hub itself."""
    file = _file(f"https://huggingface.co/api/datasets/{hub}/parquet/{subset}/test/0.parquet")
    return _known(name, published, rows, licence, citation, file, _hub(hub, "main", subset=subset, split="test"), **facts)  # fmt: skip


def _arena(name: str, published: str, rows: int, competition: str, revision: str, **facts: Any) -> KnownBenchmark:
    """A competition's final-answer problems as MathArena publishes them."""
    hub = _hub(f"MathArena/{name.replace('-', '_')}", revision, HUB_FILE, id_field="problem_idx")
    citation = f"{competition}; typed by Balunovic et al. 2025, arXiv 2505.23281 (MathArena)"
    return _known(name, published, rows, "CC-BY-NC-SA-4.0", citation, _here(name.replace("-", "")), hub, **facts)


_AIME = "American Invitational Mathematics Examination I and II"
_AIME_RULES = "whole numbers from 0 to 999; leading zeros do not matter"
_AIME_LICENCE = "none declared; the problems are the MAA's"
_SOLVED = {"answer_field": "", "solution_field": "solution"}
_OLYMPIAD = {"problem_field": "question", "answer_field": "final_answer", "id_field": "id"}
_GSM = {"problem_field": "question", "solution_field": "answer"}

KNOWN_BENCHMARKS = (
    _known(
        "aime-2024", "2024-02", 30, _AIME_LICENCE, f"Mathematical Association of America, {_AIME}, 2024",
        _here("aime2024", level_field="level"),
        _file(f"{DEEPSCALER}/aime.json", "aime.json"),
        _hub("HuggingFaceH4/aime_2024", "2fe88a2f1091d5048c0f36abc874fb997b3dd99a", HUB_FILE, id_field="id"),
        rules=_AIME_RULES, sha256="c484a4692f4adad14bb757520d807b74a9d075f106dca701521625335638cef0",
    ),
    _known(
        "amc-2023", "2023-11", 83, "Apache-2.0; the problems are the MAA's", "Project Numina, aimo-validation-amc, 2024",
        _here("amc", level_field="level"),
        _file(f"{DEEPSCALER}/amc.json", "amc.json"),
        _hub("AI-MO/aimo-validation-amc", "69d78a4a2c840e82d69af6bc742bda09005f6316", HUB_FILE, id_field="id"),
        source_licence="Apache-2.0", sha256="0c1d0dc633c66a7096b6040f0f0febc2a1acfc844b217700d53a21035104f112",
        rules="numbers; AMC 12 of 2022 and 2023 with the choices taken away: not the 40 problems of 2023 alone that others call AMC23",
        overlaps="holds the 40 problems of AMC 12 2023 that others call AMC23",
    ),
    _known(
        "math-500", "2021-03", 500, "MIT", "Hendrycks et al. 2021, arXiv 2103.03874; the selection: Lightman et al. 2023, arXiv 2305.20050",
        _here("math500"),
        _file(
            f"{GITHUB}/ZubinGou/math-evaluation-harness/db77bc6bb2a17c90ed2d63e88ebd8c40a82858c5/data/math_oai/test.jsonl", "oai.jsonl",
            id_field="unique_id",
        ),
        _hub("HuggingFaceH4/MATH-500", "6e4ed1a2a79af7d8630a6b768ec859cb5af4d3be", "test.jsonl", split="test", id_field="unique_id"),
        level_field="level", sha256="98764ccb5026e09f186e74b926db671d852e6f7bf63536c38a5709200f764634",
        overlaps="500 of MATH's 5,000 test problems, which are old competitions' (AMC, AIME)",
    ),
    _known(
        "minerva-math", "2022-06", 272, "none declared; the courses are CC-BY-NC-SA-4.0", "Lewkowycz et al. 2022, arXiv 2206.14858 (OCWCourses)",
        _here("minerva_math", other_answer_field="answer_sail"),
        _file(f"{QWEN}/minerva_math/test.jsonl", **_SOLVED),
        _hub("knoveleng/Minerva-Math", "main", **_SOLVED),
        source_licence="unknown", sha256="1e8feef6d106c8ebaa385f6ebfb5dfd119fb1f6149f053d35aa27f3ba0736396", tolerance="1%",
        rules="numbers within 1% of the gold, formulas by the verifier's rules; golds are the solutions' boxes, the widespread ones are scored beside",
    ),
    _known(
        "olympiad-bench", "2024-02", 675, "Apache-2.0", "He et al. 2024, arXiv 2402.14008",
        _here("olympiad_bench", answer_field="answers"),
        _file(f"{QWEN}/olympiadbench/test.jsonl", **_OLYMPIAD),
        _hub(
            "Hothan/OlympiadBench", "91184b52131e7fc9455fef848035173aea8cc01a", "OlympiadBench/OE_TO_maths_en_COMP/OE_TO_maths_en_COMP.parquet",
            rows=674, subset="OE_TO_maths_en_COMP", **_OLYMPIAD,  # the hub's edition has one problem less
        ),
        tolerance_field="error", unit_field="unit", sha256="3d3dcff822b6db016cf178f760605e57a07bb6ed0a62979ffa9882189f45b88e",
        rules="text-only, English, open-ended mathematics; several values are all needed, in any order; a row's error is absolute; units may be left out",
        overlaps="past olympiads, many in other collections",
    ),
    _known(
        "aime-2025", "2025-02", 30, _AIME_LICENCE, f"Mathematical Association of America, {_AIME}, 2025",
        _here("aime2025"),
        _hub("math-ai/aime25", "563bb8404243c5f09de6ec262f2db674fe5bce9b", "test.jsonl", split="test", id_field="id"),
        rules=_AIME_RULES,
    ),
    _arena("aime-2026", "2026-02", 30, f"{_AIME}, 2026", "d2de22f3c656b4f56cf8981212186377d1e23bc3", rules=_AIME_RULES),
    _arena("hmmt-feb-2025", "2025-02", 30, "Harvard-MIT Mathematics Tournament, February 2025", "6fdc4277120810ff75aa22d2d5489b91f7a262a1"),
    _arena("hmmt-nov-2025", "2025-11", 30, "Harvard-MIT Mathematics Tournament, November 2025", "118dbfb45c4c9467c672268ed55166642897aa46"),
    _arena("hmmt-feb-2026", "2026-02", 33, "Harvard-MIT Mathematics Tournament, February 2026", "02fba4f74d8e68e73e66a02d540fd979c05c274c"),
    _arena("brumo-2025", "2025-04", 30, "Brown University Math Olympiad, 2025", "6de9bc0987f5710c6376ee980e1483dbeb55cfda"),
    _arena("cmimc-2025", "2025-04", 40, "Carnegie Mellon Informatics and Mathematics Competition, 2025", "8f27517ce4ad1d05e023c0e7eca4344754ba2a04"),
    _arena("smt-2025", "2025-04", 53, "Stanford Math Tournament, 2025", "d8e99d83f1583842f46d4953cd960eea5d887e45"),
    _arena(
        "apex-2025", "2025-08", 12, "problems of 2025's competitions that no model solved reliably", "ac8a641db12cc87be39e61ea89f2e04c80c5f2e7",
        overlaps="taken from competitions of 2025, some of which are benchmarks here",
    ),
    _known(
        "beyond-aime", "2025-06", 100, "CC0-1.0",
        "ByteDance Seed 2025, BeyondAIME: Advancing Math Reasoning Evaluation Beyond High School Olympiads",
        _file("https://huggingface.co/api/datasets/ByteDance-Seed/BeyondAIME/parquet/default/test/0.parquet"),
        rules="whole numbers", overlaps="new problems, some like those of past competitions",
    ),
    _known(
        "imo-answerbench", "2025-11", 400, "CC-BY-4.0", "Luong et al. 2025, arXiv 2511.01846 (IMO-Bench)",
        _file(f"{GITHUB}/google-deepmind/superhuman/a02069ef66dbae4c5b0713ba0dc144a35375558f/imobench/answerbench.csv"),
        sha256="7330fa54a5962a4f576fa032c0d9631aa91ddf3269defc681911ac3126cd71db",
        problem_field="Problem", answer_field="Short Answer", id_field="Problem ID", overlaps="past olympiads, reworded by its authors",
        rules="the verifier's rules; 15 golds are words or cannot be read; 29 problems or golds were corrected in 2026, in a file that is not whole CSV",
    ),
    *(
        _known(
            f"olymmath-{level}", "2025-03", 100, "MIT", "Sun et al. 2025, arXiv 2503.21380; the English edition",
            _file(f"{GITHUB}/RUCAIBox/OlymMATH/94e19ffb8b7b7abe0f10f0015620c2e1eb57bf67/data/OlymMATH-EN-{level.upper()}.jsonl"),
            sha256=sha256, id_field="unique_id",
        )
        for level, sha256 in (
            ("easy", "84595726a575c2bfbf61b665e9637cc38004386b899d7ed5f0fc576b02821788"),
            ("hard", "4974a147399c60d542428ae10df469c767f4669231fb97797d9d9c8816eb7222"),
        )
    ),
    _known(
        "math-perturb-simple", "2025-02", 279, "Apache-2.0", "Huang et al. 2025, arXiv 2502.06453 (MATH-P-Simple)",
        _file(f"{GITHUB}/Kaffaljidhmah2/MATH-Perturb/df4840f680fce405c9449008564574961c7f4df1/math_perturb/math_perturb_simple.jsonl"),
        sha256="e2f3f741d0906905f2b935d98acce9782090682957a60d6eb9e75bd2c3501554", id_field="problem_id",
        rules="the verifier's rules; problems of MATH, level 5, changed so that the same way leads to the answer",
        overlaps="each problem is a changed one of MATH, level 5",
    ),
    _hub_set(
        "amo-bench-p", "2025-10", 39, "MIT", "An et al. 2025, arXiv 2510.26768 (AMO-Bench)", "meituan-longcat/AMO-Bench", "default",
        rules="the verifier's rules; the 39 problems of its 50 whose answers are no descriptions, as its authors' AMO-Bench-P; they check formulas by substitution",
        problem_field="prompt", id_field="question_id", only={"answer_type": ["number", "set", "variable"]},
    ),
    *(
        _hub_set(
            f"livemathbench-{subset.lower()}", "2024-12", rows, "none declared",
            f"Liu et al. 2024, arXiv 2412.13147 (LiveMathBench, version 202412, English: {full_name})",
            "opencompass/LiveMathBench", f"v202412_{subset}_en", problem_field="question",
        )
        for subset, rows, full_name in (
            ("AMC", 46, "American Mathematics Competition"),
            ("CCEE", 44, "China's Standardized College Entrance Examination"),
            ("CNMO", 18, "China National Mathematical Olympiad"),
            ("WLPMC", 11, "William Lowell Putnam Mathematical Competition"),
        )
    ),
    *(
        _known(
            name, "2024-10", rows, "CC-BY-NC-ND-4.0", "Mirzadeh et al. 2024, arXiv 2410.05229",
            _file(f"{GITHUB}/apple/ml-gsm-symbolic/b6a1625025fc857300203bac9f617e5d8ec99f65/generated_data/{file}.jsonl"),
            sha256=sha256, **_GSM, cluster_field="id", rules="numbers behind ####; 50 problems from each template of GSM8K",
            overlaps=f"templates of problems of gsm8k{more}",
        )
        for name, rows, file, sha256, more in (
            ("gsm-symbolic", 5_000, "GSM_symbolic", "", ""),
            ("gsm-symbolic-p2", 2_500, "GSM_p2", "a39e687de4ca2c5ae2d6df22a6f258bc375bdcfc28eb007454dfc6bd3b71c1f4", ", with two clauses more"),
        )
    ),
    _known(
        "gsm8k", "2021-10", 1_319, "MIT", "Cobbe et al. 2021, arXiv 2110.14168",
        _here("gsm8k"),
        _file(f"{QWEN}/gsm8k/test.jsonl", **_GSM),
        _hub("openai/gsm8k", "740312add88f781978c0658806c59bc2815b9866", "main/test-00000-of-00001.parquet", subset="main", split="test", **_GSM),
        rules="numbers behind ####; test split", sha256="40f66ec4f22f0e268c9106e9cf901a3027c252671e103948c6c7c61099ba6caf",
    ),
)  # fmt: skip
"""Every known benchmark, those of the report's Table 1 first."""
