"""Chinese units, numerals and phrases."""

from __future__ import annotations

import pytest

from compass.verifier.reading.normalise import rewrite_chinese

RESTATED = [
    ("5厘米", r"5\text{ cm}"),
    ("24平方厘米", r"24\text{ square cm}"),
    ("60千米/时", r"60\text{ km}\text{ per }\text{ h}"),
    ("60千米每小时", r"60\text{ km}\text{ per }\text{ h}"),
    ("3千克", r"3\text{ kg}"),
    ("5个", r"5\text{ units}"),
    ("三", "3"),
    ("二十三", "23"),
    ("一百零五", "105"),
    ("三千二百", "3200"),
    ("十二", "12"),
    ("一万二千", "12000"),
    ("二〇二四", "2024"),
    ("5万", r"5\times 10^{4}"),
    ("2亿", r"2\times 10^{8}"),
    ("三分之二", r"\frac{2}{3}"),
    ("百分之五", r"5\%"),
    ("第3个", r"3\text{ units}"),
    ("1或2", "1 or 2"),
    ("无解", "no solution"),
    ("答案：5", "5"),
    ("星期三", "Wednesday"),
    ("约5", "about 5"),
    ("共12种", r"12\text{ units}"),
    ("2小时30分", r"2\text{ h}30\text{ min}"),
    ("5分", r"5\text{ fen}"),
    ("不大于5", "不大于5"),
    ("万", "万"),
]


@pytest.mark.parametrize(("text", "latex"), RESTATED)
def test_what_is_known_is_rewritten(text: str, latex: str) -> None:
    assert rewrite_chinese(text) == latex
