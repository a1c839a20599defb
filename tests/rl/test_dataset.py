"""The training problems of a stage, as verl reads them."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compass.prompts.prompt import render
from compass.records import RecordError
from compass.rl.dataset import hold_out, write_training_set
from compass.settings.recipe import Data


class Tokenizer:
    """One token per character of the problem, and one more that asks for an answer."""

    def apply_chat_template(
        self,
        messages: list[dict],
        *,
        chat_template: str | None,
        add_generation_prompt: bool,
        tokenize: bool,
        return_dict: bool,
    ) -> list[int]:
        assert (tokenize, return_dict) == (True, False)
        if chat_template is not None:
            return list(render(chat_template, messages).encode())
        return [0] * (len(messages[-1]["content"]) + add_generation_prompt)


def settings(max_prompt_tokens: int, **prompting: str) -> Any:
    given = prompting or {"system_prompt": "Think.", "prompt_suffix": "?"}
    return SimpleNamespace(data=Data(max_prompt_tokens=max_prompt_tokens, **given))


@pytest.fixture
def problems(records: Callable[..., pa.Table]) -> pa.Table:
    return records(
        ("1+1", "2", "tiny", {"stages": "rl-1", "level": 1}),
        ("2+2", "4", "tiny", {"stages": "rl-2", "level": 2}),
        ("1+2+3+4", "10", "gsm8k", {"stages": "rl-1,rl-2", "level": 5}),
        ("3+3", "6", "tiny"),
        ("5+5", "10", "tiny", {"stages": "rl-1", "level": 3}),
    )


def write(problems: pa.Table, path: Path, stage: str = "rl-1", max_prompt_tokens: int = 100) -> tuple[dict, list[dict]]:
    counts = write_training_set(stage, problems, settings(max_prompt_tokens), Tokenizer(), path)
    return counts, pq.read_table(path).to_pylist()


def test_a_row_is_the_prompt_the_gold_and_what_travels_with_them(problems: pa.Table, tmp_path: Path) -> None:
    counts, rows = write(problems, tmp_path / "made" / "train.parquet")
    assert counts == {"problems": 3, "too_long": 0}
    assert rows[1] == {
        "data_source": "gsm8k",
        "prompt": [{"content": "Think.", "role": "system"}, {"content": "1+2+3+4 ?", "role": "user"}],
        "ability": "math",
        "reward_model": {"ground_truth": "10", "style": "rule"},
        "extra_info": {
            "id": problems["id"][2].as_py(),
            "index": 1,
            "level": 5,
            "question": "1+2+3+4",
            "alternatives": [],
            "tolerance": "",
        },
    }


def test_a_named_prompt_and_its_template_make_the_row_and_its_length(problems: pa.Table, tmp_path: Path) -> None:
    path = tmp_path / "train.parquet"
    with pytest.raises(RecordError, match="3 are longer than"):
        write_training_set("rl-1", problems, settings(200, prompt="few-shot"), Tokenizer(), path)
    counts = write_training_set("rl-1", problems, settings(2000, prompt="few-shot"), Tokenizer(), path)
    assert counts == {"problems": 3, "too_long": 0}
    rows = pq.read_table(path).to_pylist()
    assert [message["role"] for message in rows[0]["prompt"]] == ["user", "assistant"] * 4 + ["user"]
    assert rows[0]["prompt"][-1]["content"] == "1+1"


def test_a_stage_has_the_problems_that_name_it_numbered_without_gaps(problems: pa.Table, tmp_path: Path) -> None:
    _, first = write(problems, tmp_path / "1.parquet")
    _, second = write(problems, tmp_path / "2.parquet", stage="rl-2")
    assert [row["extra_info"]["index"] for row in first] == [0, 1, 2]
    assert [row["reward_model"]["ground_truth"] for row in first] == ["2", "10", "10"]
    assert [row["reward_model"]["ground_truth"] for row in second] == ["4", "10"]


def test_a_prompt_may_fill_the_room_for_it_and_not_exceed_it(problems: pa.Table, tmp_path: Path) -> None:
    # with suffix and the request for an answer "1+1" has 6 tokens and "1+2+3+4" has 10
    counts, rows = write(problems, tmp_path / "train.parquet", max_prompt_tokens=9)
    assert counts == {"problems": 2, "too_long": 1}
    assert [row["extra_info"]["index"] for row in rows] == [0, 1]
    assert write(problems, tmp_path / "train.parquet", max_prompt_tokens=10)[0] == {"problems": 3, "too_long": 0}


def test_a_stage_without_a_problem_says_where_to_look(problems: pa.Table, tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"rl-1: no training problem is left \(3 are longer.*= 4\).*mixes\.rl-1"):
        write(problems, tmp_path / "train.parquet", max_prompt_tokens=4)
    assert not (tmp_path / "train.parquet").exists()


def test_validation_problems_are_no_longer_trained_on(problems: pa.Table, tmp_path: Path) -> None:
    train, validation = tmp_path / "train.parquet", tmp_path / "validation.parquet"
    _, before = write(problems, train)
    assert hold_out("rl-1", train, validation, count=1, seed=0) == 2
    held, left = pq.read_table(validation).to_pylist(), pq.read_table(train).to_pylist()
    assert [row["data_source"] for row in held] == ["validation"]
    ids = [{row["extra_info"]["id"] for row in rows} for rows in (held, left)]
    assert ids[0] | ids[1] == {row["extra_info"]["id"] for row in before}
    assert not ids[0] & ids[1]
    write(problems, train)
    hold_out("rl-1", train, validation, count=1, seed=0)
    assert pq.read_table(validation).to_pylist() == held


def test_validation_must_leave_problems_to_train_on(problems: pa.Table, tmp_path: Path) -> None:
    write(problems, tmp_path / "train.parquet")
    with pytest.raises(RecordError, match=r"`checkpoint\.validation_problems` \(3\) leaves none of its 3 problems"):
        hold_out("rl-1", tmp_path / "train.parquet", tmp_path / "validation.parquet", count=3, seed=0)
