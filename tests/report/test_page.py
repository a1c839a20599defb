"""The page shows what the stages measured, and nothing that hostile data wants it to."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

from compass.ledger import Counts
from compass.report.page import LONGEST_DETAIL, percent, render
from compass.report.results import Results

HOSTILE = "<script>alert('x')</script>"

CURVE = {"step": [1.0, 2.0], "reward": [0.0, 1.0], "accuracy": [0.5, 1.0], "response_tokens": [15.0, 30.0]}


def score(accuracy: float, **more: Any) -> dict[str, Any]:
    """An interval of five points to each side."""
    return {
        "accuracy": accuracy,
        "ci95": [accuracy - 0.05, accuracy + 0.05],
        "problems": 1060,
        "samples": 8,
        "greedy": accuracy,
        "pass@8": 0.9,
        **more,
    }


def results(**more: Any) -> Results:
    """What every part of the page shows, with hostile names and text."""
    given: dict[str, Any] = {
        "summaries": {"collect": {"metrics": {"note": HOSTILE}}, "base": {"loss": 1.5}},
        "scores": {"base": {HOSTILE: score(0.2)}, "rl-1": {HOSTILE: score(0.4, **{"maj@8": 0.5})}},
        "curves": {"rl-1": CURVE},
        "counts": [Counts("collect", 90, {"missing_answer": 10}), Counts("dedup", 70, {"near_duplicate": 20})],
        "planted": {
            "kinds": {"link": {"planted": 30, "dropped": 29, "right": 28, "recall": 28 / 30}},
            "clean": {"rows": 2000, "dropped": 3, "by_reason": {"link": 3}, "lost": 0.0015},
        },
    }
    return Results(**{**given, **more})


def page(of: Results, **more: Any) -> str:
    return render(of, **{"title": "t", "facts": {}, "links": {}, **more})


def cells(row: str) -> list[str]:
    return (
        row.replace("<td class='n'>", "<td>")
        .replace("<tr>", "")
        .replace("</tr>", "")
        .replace("</td>", "")
        .split("<td>")[1:]
    )


def test_the_page_is_whole_and_harmless() -> None:
    shown = page(results(), title=HOSTILE, facts={"seed": HOSTILE}, links={"MLflow": f"javascript:{HOSTILE}"})
    assert "<script" not in shown
    assert "<a " not in shown
    assert "src=" not in shown
    assert shown.count("<svg") == 3
    HTMLParser().feed(shown)


def test_facts_and_links_stand_above_the_results() -> None:
    shown = page(results(), facts={"profile": "tiny", "seed": "0"}, links={"data card": "data_card/card.html"})
    assert "<p class='note'>profile tiny · seed 0</p>" in shown
    assert "<a href='data_card/card.html'>data card</a>" in shown
    titles = [part.partition("</h2>")[0] for part in shown.split("<h2>")[1:]]
    assert titles == ["Scores", "Learning", "Data", "Planted truth", "What every stage measured"]


def test_scores_are_percentages_with_what_was_measured() -> None:
    shown = page(results(scores={"base": {"easy": score(0.2)}, "rl-1": {"easy": score(0.4, **{"maj@8": 0.5})}}))
    names = [
        "model",
        "benchmark",
        "accuracy %",
        "95% interval",
        "greedy %",
        "pass@8 %",
        "maj@8 %",
        "problems",
        "samples",
    ]
    assert re.findall(r"<th[^>]*>([^<]*)</th>", shown.partition("<tbody>")[0]) == names
    rows = [cells(line) for line in shown.splitlines() if "<td>easy</td>" in line]
    assert rows[0][-9:] == ["base", "easy", "20.0", "15.0 – 25.0", "20.0", "90.0", "", "1,060", "8"]
    assert rows[1][:9] == [
        "rl-1",
        "easy",
        "40.0",
        "35.0 – 45.0",
        "40.0",
        "90.0",
        "50.0",
        "1,060",
        "8</tbody></table></div>",
    ]


def test_measures_of_other_sample_counts_are_not_shown() -> None:
    scored = score(0.2, samples=4, **{"pass@2": 0.1, "pass@4": 0.123})
    shown = page(results(scores={"base": {"easy": scored}}))
    assert "pass@4 %</th>" in shown
    assert "12.3" in shown
    assert "pass@2" not in shown
    assert "pass@8" not in shown


def test_rows_are_shown_by_stage_with_all_reasons() -> None:
    stages = [
        Counts("collect", 90, {f"reason_{n}": 1 for n in range(6)}),
        Counts("dedup", 1070, {"near_duplicate": 20}),
    ]
    shown = page(results(counts=stages))
    assert "<td>collect</td><td class='n'>96</td><td class='n'>90</td><td class='n'>6</td><td>reason_0 1, " in shown
    assert "reason_5 1</td>" in shown
    assert "<td>dedup</td><td class='n'>1,090</td><td class='n'>1,070</td><td class='n'>20</td>" in shown


def test_planted_defects_are_shown_with_recall_and_cost() -> None:
    shown = page(results())
    assert "Of 2,000 clean rows 3 were dropped (0.15%)." in shown
    assert (
        "<td>link</td><td class='n'>30</td><td class='n'>29</td><td class='n'>28</td><td class='n'>93.3</td>" in shown
    )


def test_what_a_stage_measured_is_cut_where_it_is_long() -> None:
    shown = page(results(summaries={"base": {"metrics": {"text": "x" * LONGEST_DETAIL}}, "grade": {"level": 2}}))
    assert "<details><summary>base</summary><pre>{\n  &quot;text&quot;: &quot;x" in shown
    assert shown.count("x" * (LONGEST_DETAIL - len('{\n  "text": "'))) == 1
    assert "x" * (LONGEST_DETAIL - len('{\n  "text": "') + 1) not in shown
    assert "<summary>grade</summary><pre>{\n  &quot;level&quot;: 2\n}</pre>" in shown


def test_parts_without_results_are_left_out() -> None:
    shown = page(Results())
    assert "<h1>t</h1>" in shown
    assert "<h2>" not in shown
    assert "<svg" not in shown


def test_the_page_is_the_same_for_the_same_results() -> None:
    assert page(results()) == page(results())


def test_percentages_have_one_digit() -> None:
    assert percent(0.4567) == "45.7"
    assert percent(0.0) == "0.0"
    assert percent(None) == ""
