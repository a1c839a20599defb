from __future__ import annotations

import json

import numpy as np
import pytest

from compass.curation import semantic
from compass.curation.dedup import dedup
from compass.curation.semantic import find_reworded, group_by_numbers, load_model
from compass.errors import UserError
from compass.settings import Dedup, SemanticDedup

SOURCES = ["best", "other"]
BOOKS = "Tom has 8 books and buys 3 more. How many books does Tom have?"
REWORDED = "After buying 3 more books, what is the number of books of Tom, who had 8?"


def embed(texts):
    """Letters counted: close for texts of the same words, in whatever order."""
    counts = np.array(
        [[text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts], float
    )
    return counts / np.linalg.norm(counts, axis=1, keepdims=True)


def reworded(table, threshold=0.9):
    rows = dict(enumerate(table.to_pylist()))
    groups = group_by_numbers((number, row["problem"]) for number, row in rows.items())
    found = find_reworded(groups, rows, {"best": 0, "other": 1}, SemanticDedup(model="m", threshold=threshold), embed)
    return {number: (twin, drop.reason) for number, (twin, drop) in found.items()}


def test_the_same_in_other_words_with_numbers_and_gold_is_a_duplicate(records):
    table = records((REWORDED, "11", "other"), (BOOKS, "11.0", "best"))
    assert reworded(table) == {0: (1, "semantic_duplicate")}


@pytest.mark.parametrize(
    ("problem", "answer"),
    [
        (REWORDED, "12"),
        (REWORDED.replace("8", "9"), "11"),
        (REWORDED.replace("who had 8", "who had $8+x$"), "11"),
        ("Zoe pays 8 zlotys for 3 pizzas!", "11"),
    ],
    ids=["another gold", "another number", "another sign", "another text"],
)
def test_what_differs_in_gold_number_or_meaning_stays(records, problem, answer):
    assert reworded(records((BOOKS, "11", "best"), (problem, answer, "other"))) == {}


def test_a_problem_with_fewer_than_two_numbers_is_left_alone(records):
    one = "Tom has 8 books. How many books does Tom have?"
    assert reworded(records((one, "8", "best"), (one.replace("How many", "Now how many"), "8", "other"))) == {}


def test_a_twin_is_never_dropped_itself(records):
    table = records(*[(BOOKS.replace("Tom", name), "11", "best") for name in ("Tom", "Tim", "Tam", "Mat")])
    found = reworded(table, threshold=0.8)
    assert found
    assert not {twin for twin, _ in found.values()} & found.keys()


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A small BERT with random weights, as transformers saves one."""
    torch = pytest.importorskip("torch")
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("model")
    words = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *["tom", "has", "8", "books", "and", "buys", "3", "more", ".", "how", "many", "does", "have", "?"],
    ]
    (folder / "vocab.txt").write_text("\n".join(words))
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32
    )
    BertModel(config).save_pretrained(folder)
    BertTokenizerFast(vocab_file=str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


def test_an_embedding_is_the_mean_over_the_texts_own_tokens(model):
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer, bert = AutoTokenizer.from_pretrained(model), AutoModel.from_pretrained(model).eval()
    with torch.inference_mode():
        states = bert(**tokenizer("Tom has 8 books", return_tensors="pt")).last_hidden_state[0]
    mean = states.mean(0).numpy()
    together = load_model(str(model))(["Tom has 8 books", BOOKS])  # padded beside a longer one
    assert np.allclose(together[0], mean / np.linalg.norm(mean), atol=1e-5)
    assert np.allclose(np.linalg.norm(together, axis=1), 1)


def test_dedup_drops_them_with_evidence_and_their_duplicates_follow(records, model):
    table = records((BOOKS, "11", "best"), (REWORDED, "11", "other"), (REWORDED.upper(), "11", "other"))
    settings = Dedup(semantic=SemanticDedup(model=str(model), threshold=0.01))
    kept, dropped = dedup(table, settings, SOURCES)
    first = kept.to_pylist()[0]
    rows = {row["reason"]: row for row in dropped.to_pylist()}
    assert rows.keys() == {"semantic_duplicate", "exact_duplicate"}
    evidence = json.loads(rows["semantic_duplicate"]["evidence"])
    assert evidence["twin"] == first["id"]
    assert 0.01 <= evidence["similarity"] <= 1
    assert first["cluster_size"] == 3
    assert {row["cluster"] for row in rows.values()} == {first["id"]}
    assert dedup(table, settings, SOURCES)[1].equals(dropped)


def test_without_a_model_nothing_is_embedded(records, monkeypatch):
    monkeypatch.setattr(semantic, "load_model", None)
    kept, _ = dedup(records((BOOKS, "11", "best"), (REWORDED, "11", "other")), Dedup(), SOURCES)
    assert kept.num_rows == 2


def test_a_folder_without_a_model_is_refused(tmp_path):
    with pytest.raises(UserError, match="no such folder"):
        load_model(str(tmp_path / "absent"))
    with pytest.raises(UserError, match="cannot load"):
        load_model(str(tmp_path))
