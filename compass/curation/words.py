"""A problem as words: the one normalised form that deduplication and decontamination compare.

Two texts that a reader takes for the same problem should give the same tokens, whatever their markup: case, white
space, punctuation, `$`, braces, `\\left`, `\\,` and font commands vanish; `\\dfrac` is `frac`, `\\frac12` is
`\\frac{1}{2}`, `1,000` is `1000`, `two` is `2`, `\\cdot` and `×` are `*`. What changes the mathematics stays: words,
numbers and operators. Words and numbers are *words*; operators are tokens that no n-gram counts, but they belong to
`key` and to `numbers`, so that `x + 1` and `x - 1` never become one problem.

Texts are scanned as UTF-8 by compiled code that holds no lock; the result depends on the text alone, never on how
many rows or threads work at once.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from compass.curation.word_scanner import NUMBERS_SEED as _NUMBERS_SEED
from compass.curation.word_scanner import scan

_GREEK = "αβγδεζηθικλμνξπρστυφχψωΔΣΩΓΛΠΦΨ"
_GREEK_NAMES = """
    alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega
    delta sigma omega gamma lambda pi phi psi
"""

_UNICODE = {
    **dict.fromkeys("−–—‐‑‒", "-"),
    **dict.fromkeys("×·⋅∙", r"\cdot "),
    **dict.fromkeys("‘’ʼ", "'"),
    **dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹", (f"^{digit}" for digit in range(10)), strict=True)),
    "÷": r"\div ",
    "≤": r"\le ",
    "⩽": r"\le ",
    "≥": r"\ge ",
    "⩾": r"\ge ",
    "≠": "!=",
    "√": r"\sqrt ",
    "∞": r"\infty ",
    "°": r"\circ ",
    "∠": r"\angle ",
    "△": r"\triangle ",
    "∪": r"\cup ",
    "∩": r"\cap ",
    "∈": r"\in ",
    **{letter: f"\\{name} " for letter, name in zip(_GREEK, _GREEK_NAMES.split(), strict=True)},
}
_TRANSLATION = str.maketrans(_UNICODE)

NO_NUMBERS = np.uint64(_NUMBERS_SEED ^ (_NUMBERS_SEED >> 31))
"""`Words.numbers` of a text without numbers, signs and deciding words."""


@dataclass(frozen=True)
class Words:
    """The words of `n` texts.

    Attributes:
        data: all words as UTF-8, each followed by one space, so that any n-gram is one slice.
        starts: where each word starts in `data`, and one entry past the end.
        first: for each text the index of its first word in `starts`; `n + 1` entries.
        key: `(n, 2)` 128-bit hashes of all tokens, operators included: equal keys are exact duplicates.
        numbers: 64-bit hashes of each text's numbers, signs (`+ - ^ ! < >`) and words that decide as a number does
            (`smallest`, `odd`, `hexagon`, `sin`), in their order.
    """

    data: np.ndarray
    starts: np.ndarray
    first: np.ndarray
    key: np.ndarray
    numbers: np.ndarray

    def __len__(self) -> int:
        return len(self.numbers)

    def of(self, text: int) -> list[str]:
        """The words of one text."""
        low, high = self.starts[self.first[text]], self.starts[self.first[text + 1]]
        return self.data[low:high].tobytes().decode().split()


def split_words(texts: Sequence[str] | pa.Array | pa.ChunkedArray) -> Words:
    """The words of each text; a null counts as an empty text."""
    column = _utf8(texts)
    offsets = np.frombuffer(column.buffers()[1], dtype=np.int64, count=len(column) + 1, offset=8 * column.offset)
    raw = column.buffers()[2]
    data = np.frombuffer(raw, dtype=np.uint8) if raw is not None else np.zeros(0, dtype=np.uint8)
    size = int(offsets[-1] - offsets[0])
    out = np.empty(2 * size + 2, dtype=np.uint8)
    starts = np.empty(size + 1, dtype=np.int64)
    first = np.empty(len(column) + 1, dtype=np.int64)
    key = np.empty((len(column), 2), dtype=np.uint64)
    numbers = np.empty(len(column), dtype=np.uint64)
    used = scan(data, offsets, out, starts, first, key, numbers)
    return Words(out[:used], starts[: first[-1] + 1], first, key, numbers)


def _utf8(texts: Sequence[str] | pa.Array | pa.ChunkedArray) -> pa.Array:
    """One contiguous large-string array without nulls, other alphabets' digits, forms and symbols made plain."""
    import pyarrow.compute as pc

    if isinstance(texts, pa.ChunkedArray):
        texts = texts.combine_chunks() if texts.num_chunks != 1 else texts.chunk(0)
    if not isinstance(texts, pa.Array):
        texts = pa.array(list(texts), type=pa.large_string())
    column = texts.cast(pa.large_string())
    if column.null_count:
        column = column.fill_null("")
    plain = pc.string_is_ascii(column)
    if pc.all(plain).as_py() is False:
        mended = [_plain(text) for text in column.filter(pc.invert(plain)).to_pylist()]
        column = pc.replace_with_mask(column, pc.invert(plain), pa.array(mended, type=pa.large_string()))
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    return column


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text.translate(_TRANSLATION)).translate(_TRANSLATION).lower()
