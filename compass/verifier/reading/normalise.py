"""Text as a reader sees it: LaTeX noise, Unicode signs, Chinese words and spacing taken away. Idempotent."""

from __future__ import annotations

import re

from compass.braces import closing_brace
from compass.verifier.reading.vocabulary import FRACTIONS, GREEK_UNICODE, SIGNS, SUBSCRIPTS, SUPERSCRIPTS

CHINESE = re.compile(r"[\u3007\u4e00-\u9fff\u5186]")
"""A Chinese character."""

_UNITS = {
    "千米": "km", "公里": "km", "厘米": "cm", "毫米": "mm", "分米": "dm", "纳米": "nm", "微米": "μm", "米": "m", "英里": "mi", "英尺": "ft", "英寸": "in",
    "千克": "kg", "公斤": "kg", "毫克": "mg", "克": "g", "吨": "t", "毫升": "mL", "升": "L", "小时": "h", "分钟": "min", "秒": "s", "天": "day", "日": "day",
    "周": "week", "星期": "week", "个月": "month", "月": "month", "年": "year", "元": "yuan", "角": "jiao", "美元": "dollar", "欧元": "euro", "英镑": "gbp",
    "日元": "yen", "円": "yen", "卢比": "rupee", "牛顿": "N", "焦耳": "J", "瓦特": "W", "伏特": "V", "安培": "A", "赫兹": "Hz", "帕斯卡": "Pa", "欧姆": "ohm",
    "弧度": "rad", "公顷": "ha", "人": "people", "时": "h", "度": "degrees", "分": "fen",
}  # fmt: skip
_RUSSIAN_UNITS = {
    "км": "km", "м": "m", "дм": "dm", "см": "cm", "мм": "mm", "кг": "kg", "г": "g", "мг": "mg", "т": "t", "л": "L", "мл": "mL", "ч": "h", "мин": "min",
    "сек": "s", "с": "s", "руб": "ruble", "рублей": "ruble", "рубля": "ruble",
}  # fmt: skip
_RUSSIAN_UNIT = re.compile(rf"(?<=\d)\s?({'|'.join(sorted(_RUSSIAN_UNITS, key=len, reverse=True))})(?!\w)\.?")
_COUNTERS = "个只本支张条辆名位次种倍页块件棵头岁组对枚颗盒袋瓶根朵双套项道辆间台"
"""Words that only count, as `units` does."""
_PHRASES = {
    "无解": "no solution", "无实数解": "no solution", "无实根": "no solution", "空集": r"\emptyset ", "没有": "none", "无": "none", "不存在": "does not exist", "全体实数": "all real numbers",
    "任意实数": "all real numbers", "所有实数": "all real numbers", "一切实数": "all real numbers", "无数个": "infinitely many", "无穷多个": "infinitely many", "无限多个": "infinitely many", "无穷大": r"\infty ",
    "是": "yes", "正确": "true", "对": "true", "否": "no", "不是": "no", "错误": "false", "错": "false", "不能": "no", "能": "yes", "可以": "yes",
}  # fmt: skip
"""Whole answers."""
_JOINERS = {"或者": " or ", "或": " or ", "以及": " and ", "和": " and ", "与": " and ", "及": " and ", "且": " and "}
_DIGITS = {sign: value for value, sign in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_SCALES = {"十": 10, "百": 100, "千": 1000}
_MYRIADS = {"万": 10**4, "亿": 10**8}
_NUMERAL = rf"(?:[{''.join(_DIGITS)}十百{''.join(_MYRIADS)}]|千(?![米克瓦]))+"
_DAYS = dict(
    zip(
        "一二三四五六日天",
        ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday", "Sunday"],
        strict=True,
    )
)
_WEEKDAY = re.compile(r"(?:星期|周|礼拜)([一二三四五六日天])")
_CHINESE_LABEL = re.compile(
    r"^(?:所以|因此|故)?(?:本题|正确|最终)?(?:答案|答|选项|选|故选)(?:为|是|应为)?\s*[:：]?\s*(?=.)"
)
_UPRIGHT = re.compile(r"\\(?:text|mathrm|mbox)\s?\{([^{}\\]*[\u4e00-\u9fff][^{}\\]*)\}")
_CHINESE_OPTION = re.compile(r"([（(]?[A-H][）)]?)(?:选?项)")
_ABOUT = re.compile(r"^[约約]\s?(?=\d)")
_TOTAL = re.compile(r"^(?:一共|总共|共)(?:有)?\s?(?=\d)")
_MINUTES = re.compile(r"(?<=时)\s?(\d+)\s?分(?!钟|之)")
_PARTS = re.compile(rf"(?P<below>{_NUMERAL}|\d+)分之(?P<above>{_NUMERAL}|\d+)")
_NUMBER = re.compile(_NUMERAL)
_NEGATIVE = re.compile(rf"(?<![正非])负(?=\d|{_NUMERAL})")
_ORDINAL = re.compile(r"第(?=\d)")
_MULTIPLE = re.compile(r"(?<=\d)\s?([万亿])")
_UNIT = "|".join(sorted(_UNITS, key=len, reverse=True))
_WORD = re.compile(
    rf"(?P<join>{'|'.join(_JOINERS)})|(?P<per>每|/\s?(?={_UNIT}))|(?P<shape>平方|立方)?\s?(?P<unit>{_UNIT})|(?P<count>[{_COUNTERS}])"
)


def rewrite_chinese(text: str) -> str:
    """Text with what this module knows rewritten; a Chinese character that is left stops the reader."""
    text = _UPRIGHT.sub(r"\1", text)
    text = _CHINESE_OPTION.sub(r"\1", text.strip(" .。"))
    text = _ABOUT.sub("about ", _CHINESE_LABEL.sub("", text).strip(" .。"))
    whole = _PHRASES.get(text)
    if whole is not None:
        return whole
    text = _WEEKDAY.sub(lambda match: _DAYS[match[1]], text)
    text = _MINUTES.sub(r"\1分钟", _PARTS.sub(_fraction, text))
    text = _NUMBER.sub(_digits, _NEGATIVE.sub("-", text))
    text = _MULTIPLE.sub(lambda match: rf"\times 10^{{{len(str(_MYRIADS[match[1]])) - 1}}}", text)
    return _WORD.sub(_word, _TOTAL.sub("", _ORDINAL.sub("", text))).strip()


def _fraction(match: re.Match[str]) -> str:
    below, above = (_value(match[name]) for name in ("below", "above"))
    if below is None or above is None:
        return match[0]
    return f"{above}\\%" if below == 100 else f"\\frac{{{above}}}{{{below}}}"


def _digits(match: re.Match[str]) -> str:
    if match[0] in _MYRIADS:
        return match[0]
    value = _value(match[0])
    return match[0] if value is None else str(value)


def _value(text: str) -> int | None:
    """A numeral such as `一百零五` or `105`; None for one that is not well formed."""
    if text.isdigit() and text.isascii():
        return int(text)
    total = section = digit = 0
    for sign in text:
        if sign in _DIGITS:
            digit = _DIGITS[sign]
        elif sign in _SCALES:
            section += (digit or 1) * _SCALES[sign]
            digit = 0
        else:
            section += digit
            if not section:
                return None
            total, section, digit = (total + section) * _MYRIADS[sign], 0, 0
    if len(text) > 1 and all(sign in _DIGITS for sign in text):
        return int("".join(str(_DIGITS[sign]) for sign in text))
    return total + section + digit


def _word(match: re.Match[str]) -> str:
    if match["join"]:
        return _JOINERS[match["join"]]
    if match["per"]:
        return r"\text{ per }"
    if match["count"]:
        return r"\text{ units}"
    unit = _UNITS[match["unit"]]
    shape = {"平方": "square ", "立方": "cubic ", None: ""}[match["shape"]]
    return rf"\text{{ {shape}{unit}}}"


MAX_LENGTH = 4000
"""Longer answers are not read at all."""

_TRANSLATE = str.maketrans(
    SIGNS
    | {sign: f"\\{name} " for sign, name in GREEK_UNICODE.items()}
    | {chr(0xFF10 + digit): str(digit) for digit in range(10)}
    | {chr(0xFF21 + index): chr(65 + index) for index in range(26)}
    | {chr(0xFF41 + index): chr(97 + index) for index in range(26)}
)
_SUPER = re.compile(f"[{''.join(SUPERSCRIPTS)}]+")
_SUB = re.compile(f"[{''.join(SUBSCRIPTS)}]+")
_CIRCLED = re.compile(r"[①-⑳](?:\s*[①-⑳])*")
_SET_FRACTION = re.compile(f"([⁰¹²³⁴-⁹]+)[⁄/]([{''.join(SUBSCRIPTS)}]+)")
_REPEATED = re.compile("(\\d)\u0305")
_VULGAR = re.compile(f"(?<=\\d)\\s*([{''.join(FRACTIONS)}])|([{''.join(FRACTIONS)}])")

_NOISE = re.compile(  # each branch begins with its sign, so that the search passes over the others at once; a group at its end names it
    r"\\\\(?:\[[^\[\]]{0,12}\])?(?P<row>)"
    r"|\{,\}(?<=\d\{,\})\s*(?=\d{3}(?!\d))|,\\!(?<=\d,\\!)\s*(?=\d{3}(?!\d))"
    r"|\\!|\\displaystyle(?![a-z])|\\textstyle(?![a-z])|\\(?:no)?limits(?![a-z])|\\(?:m?left|m?right)(?=[\[\]()|.<>/\s])\.?"
    r"|\\(?:m?left|m?right)(?=\\)|\\[bB]igg?[lrm]?(?![a-z])|\\phantom\{[^{}]*\}|\\nonumber|\\,(?=\s*$)|\$"
    r"|\\(?:[,;: ]|(?:thin|med|thick)space(?![a-z])|q?quad|hspace\*?\{[^{}]*\})(?P<space>)|~(?P<tie>)"
    r"|\\[dtc]frac(?![a-z])(?P<frac>)"
    r"|\\[()\[\]](?P<mathdelim>)"
    r"|\\(?:text)?color(?:box)?\s*(?:\[[^\[\]]*\]\s*)?\{[^{}]*\}|\\bbox\s*(?:\[[^\[\]]*\])?"
    r"|\\(?:underline|uline|emph|ensuremath|[tT]iny|scriptsize|footnotesize|small|normalsize|[lL]arge|LARGE|[hH]uge|bf|it|tt|sf|bfseries|itshape"
    r"|centering|hfill|strut|scriptstyle)(?![a-zA-Z])|\\_"
)
_REPLACEMENT = {"row": r"\\", None: "", "space": " ", "tie": " ", "frac": r"\frac", "mathdelim": " "}
_SPACES = re.compile(
    r"(?<![0-9A-Za-z,])\s+|(?<=,)\s+(?!\d{3}(?!\d))|(?<=,)\s\s+|\s+(?![0-9A-Za-z])|(?<=[A-Za-z0-9])\s\s+"
)
_SCRIPT = re.compile(r"([_^])\{\s*([0-9A-Za-z])\s*\}")
_BRACED_NAME = re.compile(
    r"(?<![A-Za-z_^}\]])\{\s*(\\(?:log|ln|lg|sin|cos|tan|cot|sec|csc|max|min|gcd|lcm))\s*\}(?=[_^({\\0-9A-Za-z])"
)
_DOLLAR = re.compile(r"\\(?:text|textrm|textbf|mathrm|mbox)\s*\{\s*\\dollar\s*\}|\bUS\s*\\dollar\b")
_ESCAPES = {"\a": r"\a", "\b": r"\b", "\f": r"\f", "\v": r"\v", "\t": r"\t", "\r": r"\r"}
_CONTROL = re.compile(r"[\a\x08\f\v](?=[a-z])|\t(?=ext|imes|heta|frac|an[({ ^]|au\b|riangle|o\b)|\r(?=ight|ho\b)")
"""A control character in whose place a backslash and a letter stood before the text was unescaped once too often."""
_UPRIGHT_CURRENCY = re.compile(r"\\text\{\s*(\\(?:dollar|euro|pounds|yen|rupee|cent))\s*\}")
_RUPEES = re.compile(r"\\(?:text|textrm|mathrm)\s*\{\s*Rs\.?\s*\}|\bRs\b\.?(?=[\s~]*\d)")
_EMPTY_GROUP = re.compile(r"(?<=[\d)}])(?:\{\})+$")
_DOUBLED = re.compile(r"\\\\(?=[a-zA-Z])")
_ESCAPED_TWICE = re.compile(r"(?<!\\)\\\\(?:\\\\)?begin(?![a-z])")
_WRAPPED = re.compile(r"\\(?:(?:begin)?boxed|fbox|text|textbf|textrm|textnormal|mathrm|mbox)\s*\{")
_MARKS = frozenset("*_\"'`<")
_TAGS = re.compile(r"<(?P<tag>b|i|u|em|strong|code|span|p|answer)>(?P<inside>.*)</(?P=tag)>", re.DOTALL)
_SCRIPT_TAG = re.compile(r"<su(?P<kind>[pb])>([^<>]*)</su(?P=kind)>")
_LABEL = re.compile(
    r"^(?:\\(?:text|textbf|mathrm)\s*\{\s*)?(?:(?:so|thus|therefore|hence),?\s)?(?:[Tt]he\s?)?(?:[Ff]inal\s?|[Cc]orrect\s?)?[Aa]nswer(?:\sis(?![a-z])|\s?[:=])+\s?\}?\s?(?=.)"
)
_OPTION = re.compile(
    r"^(?:\\text\s?\{\s?)?(?:[Tt]he )?(?:[Cc]orrect )?(?:[Oo]ption|[Cc]hoice)\s?(?=\(?[A-H](?:\)|\}|[.:]|$))"
)
_PLAIN = re.compile(r"-?(?:0|[1-9]\d*)")


def _noise(match: re.Match[str]) -> str:
    return _REPLACEMENT[match.lastgroup]


def normalise(text: str) -> str:
    """The text with everything taken away that carries no meaning.

    Spaces survive only where they separate: between letters and digits (`1 1/4`, `no solution`), and between a comma and
    three digits, because `32, 349` is a list and `32,349` a number.
    """
    if _PLAIN.fullmatch(text):
        return text
    if not text.isascii():
        text = _unicode(text)
    if not text.isprintable():
        text = _CONTROL.sub(lambda match: _ESCAPES[match[0]], text).replace(r"\textcirc", r"\circ ")
    if "</su" in text:
        text = _SCRIPT_TAG.sub(lambda match: f"{'^' if match['kind'] == 'p' else '_'}{{{match[2]}}}", text)
    if "Rs" in text:
        text = _RUPEES.sub(r"\\rupee ", text)
    for _ in range(4):
        once = _once(text)
        if once == text:
            break
        text = once
    return text


def _once(text: str) -> str:
    if "\\" in text or "$" in text or "~" in text:
        if r"\\" in text and r"\begin" not in text:
            text = _DOUBLED.sub(r"\\", text)
        elif r"\\begin" in text and _ESCAPED_TWICE.match(text):
            text = text.replace(r"\\", "\\")
        if r"\$" in text or r"\textdollar" in text:
            text = text.replace(r"\$", r"\dollar ").replace(r"\textdollar", r"\dollar ")
            text = _DOLLAR.sub(r"\\dollar ", text)
        if "\\text{\\" in text:
            text = _UPRIGHT_CURRENCY.sub(r"\1 ", text)
        text = _NOISE.sub(_noise, text)
    if " " in text or "\n" in text or "\t" in text:
        text = _SPACES.sub(
            lambda match: " " if match.group()[0].isspace() and _between(text, match) else "", text
        ).strip()
    if "{" in text:
        if "{:}" in text:
            text = text.replace("{:}", ":")
        if "{}" in text:
            text = _EMPTY_GROUP.sub("", text)
        if "^{" in text or "_{" in text:
            text = _SCRIPT.sub(r"\1\2", text)
        if "{\\" in text:
            text = _BRACED_NAME.sub(r"\1 ", text)
        text = _unwrap(text)
    if text[:1] in _MARKS and len(text) > 2:
        text = _unmarked(text)
    if "nswer" in text:
        text = _LABEL.sub("", text)
    if "ption" in text or "hoice" in text:
        text = _OPTION.sub("", text).removesuffix("}") if text.startswith("\\text") else _OPTION.sub("", text)
    while text and (text[-1] in ".,;:" or (text[-1] == "\\" and not text.endswith("\\\\"))):
        if text.endswith("..."):
            break
        text = text[:-1].rstrip()
    return text


def _unmarked(text: str) -> str:
    """Take off the marks of bold, of quotation or of code around the whole text."""
    if text[0] == "<":
        match = _TAGS.fullmatch(text)
        return text if match is None else match["inside"]
    count = 2 if text[1] == text[0] and len(text) > 4 else 1
    mark, end = text[:count], text[-count:]
    closes = end == mark or (mark == "``" and end == "''") or (mark == "`" and end == "'")
    return text[count:-count].strip() if closes and mark[0] not in text[count:-count] else text


def _between(text: str, match: re.Match[str]) -> bool:
    start, end = match.span()
    return start > 0 and end < len(text) and text[start - 1].isalnum() and text[end].isalnum()


def _unwrap(text: str) -> str:
    """Take off a `\\boxed{...}` or `\\text{...}` that holds everything."""
    match = _WRAPPED.match(text)
    if match is None:
        if (
            text.startswith("{")
            and text.endswith("}")
            and "," not in text
            and ";" not in text
            and "|" not in text
            and closing_brace(text, 0) == len(text)
        ):
            return text[1:-1].strip()
        return text
    end = closing_brace(text, match.end() - 1)
    if end == len(text):
        return text[match.end() : -1].strip()
    if end is None and text.startswith((r"\boxed", r"\fbox")):
        return text[match.end() :].strip()
    return text


def _raised(signs: re.Match[str]) -> str:
    """An exponent; a lone digit before a space stays bare, so that the space parts it from a unit: `10⁹ m`."""
    exponent = "".join(SUPERSCRIPTS[sign] for sign in signs[0])
    alone = len(exponent) == 1 and signs.string[signs.end() : signs.end() + 1] == " "
    return f"^{exponent}" if alone else f"^{{{exponent}}}"


def _small_fraction(match: re.Match[str]) -> str:
    """A fraction in raised and lowered digits, `⁷⁄₁₂`."""
    top, bottom = (
        "".join(digits[sign] for sign in part)
        for part, digits in zip(match.groups(), (SUPERSCRIPTS, SUBSCRIPTS), strict=True)
    )
    return f"\\frac{{{top}}}{{{bottom}}}"


def _unicode(text: str) -> str:
    text = _SUPER.sub(_raised, _SET_FRACTION.sub(_small_fraction, text))
    text = _SUB.sub(lambda match: "_{" + "".join(SUBSCRIPTS[sign] for sign in match.group()) + "}", text)

    def vulgar(match: re.Match[str]) -> str:
        top, bottom = FRACTIONS[match.group(1) or match.group(2)]
        return f"\\frac{{{top}}}{{{bottom}}}"

    text = _REPEATED.sub(r"\\overline{\1}", _VULGAR.sub(vulgar, text))
    text = _CIRCLED.sub(
        lambda found: ",".join(str(ord(sign) - ord("①") + 1) for sign in found[0] if not sign.isspace()), text
    )
    if CHINESE.search(text):
        text = rewrite_chinese(text)
    text = _RUSSIAN_UNIT.sub(lambda match: rf"\text{{ {_RUSSIAN_UNITS[match[1]]}}}", text)
    return text.translate(_TRANSLATE)
