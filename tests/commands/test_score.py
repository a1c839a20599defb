"""`compass score`: what it prints, writes and refuses."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from compass.cli import main
from compass.evaluation.accuracy import accuracy_interval, fixed_interval, pass_at_k
from compass.evaluation.other_readers import READERS
from compass.verifier.extract import UNANSWERED


def write(path: Path, *rows: object) -> Path:
    text = "\n".join(map(json.dumps, rows)) + "\n" if rows else ""
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def score(path: Path, *words: str, response: str = "response", gold: str = "gold") -> int:
    fields = [] if "--response-field" in words else ["--response-field", response, "--gold-field", gold]
    return main(["score", str(path), *fields, *words])


def printed(capsys: pytest.CaptureFixture[str]) -> dict:
    return json.loads(capsys.readouterr().out)


def test_a_file_is_scored_strictly_and_leniently(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"gold": "5", "response": r"It is \boxed{5}."},
        {"gold": 5, "response": "Run it.\n```output\n5\n```"},
        {"gold": "5", "response": r"\boxed{6}"},
        {"gold": "5", "response": "I do not know."},
    ]
    assert score(write(tmp_path / "r.jsonl", *rows)) == 0
    found = printed(capsys)
    assert (found["accuracy"], found["lenient"]) == (0.25, 0.5)
    assert found["ci95"] == list(accuracy_interval([1, 0, 0, 0], 1))
    assert found["lenient_ci95"] == list(accuracy_interval([1, 1, 0, 0], 1))
    assert found["mode"] == "strict"
    assert found["outcomes"] == {
        "strict": {"equal": 1, "different": 1, "unrecognised": 0, "none": 2},
        "lenient": {"equal": 2, "different": 1, "unrecognised": 0, "none": 1},
    }
    for mode, counts in found["outcomes"].items():
        unread = sum(found["evidence"][mode].get(reason, 0) for reason in UNANSWERED)
        assert unread == counts["none"], "both say in how many responses this mode finds no answer"
    assert (found["unextracted"], found["gold_unread"]) == (1, 0)
    assert (found["problems"], found["responses"], found["rows"], found["samples"]) == (4, 4, 4, [1, 1])
    assert not [name for name in found if "@" in name or name == "fixed_ci95"]


def test_a_list_of_responses_is_samples_of_one_problem(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"gold": "5", "response": [r"\boxed{5}", r"\boxed{7}", r"\boxed{7.0}", r"\boxed{8}"]},
        {"gold": "9", "response": [r"\boxed{9}", r"\boxed{9}", r"\boxed{1}", None]},
    ]
    assert score(write(tmp_path / "r.jsonl.gz", *rows)) == 0
    found = printed(capsys)
    assert found["accuracy"] == pytest.approx(3 / 8)
    assert found["pass@2"] == pytest.approx((pass_at_k(4, 1, 2) + pass_at_k(4, 2, 2)) / 2)
    assert (found["pass@4"], found["maj@4"], found["empty_responses"]) == (1.0, 0.5, 1)
    assert found["fixed_ci95"] == list(fixed_interval([0.25, 0.5], [4, 4]))
    assert found["sd"]["samples"] > 0


def test_nested_fields_and_lists_of_objects(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    choices = [{"message": {"content": r"\boxed{3}"}}, {"message": {"content": r"\boxed{4}"}}]
    path = write(tmp_path / "r.jsonl", {"item": {"key": {"answer": "3"}}, "out": {"choices": choices}})
    assert score(path, response="out.choices[].message.content", gold="item.key.answer") == 0
    found = printed(capsys)
    assert (found["accuracy"], found["responses"], found["problems"]) == (0.5, 2, 1)


def test_rows_with_one_id_or_one_problem_are_one_problem(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"gold": "3", "response": rf"\boxed{{{n}}}", "q": "1 + 2?", "key": {"n": 7}} for n in (3, 4, 4)]
    path = write(tmp_path / "r.jsonl", *rows)
    for words in (("--id-field", "key.n"), ("--problem-field", "q")):
        assert score(path, *words) == 0
        assert printed(capsys)["problems"] == 1
    assert score(path) == 0
    assert printed(capsys)["problems"] == 3


def test_with_the_problem_a_copied_formula_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = {"gold": "0.625", "response": r"\boxed{\frac{5}{8}}", "q": r"Write $\frac{5}{8}$ as a decimal."}
    path = write(tmp_path / "r.jsonl", row)
    assert score(path) == 0
    assert printed(capsys)["accuracy"] == 1
    assert score(path, "--problem-field", "q") == 0
    assert printed(capsys)["accuracy"] == 0


def test_verdicts_are_a_line_per_response(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"id": "p", "gold": r"\frac12", "response": [r"\boxed{0.5}", "We halve it.\n```output\n0.5\n```"]},
        {"id": "q", "gold": "", "response": r"\boxed{1}"},
        {"id": "p", "gold": r"\frac12", "response": r"\boxed{2}"},
    ]
    out = tmp_path / "verdicts.jsonl"
    assert score(write(tmp_path / "r.jsonl", *rows), "--id-field", "id", "--verdicts", str(out)) == 0
    found = printed(capsys)
    verdicts = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(v["row"], v["id"], v["sample"], v["correct"]) for v in verdicts] == [
        (0, "p", 0, True),
        (0, "p", 1, False),
        (2, "p", 2, False),
    ]
    assert (verdicts[0]["method"], verdicts[0]["outcome"], verdicts[0]["answer"]) == ("rational", "equal", "0.5")
    assert (verdicts[2]["outcome"], verdicts[1]["correct_lenient"]) == ("different", True)
    assert found["accuracy"] == pytest.approx(sum(v["correct"] for v in verdicts) / 3)
    assert (found["without_gold"], found["rows"]) == (1, 3)
    assert [v["evidence"] for v in verdicts] == ["box", "not found", "box"]
    assert [(v["evidence_lenient"], v["answer_any"], v["correct_any"]) for v in verdicts][1:] == [
        ("sentence", "0.5", True),
        ("box", "2", False),
    ]


@pytest.mark.parametrize(
    ("response", "reason", "count"),
    [
        ("I am a language model.", "not found 20", "20 of 60 responses (33%) give no answer"),
        ("So the area is $x^2 +", "cut off 20", "20 of 60 responses (33%) give no answer"),
        (" \n", "empty 20", "20 of 60 responses (33%) give no answer"),
        (r"We reject \boxed{7}.", "taken back 20", "20 of 60 responses (33%) give no answer"),
        (
            "It is blue. The first guess, 7, might do, or 8.",
            "not found 20",
            "20 of 60 responses (33%) are not right, though the gold stands near their end",
        ),
    ],
)
def test_a_third_without_a_readable_answer_is_a_warning_with_examples(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], response: str, reason: str, count: str
) -> None:
    rows = [{"gold": "7", "response": response if row % 3 == 0 else "The answer is 7."} for row in range(60)]
    assert score(write(tmp_path / "r.jsonl", *rows)) == 0
    warned = capsys.readouterr().err
    assert count in warned
    assert reason in warned
    assert warned.count("warning: row ") == 5
    assert "compass verify GOLD RESPONSE --response" in warned
    assert score(write(tmp_path / "good.jsonl", *rows[1:3])) == 0
    assert "warning" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("rows", "words", "message"),
    [
        ([], (), "holds no row"),
        ([{"gold": "5", "outputs": [{"text": "5"}]}], (), "no field 'response'; it has gold, outputs[].text"),
        ([{"response": "5", "key": {"gold": "5"}}], (), "no field 'gold'; it has response, key.gold"),
        ([{"gold": "5", "response": "5"}], ("--id-field", "n"), "no field 'n'"),
        ([{"gold": "5", "response": "5", "n": 1}, {"gold": "5", "response": "5", "n": None}], ("--id-field", "n"), "row 1: 'n' holds nothing; an id is text or a number"),
        ([{"gold": "5", "response": "5"}, {"gold": "5", "response": {"text": "5"}}], (), "row 1: 'response' holds dict"),
        ([{"gold": "5", "response": "5"}, {"gold": "5", "response": 5}], (), "row 1: 'response' holds int '5'; a response is text"),
        ([{"gold": "", "response": "5"}, {"gold": None, "response": "5"}], (), "none of 2 rows has a gold and a response: 2 have no gold"),
        ([{"gold": "5", "response": []}], (), "none of 1 rows has a gold and a response: 0 have no gold"),
        ([{"gold": "5", "response": "5", "q": 7}], ("--problem-field", "q"), "'q' holds int '7'; a problem is text"),
        ([{"gold": "5", "response": "5"}], ("--verdicts", "missing/v.jsonl"), "the folder missing does not exist"),
        ([{"gold": "5", "response": "5"}], ("--verdicts", "/"), "is a folder; name a file"),
        ([{"gold": "5", "response": "5"}], ("--readers", "boxed"), "boxed-text"),
        ([{"gold": "5", "response": "5", "n": 1}, {"gold": "6", "response": "5", "n": 1}], ("--id-field", "n"), "row 1: 'n' is '1', as in row 0, but the gold is '6' and there '5'"),
        ([{"rows": [{"gold": "5", "response": "5"}]}], ("--response-field", "rows[].response", "--gold-field", "rows[].gold"), "both go through the list 'rows'"),
    ],
)  # fmt: skip
def test_what_cannot_be_scored_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rows: list, words: tuple, message: str
) -> None:
    assert score(write(tmp_path / "r.jsonl", *rows), *words) == 1
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""


def test_a_gold_that_stands_for_none_is_left_out_and_a_null_response_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"gold": gold, "response": r"\boxed{5}"} for gold in ("5", float("nan"), "N/A", None, [5.0])]
    empty = [{"gold": "5", "response": float("nan")}, {"gold": "5", "response": None}, {"gold": "5"}]
    assert score(write(tmp_path / "r.jsonl", *rows, *empty)) == 0
    found = printed(capsys)
    assert (found["without_gold"], found["responses"], found["outcomes"]["strict"]["equal"]) == (3, 5, 2)
    assert (found["empty_responses"], found["outcomes"]["lenient"]["none"], found["accuracy"]) == (
        3,
        3,
        pytest.approx(2 / 5),
    )


def test_one_problem_with_two_golds_is_two_and_half_of_a_character_pair_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"gold": gold, "response": "\ud83d so \\boxed{3}", "q": "Which \ud83d?"} for gold in ("3", "4", "3")]
    out = tmp_path / "v.jsonl"
    assert score(write(tmp_path / "r.jsonl", *rows), "--problem-field", "q", "--verdicts", str(out)) == 0
    found = printed(capsys)
    assert (found["problems"], found["samples"]) == (2, [1, 2])
    verdicts = [json.loads(line) for line in out.read_text().splitlines()]
    assert [one["sample"] for one in verdicts] == [0, 0, 1]
    first, second, third = (one["id"] for one in verdicts)
    assert (len(first), second, third) == (16, f"{first}-2", first)


def test_files_are_compared_though_an_answer_is_half_of_a_character_pair(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = (
        write(
            tmp_path / f"{name}.jsonl", *({"gold": str(n), "response": f"\\boxed{{{answer}}}", "q": n} for n in (3, 4))
        )
        for name, answer in (("one", "3"), ("other", "\ud83d"))
    )
    assert score(one, str(other), "--id-field", "q") == 0
    assert printed(capsys)["comparisons"][0]["problems"] == 2


def test_the_file_itself_and_a_file_cut_off_write_no_verdicts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "r.jsonl.gz", *[{"gold": str(n), "response": "x" * 99} for n in range(200)])
    whole, cut, out = path.read_bytes(), tmp_path / "cut.jsonl.gz", tmp_path / "v.jsonl"
    cut.write_bytes(whole[: len(whole) // 2])
    for given, verdicts, message in ((path, path, "is the file of responses itself"), (cut, out, "broken or cut off")):
        assert score(given, "--verdicts", str(verdicts)) == 1
        assert message in capsys.readouterr().err
    assert path.read_bytes() == whole
    assert not out.exists()


def test_many_rows_are_judged_in_order_by_processes_that_end_without_a_traceback(tmp_path: Path) -> None:
    """The process of sympy is still starting when the work is done."""
    rows = [{"gold": str(n), "response": rf"\boxed{{{n if n % 3 else n + 1}}}"} for n in range(1500)]
    path, out = write(tmp_path / "r.jsonl", *rows), tmp_path / "v.jsonl"
    words = ["score", str(path), "--response-field", "response", "--gold-field", "gold", "--verdicts", str(out)]
    done = subprocess.run([sys.executable, "-m", "compass.cli", *words], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["accuracy"] == pytest.approx(1000 / 1500)
    assert [json.loads(line)["correct"] for line in out.read_text().splitlines()] == [n % 3 != 0 for n in range(1500)]
    assert [
        line for line in done.stderr.splitlines() if not line.startswith("scored: ")
    ] == []  # progress, where it takes long


READ = [
    # gold, response, and what boxed-text, minerva-text, last-number and answer-line say; None: no answer
    (r"\frac{1}{2}", r"So \boxed{\dfrac{1}{2}}.", True, None, False, None),
    ("0.5", r"So \boxed{\frac12}.", True, None, False, None),
    ("2+3i", r"So \boxed{3i+2}.", False, None, False, None),
    ("70", "Final Answer: The final answer is $x=70$. I hope it is correct.", None, True, True, True),
    ("70", "Answer: 70 degrees\nThere are 3 more.", None, None, False, True),
    ("1200", "In total $1,200.", None, None, True, None),
    ("7", "Nothing is known.", None, None, None, None),
]


@pytest.mark.parametrize(("gold", "response", "boxed", "minerva", "number", "line"), READ)
def test_other_readers_follow_their_conventions(gold, response, boxed, minerva, number, line) -> None:
    names = ("boxed-text", "minerva-text", "last-number", "answer-line")
    assert [READERS[name].grade(gold, response) for name in names] == [boxed, minerva, number, line]


def test_the_same_responses_by_several_readers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    boxes = write(tmp_path / "boxes.jsonl", *({"gold": "5", "response": text} for text in (r"\boxed{5}", "It is 5.")))
    lines = write(tmp_path / "lines.jsonl", *({"gold": "5", "response": text} for text in ("Answer: 5", "Answer: 5.0")))
    assert score(boxes, str(lines), "--readers", "boxed-text", "answer-line") == 0
    found = printed(capsys)
    first, second = found["files"]
    assert first["readers"]["boxed-text"] == {"accuracy": 0.5, "none": 1}
    assert second["readers"]["answer-line"] == {"accuracy": 1.0, "none": 0}
    assert first["readers"]["strict"]["accuracy"] == first["accuracy"] == 1.0
    assert found["order"]["boxed-text"] == [str(boxes), str(lines)]
    assert found["order"]["answer-line"] == [str(lines), str(boxes)]


def test_golds_and_problems_of_a_file_of_their_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    question = "Which of these is prime? (A) 51 (B) 57 (C) 59 (D) 63"
    golds = write(tmp_path / "golds.csv")
    golds.write_text(f'n,gold,q\n1,5,What is 2+3?\n2,C,"{question}"\n')
    one = write(tmp_path / "one.jsonl", *({"n": n, "response": text} for n, text in ((1, "5"), (2, "59"), (3, "7"))))
    two = write(tmp_path / "two.jsonl", *({"n": n, "response": text} for n, text in ((1, "6"), (2, "B"))))
    out = tmp_path / "v.jsonl"
    given = ("--golds", str(golds), "--id-field", "n", "--problem-field", "q", "--verdicts", str(out))
    assert score(one, str(two), *given) == 0
    found = printed(capsys)
    assert [file["accuracy"] for file in found["files"]] == [1.0, 0.0]
    assert [file["without_gold"] for file in found["files"]] == [1, 0]
    [pair] = found["comparisons"]
    assert (pair["problems"], pair["missing"]) == (2, 0)
    assert set(pair["strict"]) == set(pair["lenient"]) == {"difference", "ci95", "words", "p", "p_corrected"}
    assert pair["strict"]["difference"] == -1.0
    verdicts = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(v["file"], v["id"], v["correct"]) for v in verdicts] == [
        (str(one), "1", True), (str(one), "2", True), (str(two), "1", False), (str(two), "2", False),
    ]  # fmt: skip


def test_a_file_of_golds_decides_whatever_the_responses_hold_under_the_same_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Many files of responses have the model's own answer as `answer`."""
    golds = write(tmp_path / "golds.jsonl", *({"id": n, "answer": "4", "q": "What is 2+2?"} for n in (1, 2, 3)))
    rows = [{"id": 1, "answer": "5"}, {"id": 2, "answer": None}, {"id": 3, "answer": "4", "q": "Ask 4"}]
    rows = [row | {"response": r"\boxed{4}" if row["id"] == 3 else r"\boxed{5}"} for row in rows]
    out = tmp_path / "v.jsonl"
    words = ("--golds", str(golds), "--id-field", "id", "--problem-field", "q", "--verdicts", str(out))
    assert score(write(tmp_path / "r.jsonl", *rows), *words, gold="answer") == 0
    found = printed(capsys)
    assert (found["accuracy"], found["without_gold"]) == (pytest.approx(1 / 3), 0)
    assert {json.loads(line)["gold"] for line in out.read_text().splitlines()} == {"4"}
    assert score(tmp_path / "r.jsonl", *words, response="answer", gold="answer") == 0, "the two may have one name"
    assert printed(capsys)["accuracy"] == pytest.approx(1 / 3)


def test_ids_with_other_golds_are_other_problems(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [
        write(tmp_path / f"{name}.jsonl", *({"id": n, "gold": gold, "response": gold} for n, gold in enumerate(golds)))
        for name, golds in (("one", ("1/2", "7", "8", "3")), ("two", ("0.5", "9", "8")))
    ]
    out = tmp_path / "page"
    assert score(files[0], str(files[1]), "--id-field", "id", "--out", str(out)) == 0
    captured = capsys.readouterr()
    [pair] = json.loads(captured.out)["comparisons"]
    assert (pair["problems"], pair["other_golds"], pair["missing"]) == (2, 1, 3)
    assert f"{files[1]}: left out of the comparison, because a file before it has another gold" in captured.err
    [of_page] = json.loads((out / "comparisons.json").read_text())["pairs"]
    assert of_page["benchmarks"]["responses"]["words"] == pair["strict"]["words"]
    problems = pq.read_table(out / "problems.parquet").to_pylist()
    assert [row["answer"] for row in problems if row["id"] in ("1", "1 with gold 9")] == ["9", "7"]


def test_a_file_is_given_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "r.jsonl", {"gold": "5", "response": "5"})
    assert score(Path(f"a={path}"), f"b={path}") == 1
    assert "r.jsonl: is given twice; give each file once" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("golds", "words", "said"),
    [
        ("n,gold\n,5\n", ("--id-field", "n"), "row 0: 'n' holds str ''; an id is text or a number"),
        ("n,gold\n1,5\n", (), "golds of their own are found by an id; name the field that both have: --id-field NAME"),
        ("n,gold\n1,5\n1,6\n", ("--id-field", "n"), "row 1: 'n' is '1' a second time"),
        ("n,answer\n1,5\n", ("--id-field", "n"), "row 0 has no field 'gold'; it has n, answer"),
    ],
)
def test_golds_that_cannot_be_found_are_refused(
    golds: str, words: tuple[str, ...], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "golds.csv"
    path.write_text(golds)
    assert score(write(tmp_path / "r.jsonl", {"n": 1, "response": "5"}), "--golds", str(path), *words) == 1
    assert said in capsys.readouterr().err


def test_a_verdict_says_whether_the_gold_was_there_unread(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loop = "We add 5 and 5 to get what we had before. " * 20
    texts = ("Ann 5, Bob 6?", "5", "So the sum of 5 and $x +", loop, loop[:-12])
    rows = [{"gold": "5", "response": text} for text in texts]
    out = tmp_path / "v.jsonl"
    assert score(write(tmp_path / "r.jsonl", *rows), "--verdicts", str(out)) == 0
    unread = [json.loads(line)["gold_unread"] for line in out.read_text().splitlines()]
    assert unread == [True, False, False, False, False], "what is cut off, or a loop, gives no answer to be read"
    assert printed(capsys)["gold_unread"] == 1
