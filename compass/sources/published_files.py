"""Public files that profiles read from $COMPASS_DATA: their addresses at one commit, sizes, hashes and licences.

`compass data get` downloads them. Sizes and hashes are those of the files at these commits; what is written from them has one JSON object
per line, in their order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

GITHUB = "https://raw.githubusercontent.com"


@dataclass(frozen=True)
class Published:
    """A file at a public address."""

    url: str
    size: int = 0
    """Bytes; 0 where nobody has counted them."""

    sha256: str = ""
    """Empty where nobody has hashed it."""

    added: Mapping[str, Any] = field(default_factory=dict)
    """Fields that each of its rows gets."""


@dataclass(frozen=True)
class PublishedSet:
    """Rows of one or more public files, as one file in $COMPASS_DATA."""

    name: str
    path: str
    """Where it goes, below $COMPASS_DATA."""

    rows: int
    licence: str
    files: tuple[Published, ...]


_RLVR = f"{GITHUB}/TianHongZXY/RLVR-Decomposed/a5d4e7c1df6016ebd7396bd6db83d885120adb6d/data/math"
_GSM8K = f"{GITHUB}/openai/grade-school-math/3101c7d5072418e28b9008a6636bde82a006892c/grade_school_math/data"
_DEEPSCALER = f"{GITHUB}/agentica-project/deepscaler/95ef74ffee001cce89463f2d61dfdce1d03576c1/deepscaler/data/train"
_ONE_SHOT = f"{GITHUB}/ypwang61/One-Shot-RLVR/21ed529ec90002597c92aee957af1dd8166bb66c/data/train/one_shot_rlvr"
_SPURIOUS = f"{GITHUB}/ruixin31/Spurious_Rewards/33b9f85d5b099fabade71f562e75db719f5feaf2/code/data"
_EMPO = f"{GITHUB}/QingyangZhang/EMPO/c5eccd400ba7a7a1685dedf25eab03780aad855f/math_data"
_AGIEVAL = f"{GITHUB}/ruixiangcui/AGIEval/5c77d073fda993f1652eaae3cf5d04cc5fd21d40/data/v1"
_AQUA = f"{GITHUB}/google-deepmind/AQuA/26b64ed1f22208c6742f47df547dfd65088ec30d"
_CMATH = f"{GITHUB}/XiaoMi/cmath/9fa13ef0b2d03f5a18c1ace7001248d3981d65ea/datasets"
_HARP = f"{GITHUB}/aadityasingh/HARP/dac2734ff6443bcaf3bbdcb10f13cf21ae9729c2"
_PROOFNET = f"{GITHUB}/zhangir-azerbayev/ProofNet/509ad79710ed4f46ff5c282ed5640c1aa9ac3f30/benchmark"
_ZERO_SHOT = f"{GITHUB}/kojima-takeshi188/zero_shot_cot/5ef330fcdeec0cd26aee27943504f91f8ec1c33c/dataset"


def _set(name: str, path: str, rows: int, licence: str, *files: Published) -> PublishedSet:
    return PublishedSet(name, f"{path}.jsonl.gz", rows, licence, files)


PUBLISHED_SETS = (
    _set("math-train", "raw/math_train_hendrycks", 7_500, "MIT", Published(f"{_RLVR}/train.parquet", 3_934_236, "964fc8055e7febe17a52de2f015c050c2a2da408aac5d9e205d950141f204b05")),
    _set("gsm8k-train", "raw/gsm8k_train", 7_473, "MIT", Published(f"{_GSM8K}/train.jsonl", 4_166_206, "17f347dc51477c50d4efb83959dbb7c56297aba886e5544ee2aaed3024813465")),
    _set("aime-1983-2023", "raw/aime_1983_2023_deepscaler", 975, "MIT", Published(f"{_DEEPSCALER}/aime.json", 1_289_048, "78f1b9bae6d00794b43e79a5842917f7ef4e355d9b705743c61f255f3c7c5d49")),
    _set("dsr-sub", "raw/dsr_sub_1209", 1_209, "Apache-2.0; DeepScaleR: MIT", Published(f"{_ONE_SHOT}/dsr_sub.parquet", 208_112, "bce5945e5666d5b82f1554b0a18203a88a0209f82fa724e5bfdfc17cc9a1aea6")),
    _set(
        "deepscaler",
        "raw/deepscaler_by_difficulty",
        39_808,
        "MIT (DeepScaleR); the repository that sorted it by difficulty declares none",
        *(
            Published(f"{_SPURIOUS}/DeepScaleR_Difficulty_Level_{level}/train.json", size, sha256, {"difficulty_level": level})
            for level, size, sha256 in (
                (1, 2_075_682, "643655467b7ad4fbe19bdd3cf946ab31b9dc58118b4622da6e5325222d6bdee7"),
                (2, 2_605_341, "b030b2e9ca7d04c1b80e0703711a22fe602602518d8215bfbf1df74f56c841aa"),
                (3, 2_840_717, "f19613afe6b5b7c1adafe48b4c6d59cde8e0214855c3e9ddd1119167473fd882"),
                (4, 3_001_162, "12561f793d0a78e80d1e0cd4147e33a7b2ec89914ef3f6a2e9871b6ed4e811d5"),
                (5, 3_011_049, "ede17ca19c41c296294a0e2ec9bca827469766613ac97616c6bc05c7363779f4"),
            )
        ),
    ),
    _set("numina-20k", "raw/numina_20k_empo", 20_000, "Apache-2.0 (NuminaMath-CoT)", Published(f"{_EMPO}/NM_20K_1010.parquet", 2_970_384, "3a064fd73cfd410dae1bb3258b8f8567da5c889714d6999e6a4f1c183403798e")),
    _set("agieval-math", "raw/agieval_math", 1_000, "MIT", Published(f"{_AGIEVAL}/math.jsonl", 902_609, "43e783af2025318125a96a970a0df37941124a5c0dabea382a12ce1b04651a11")),
    _set(
        "aqua",
        "raw/aqua_dev_test",
        508,
        "Apache-2.0",
        Published(f"{_AQUA}/dev.json", 132_008, "4a52301d8a49ae0b286f8e697f9c5da1b109b247b825b47b4c6de34312dceec5"),
        Published(f"{_AQUA}/test.json", 130_192, "de41581881ef95c5588c44ddc701c77fd480839241dd422a0d181262af24520c"),
    ),
    _set("gaokao-mathqa", "raw/gaokao_mathqa_zh", 351, "MIT", Published(f"{_AGIEVAL}/gaokao-mathqa.jsonl", 139_660, "d246f12752d121289ef55cbf1bcf954243cefb65d110f71d09358e24065c808f")),
    _set(
        "cmath",
        "raw/cmath_zh",
        960,
        "CC-BY-4.0",
        Published(f"{_CMATH}/cmath_dev.jsonl", 117_774, "b9c6333a31fd740e7f5b5a71022bd59e00748798a3377364346d280549b25e3b"),
        Published(f"{_CMATH}/distractor.jsonl", 140_424, "6970b6f0c1770ac73a1a78efbc0980ad5d4437d0fac21eb3d645dc2be4933c31"),
    ),
    _set("harp-proof", "raw/harp_proof_based", 310, "MIT", Published(f"{_HARP}/HARP_proof-based.jsonl.zip", 1_097_378, "c50e24a4f639e1f3c2e0dbd0a944e9bc1cb0f19288bd1cb53722d2a96fe417b9")),
    _set(
        "proofnet",
        "raw/proofnet",
        371,
        "MIT",
        Published(f"{_PROOFNET}/valid.jsonl", 259_368, "3bfbebfc1f279d16747a8ac89196910bde1a2781edcaa4ea3b1bdc64eb9fe50b"),
        Published(f"{_PROOFNET}/test.jsonl", 279_916, "4eae0ba4a6503d6828afb63b4936f9913cce299ef81a17c372e1b75b56187177"),
    ),
    _set("svamp", "easy/svamp", 1_000, "MIT", Published(f"{_ZERO_SHOT}/SVAMP/SVAMP.json", 339_970, "5be77703a6d891ae476d7c082787ad361392aa02453b132516cdd5f4e7934e3e")),
    _set("addsub", "easy/addsub", 395, "none declared", Published(f"{_ZERO_SHOT}/AddSub/AddSub.json", 131_373, "21930fa90385c72b5a15f4b9a4dda27276b889ae9ff44285505cdd9fa0a20df8")),
    _set("multiarith", "easy/multiarith", 600, "none declared", Published(f"{_ZERO_SHOT}/MultiArith/MultiArith.json", 254_012, "dc9db1b6cc68b1ecc2dec830d15aaf8c9a0932aa31d5ffce88ef3628179d36f4")),
    _set("singleeq", "easy/singleeq", 508, "none declared", Published(f"{_ZERO_SHOT}/SingleEq/questions.json", 137_870, "051507bd2b489c257057b485774a83d2710c23a4bc0f4a58e1822ae2773ef05e")),
)  # fmt: skip
