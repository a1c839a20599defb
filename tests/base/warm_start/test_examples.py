"""What a warm start learns: solutions that the verifier pays for, in the prompt and with the end that sampling uses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from transformers import AutoTokenizer

from compass.base.warm_start.examples import write_examples
from compass.base.warm_start.train import ExampleDataset
from compass.errors import UserError
from compass.records import RECORD
from compass.settings import WarmStart


@pytest.fixture(scope="module")
def tokenizer(random_model, tmp_path_factory) -> Any:
    return AutoTokenizer.from_pretrained(random_model(tmp_path_factory.mktemp("model"), 0))


def record(number: int, **changes: Any) -> dict[str, Any]:
    values = dict.fromkeys(RECORD.names)
    values |= {
        "id": f"id-{number}",
        "source": "words",
        "source_id": str(number),
        "problem": f"Ann has {number} apples and gets 2. How many?",
        "answer": str(number + 2),
        "solution": f"{number}+2={number + 2}\n\\boxed{{{number + 2}}}",
        "licence": "MIT",
        "source_level": "",
    }
    return values | changes


def records(*rows: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), RECORD)


def settings(**changes: Any) -> WarmStart:
    return WarmStart(**{"sources": ["words"], "batch_size": 1, **changes})


def written(
    table: pa.Table, ours: WarmStart, tokenizer: Any, path: Path, seed: int = 0
) -> tuple[dict[str, int], list[dict[str, Any]]]:
    counts = write_examples(table, ours, tokenizer, path / "examples.parquet", seed=seed)
    return counts, pq.read_table(path / "examples.parquet").to_pylist()


def test_only_rows_of_the_chosen_sources_are_examples(tokenizer, tmp_path) -> None:
    counts, rows = written(records(record(1), record(2, source="other")), settings(), tokenizer, tmp_path)
    assert [row["id"] for row in rows] == ["id-1"]
    assert counts["examples"] == 1
    assert counts["tokens"] == len(rows[0]["prompt"]) + len(rows[0]["response"])


def test_an_answer_that_is_not_boxed_is_boxed_below_the_solution(tokenizer, tmp_path) -> None:
    _, rows = written(records(record(1, solution="One and two are three.")), settings(), tokenizer, tmp_path)
    assert rows[0]["text"] == "One and two are three.\n\\boxed{3}"


def test_rows_without_a_paid_solution_are_left_out_and_counted(tokenizer, tmp_path) -> None:
    table = records(
        record(1),
        record(2, solution=None),
        record(3, answer="all people who submitted"),
        record(4, problem="How many? " + 600 * "very "),
    )
    counts, rows = written(table, settings(), tokenizer, tmp_path)
    assert [row["id"] for row in rows] == ["id-1"]
    assert (counts["without_solution"], counts["unpaid"], counts["too_long"]) == (1, 1, 1)


def test_the_prompt_is_the_template_s_and_the_response_ends_with_the_end_of_a_turn(tokenizer, tmp_path) -> None:
    _, rows = written(records(record(1)), settings(prompt_suffix="Box it."), tokenizer, tmp_path)
    assert tokenizer.decode(rows[0]["prompt"]) == (
        "<|im_start|>Ann has 1 apples and gets 2. How many? Box it.<|im_end|><|im_start|>"
    )
    assert tokenizer.decode(rows[0]["response"]) == "1+2=3\n\\boxed{3}<|im_end|>"


def test_what_a_plain_template_leaves_to_the_model_is_learnt(tokenizer, tmp_path) -> None:
    _, rows = written(records(record(1)), settings(chat_template="question-answer"), tokenizer, tmp_path)
    assert tokenizer.decode(rows[0]["prompt"]).endswith("Question: Ann has 1 apples and gets 2. How many?\nAnswer:")
    assert tokenizer.decode(rows[0]["response"]) == " 1+2=3\n\\boxed{3}<|im_end|>"


def test_a_share_of_solutions_becomes_the_bare_answer(tokenizer, tmp_path) -> None:
    table = records(*(record(number) for number in range(200)))
    _, rows = written(table, settings(answer_only=0.5), tokenizer, tmp_path)
    bare = {row["id"] for row in rows if "+" not in row["text"]}
    assert 80 < len(bare) < 120
    _, more = written(table.slice(0, 150), settings(answer_only=0.5), tokenizer, tmp_path)
    assert {row["id"] for row in more if "+" not in row["text"]} == bare & {row["id"] for row in more}
    without = records(record(0, solution=None), *(record(number) for number in range(1, 200)))
    _, rest = written(without, settings(answer_only=0.5), tokenizer, tmp_path)
    assert {row["id"] for row in rest if "+" not in row["text"]} == bare - {"id-0"}


def test_the_seed_decides_the_order(tokenizer, tmp_path) -> None:
    table = records(*(record(number) for number in range(20)))
    orders = [[row["id"] for row in written(table, settings(), tokenizer, tmp_path, seed)[1]] for seed in (0, 0, 1)]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2]) == sorted(table["id"].to_pylist())


def test_a_source_without_rows_is_named(tokenizer, tmp_path) -> None:
    with pytest.raises(UserError, match="no kept row comes from 'word'; there are words"):
        write_examples(records(record(1)), settings(sources=["word"]), tokenizer, tmp_path / "e.parquet", seed=0)


def test_too_few_examples_say_why(tokenizer, tmp_path) -> None:
    with pytest.raises(UserError, match=r"1 examples are left of 2 rows \(1 have no solution"):
        write_examples(
            records(record(1), record(2, solution=None)),
            settings(batch_size=16),
            tokenizer,
            tmp_path / "e.parquet",
            seed=0,
        )


def test_the_loss_is_on_the_response_alone(tokenizer, tmp_path) -> None:
    _, rows = written(records(record(1)), settings(), tokenizer, tmp_path)
    example = ExampleDataset(str(tmp_path / "examples.parquet"), tokenizer, {})[0]
    assert example["input_ids"].tolist() == rows[0]["prompt"] + rows[0]["response"]
    assert example["loss_mask"].tolist() == [0] * len(rows[0]["prompt"]) + [1] * len(rows[0]["response"])
    assert example["position_ids"].tolist() == list(range(len(example["input_ids"])))
