"""The compiled scanner behind `words.py`: bytes of normalised texts in, words, keys and number hashes out."""

from __future__ import annotations

import numba
import numpy as np

NUMBERS_SEED = 0x13198A2E03707344
"""What the hash of a text's numbers starts from."""

# Kept as text, one word after the other: a list of quoted words takes a line each.
_COMMANDS_WITHOUT_MEANING = """
    left right big bigl bigr bigg biggl biggr bigm text textbf textit textrm textup mbox hbox mathrm mathbf mathit
    mathsf mathbb mathcal boldsymbol bm operatorname displaystyle textstyle scriptstyle limits nolimits quad qquad
    rm bf it emph underline ldots cdots dots dotsc dotsb dotsm dotso vdots hspace vspace noindent hfill newline par
    middle mathop hskip kern tag label nonumber enspace thinspace
"""
_FRACTIONS = ("dfrac", "tfrac", "cfrac", "frac")
_BINOMIALS = ("dbinom", "tbinom", "binom")
_OPERATOR_COMMANDS = {
    **dict.fromkeys(("cdot", "times", "ast"), "*"),
    **dict.fromkeys(("le", "leq", "leqslant", "leqq", "lt"), "<"),
    **dict.fromkeys(("ge", "geq", "geqslant", "geqq", "gt"), ">"),
    "div": "/",
    "mid": "|",
    "vert": "|",
}
_NUMBER_WORDS = """
    two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
    nineteen twenty
"""
_TENS = """thirty forty fifty sixty seventy eighty ninety"""
# Words that make another problem of the same text, as a number does; the words of one line mean the same.
_DECIDING = """
    minimum minimal minimize smallest least lowest
    maximum maximal maximize largest greatest highest
    even
    odd
    pentagon
    hexagon
    heptagon
    octagon
    nonagon
    decagon
    dodecagon
    sin sine
    cos cosine
    tan tangent
    cot cotangent
    sec secant
    csc cosecant
    arcsin
    arccos
    arctan
    third
    fourth
    fifth
    sixth
    median
    mean average
    mode
"""

_SEPARATOR, _LETTER, _DIGIT, _OPERATOR, _BACKSLASH, _QUOTE, _HYPHEN, _LEAD2, _LEAD3, _LEAD4 = range(10)


def _byte_classes() -> np.ndarray:
    classes = np.zeros(256, dtype=np.uint8)
    for byte in range(128):
        letter = chr(byte)
        if letter.isalpha():
            classes[byte] = _LETTER
        elif letter.isdigit():
            classes[byte] = _DIGIT
        elif letter in "+*/^=<>|!%()[]":
            classes[byte] = _OPERATOR
    classes[ord("\\")] = _BACKSLASH
    classes[ord("'")] = _QUOTE
    classes[ord("-")] = _HYPHEN
    classes[0xC0:0xE0] = _LEAD2
    classes[0xE0:0xF0] = _LEAD3
    classes[0xF0:] = _LEAD4
    return classes


def _hash_word(word: str) -> int:
    value = 0xCBF29CE484222325
    for byte in word.encode():
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


def _dictionary() -> tuple[np.ndarray, np.ndarray]:
    """Words with a meaning of their own: sorted hashes, and what each stands for.

    Meanings: 1 nothing, 2 fraction, 3 binomial, 100 + k the k-th line of `_DECIDING`, 200 + n the number n, 1000 + c the
    operator c.
    """
    meanings = {_hash_word("\\" + word): 1 for word in _COMMANDS_WITHOUT_MEANING.split()}
    meanings |= {_hash_word("\\" + word): 2 for word in _FRACTIONS}
    meanings |= {_hash_word("\\" + word): 3 for word in _BINOMIALS}
    meanings |= {_hash_word("\\" + word): 1000 + ord(sign) for word, sign in _OPERATOR_COMMANDS.items()}
    meanings |= {_hash_word(word): 200 + number for number, word in enumerate(_NUMBER_WORDS.split(), start=2)}
    meanings |= {_hash_word(word): 200 + 10 * number for number, word in enumerate(_TENS.split(), start=3)}
    for line, words in enumerate(_DECIDING.strip().splitlines()):
        meanings |= {_hash_word(mark + word): 100 + line for word in words.split() for mark in ("", "\\")}
    hashes = np.array(sorted(meanings), dtype=np.uint64)
    return hashes, np.array([meanings[int(value)] for value in hashes], dtype=np.int64)


_CLASSES = _byte_classes()
_HASHES, _MEANINGS = _dictionary()


@numba.njit(cache=True, nogil=True, inline="always")
def _mix(state, byte):
    return (state ^ np.uint64(byte)) * np.uint64(0x100000001B3)


@numba.njit(cache=True, nogil=True, inline="always")
def _mix_other(state, byte):
    state = (state + np.uint64(byte) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    return state ^ (state >> np.uint64(29))


@numba.njit(cache=True, nogil=True)
def _thousands(data, at, end):
    """Length of a thousands separator at `at` (`,` or `,\\!` or `{,}` before exactly three digits), 0 for none."""
    length = 1
    if data[at] == 123:  # {,}
        if at + 2 >= end or data[at + 1] != 44 or data[at + 2] != 125:
            return 0
        length = 3
    elif data[at] != 44:
        return 0
    elif at + 2 < end and data[at + 1] == 92 and data[at + 2] == 33:
        length = 3
    digits = 0
    while at + length + digits < end and 48 <= data[at + length + digits] <= 57:
        digits += 1
    return length if digits == 3 else 0


@numba.njit(cache=True, nogil=True)
def _is_prose(data, at, end):
    """Whether a run of at least two letters starts at `at` or after spaces."""
    while at < end and data[at] == 32:
        at += 1
    return at + 1 < end and _CLASSES[data[at]] == _LETTER and _CLASSES[data[at + 1]] == _LETTER


@numba.njit(cache=True, nogil=True)
def _meaning(value):
    place = np.searchsorted(_HASHES, value)
    if place < _HASHES.size and _HASHES[place] == value:
        return _MEANINGS[place]
    return 0


@numba.njit(cache=True, nogil=True)
def scan(data, offsets, out, starts, first, key, numbers):
    """Write the words of every text into `out`; returns the number of bytes used."""
    used = 0
    words = 0
    for text in range(offsets.size - 1):
        at = offsets[text]
        end = offsets[text + 1]
        first[text] = words
        low = np.uint64(0xCBF29CE484222325)
        high = np.uint64(0x243F6A8885A308D3)
        number = np.uint64(NUMBERS_SEED)
        single_digits = 0  # digits that stand for an argument each, after \frac
        prose = False  # whether the last token is a word of two letters or more
        while at < end:
            byte = data[at]
            kind = _CLASSES[byte]
            begin = used
            operator = 0
            is_number = False
            if kind == _SEPARATOR:
                at += 1
                if single_digits == 1:  # \frac1{23}: what follows is no bare digit
                    single_digits = 0
                continue
            if kind in (_LETTER, _LEAD2):
                value = np.uint64(0xCBF29CE484222325)
                while at < end:
                    byte = data[at]
                    if _CLASSES[byte] == _LETTER:
                        byte |= 32
                        out[used] = byte
                        used += 1
                        value = _mix(value, byte)
                        at += 1
                    elif _CLASSES[byte] == _LEAD2 and at + 1 < end:
                        out[used] = byte
                        out[used + 1] = data[at + 1]
                        used += 2
                        value = _mix(_mix(value, byte), data[at + 1])
                        at += 2
                    else:
                        break
                if used == begin:  # a lone lead byte: not UTF-8
                    at += 1
                    continue
                prose = used - begin > 1
                meaning = _meaning(value) if prose else 0
                if 100 <= meaning < 200:
                    number = _mix(_mix(number, 0), meaning)
                elif meaning >= 200:
                    used = begin
                    meaning -= 200
                    if meaning >= 10:
                        out[used] = 48 + meaning // 10
                        used += 1
                    out[used] = 48 + meaning % 10
                    used += 1
                    is_number = True
            elif kind == _DIGIT:
                is_number = True
                prose = False
                if single_digits > 0:
                    out[used] = byte
                    used += 1
                    at += 1
                    single_digits -= 1
                else:
                    while at < end:
                        byte = data[at]
                        point = byte == 46 and at + 1 < end and _CLASSES[data[at + 1]] == _DIGIT
                        if point or _CLASSES[byte] == _DIGIT:
                            out[used] = byte
                            used += 1
                            at += 1
                        elif byte == 44 or byte == 123:
                            skip = _thousands(data, at, end)
                            if skip == 0:
                                break
                            at += skip
                        else:
                            break
            elif kind == _BACKSLASH:
                at += 1
                if at >= end:
                    continue
                if _CLASSES[data[at]] == _LETTER:
                    value = _mix(np.uint64(0xCBF29CE484222325), 92)
                    while at < end and _CLASSES[data[at]] == _LETTER:
                        lower = data[at] | 32
                        out[used] = lower
                        used += 1
                        value = _mix(value, lower)
                        at += 1
                    meaning = _meaning(value)
                    if meaning == 1:
                        used = begin
                        continue
                    single_digits = 0
                    prose = False
                    if meaning == 2 or meaning == 3:
                        name = b"frac" if meaning == 2 else b"binom"
                        used = begin
                        for letter in name:
                            out[used] = letter
                            used += 1
                        while at < end and data[at] == 32:
                            at += 1
                        if at < end and _CLASSES[data[at]] == _DIGIT:
                            single_digits = 2
                    elif meaning >= 1000:
                        used = begin
                        operator = meaning - 1000
                    elif meaning >= 100:
                        number = _mix(_mix(number, 0), meaning)
                else:
                    byte = data[at]
                    at += 1
                    if byte == 123 or byte == 125 or byte == 124 or byte == 37:  # \{ \} \| \%
                        operator = byte
                    else:
                        continue
            elif kind == _OPERATOR:
                operator = byte
                at += 1
            elif kind == _QUOTE:
                after_letter = at > offsets[text] and _CLASSES[data[at - 1]] == _LETTER
                at += 1
                if not after_letter or (at < end and _CLASSES[data[at]] == _LETTER):
                    continue
                operator = byte
            elif kind == _HYPHEN:
                at += 1
                if prose or _is_prose(data, at, end):
                    continue
                operator = byte
            else:
                length = 3 if kind == _LEAD3 else 4
                if at + length > end:
                    at = end
                    continue
                blank = byte == 0xE2 and data[at + 1] < 0x82  # general punctuation
                blank = blank or (byte == 0xE3 and data[at + 1] == 0x80)  # ideographic punctuation
                if not blank:
                    for step in range(length):
                        out[used] = data[at + step]
                        used += 1
                at += length
                if blank:
                    continue
                prose = False
            if operator:
                prose = False
                single_digits = 0
                low = _mix(_mix(low, operator), 32)
                high = _mix_other(_mix_other(high, operator), 32)
                if operator in (43, 45, 94, 33, 60, 62):  # + - ^ ! < >
                    number = _mix(number, operator)
                continue
            for place in range(begin, used):
                low = _mix(low, out[place])
                high = _mix_other(high, out[place])
            low = _mix(low, 32)
            high = _mix_other(high, 32)
            if is_number:
                for place in range(begin, used):
                    number = _mix(number, out[place])
                number = _mix(number, 32)
            starts[words] = begin
            words += 1
            out[used] = 32
            used += 1
        key[text, 0] = low
        key[text, 1] = high
        numbers[text] = number ^ (number >> np.uint64(31))
    first[offsets.size - 1] = words
    starts[words] = used
    return used
