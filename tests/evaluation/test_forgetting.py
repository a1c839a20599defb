import json
from collections import Counter

import pytest

from compass.cli import main
from compass.evaluation.forgetting import general_items, untrained_items
from compass.ledger import LEDGER
from compass.records import table, write_records
from compass.verifier import Mode, judge, verify

ITEMS = general_items()


def test_there_are_sixty_questions_with_ids_and_areas_of_their_own():
    assert len(ITEMS) == len({item["id"] for item in ITEMS}) == len({item["problem"] for item in ITEMS}) == 60
    assert min(Counter(item["area"] for item in ITEMS).values()) >= 10


def test_choices_are_spread_over_the_letters():
    letters = Counter(item["answer"] for item in ITEMS if len(item["answer"]) == 1)
    assert set(letters) == set("ABCD")
    assert max(letters.values()) <= 9
    assert sum(letters.values()) == 29
    for item in ITEMS:
        assert ("\nD. " in item["problem"]) == (item["answer"] in letters), item["id"]


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item["id"])
def test_the_gold_is_right_in_every_usual_form_and_no_other_answer_is(item):
    gold = item["answer"]
    for response in (rf"So it is \boxed{{{gold}}}.", rf"\boxed{{\text{{{gold}}}}}", f"The answer is {gold}."):
        assert judge(gold=gold, response=response, question=item["problem"], mode=Mode.LENIENT).equal, response
    assert judge(gold=gold, response=rf"\boxed{{{gold}}}", question=item["problem"]).equal
    others = {other["answer"] for other in ITEMS} - {gold}
    assert [other for other in others if verify(gold=gold, answer=other).equal] == []


def ledger(*rows: tuple[str, str, int | None]):
    common = {"source": "web", "problem": "1 + 1?", "answer": "2", "stage": "curriculum", "evidence": "{}"}
    return table([{"id": name, "reason": reason, "level": level, **common} for name, reason, level in rows], LEDGER)


DROPPED = ledger(
    ("a", "not_selected", 2),
    ("b", "solve_rate", None),
    ("c", "ungraded", None),
    ("d", "doubtful", 3),
    ("e", "not_selected", 5),
)


def test_untrained_problems_passed_every_filter():
    found = untrained_items(DROPPED, 0, seed=0)
    assert [(item["id"], item["level"], item["why"]) for item in found] == [
        ("a", 2, "not_selected"),
        ("b", None, "solve_rate"),
        ("e", 5, "not_selected"),
    ]
    assert len(untrained_items(DROPPED, 2, seed=0)) == 2
    assert untrained_items(DROPPED, 2, seed=0) == untrained_items(DROPPED, 2, seed=0)


def test_the_command_writes_both_files(tmp_path, capsys):
    (tmp_path / "data" / "curriculum").mkdir(parents=True)
    write_records(tmp_path / "data" / "curriculum" / "dropped.parquet", DROPPED)
    out = tmp_path / "new" / "out"
    assert main(["forgetting", "--data", str(tmp_path / "data"), "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "by level: 2: 1, 5: 1, None: 1" in shown
    assert f"compass evaluate base rl-3 --benchmarks {out / 'general.jsonl'} {out / 'untrained.jsonl'}" in shown
    assert [json.loads(line) for line in (out / "general.jsonl").read_text().splitlines()] == ITEMS
    assert len((out / "untrained.jsonl").read_text().splitlines()) == 3


@pytest.mark.parametrize("content", [None, b"no parquet"])
def test_a_folder_without_a_curriculum_is_refused(tmp_path, capsys, content):
    (tmp_path / "curriculum").mkdir()
    if content is not None:
        (tmp_path / "curriculum" / "dropped.parquet").write_bytes(content)
    assert main(["forgetting", "--data", str(tmp_path), "--out", str(tmp_path / "out")]) == 1
    assert "curriculum/dropped.parquet" in capsys.readouterr().err
    assert content or not (tmp_path / "out").exists()


def test_without_a_run_the_general_questions_are_written_alone(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["forgetting", "--out", str(tmp_path / "out")]) == 0
    assert "no such file, so no untrained problems" in capsys.readouterr().out
    assert not (tmp_path / "out" / "untrained.jsonl").exists()
