"""Chinese units, numerals and set phrases, rewritten as the LaTeX and the English words that mean the same."""

from __future__ import annotations

import re

CHINESE = re.compile(r"[\u3007\u4e00-\u9fff\u5186]")
"""A Chinese character."""

_UNITS = {
    "千米": "km", "公里": "km", "厘米": "cm", "毫米": "mm", "分米": "dm", "纳米": "nm", "微米": "μm", "米": "m", "英里": "mi", "英尺": "ft", "英寸": "in",
    "千克": "kg", "公斤": "kg", "毫克": "mg", "克": "g", "吨": "t", "毫升": "mL", "升": "L", "小时": "h", "分钟": "min", "秒": "s", "天": "day", "日": "day",
    "周": "week", "星期": "week", "个月": "month", "月": "month", "年": "year", "元": "yuan", "角": "jiao", "美元": "dollar", "欧元": "euro", "英镑": "gbp",
    "日元": "yen", "円": "yen", "卢比": "rupee", "牛顿": "N", "焦耳": "J", "瓦特": "W", "伏特": "V", "安培": "A", "赫兹": "Hz", "帕斯卡": "Pa", "欧姆": "ohm",
    "弧度": "rad", "公顷": "ha", "人": "people", "时": "h", "度": "degrees", "分": "fen",
}  # fmt: skip
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
_LABEL = re.compile(r"^(?:所以|因此|故)?(?:本题|正确|最终)?(?:答案|答|选项|选|故选)(?:为|是|应为)?\s*[:：]?\s*(?=.)")
_UPRIGHT = re.compile(r"\\(?:text|mathrm|mbox)\s?\{([^{}\\]*[\u4e00-\u9fff][^{}\\]*)\}")
_OPTION = re.compile(r"([（(]?[A-H][）)]?)(?:选?项)")
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


def restated(text: str) -> str:
    """Text with what this module knows rewritten; a Chinese character that is left stops the reader."""
    text = _UPRIGHT.sub(r"\1", text)
    text = _OPTION.sub(r"\1", text.strip(" .。"))
    text = _ABOUT.sub("about ", _LABEL.sub("", text).strip(" .。"))
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
