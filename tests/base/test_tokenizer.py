"""The tiny tokenizer: Qwen2's form, and the same ids after AutoTokenizer loads it."""

from itertools import islice

import pytest

from compass.base.corpus import worked
from compass.base.tokenizer import END, PAD, TokenizerError, train_tokenizer
from compass.prompts.prompt import chat_messages


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    texts = [text for pair in islice(worked(seed=0), 400) for text in pair]
    return train_tokenizer(texts, vocabulary=1024, folder=tmp_path_factory.mktemp("tokenizer"))


def test_vocabulary_is_the_tokenizers_length_and_special_tokens_are_set(tokenizer):
    assert len(tokenizer) == max(tokenizer.get_vocab().values()) + 1 <= 1024
    assert (tokenizer.eos_token, tokenizer.pad_token) == (END, PAD)
    assert tokenizer.pad_token_id != tokenizer.eos_token_id


def test_any_text_survives_encoding(tokenizer):
    for text in ("18/2=9\n\\boxed{9}", "Ünïcode π ≠ 3\t\r\n <tag>", "Ada has 12 books."):
        assert tokenizer.decode(tokenizer(text)["input_ids"]) == text


def test_digits_stand_alone_and_a_line_is_short(tokenizer):
    tokens = tokenizer.convert_ids_to_tokens(tokenizer("18+12=30\n\\boxed{30}")["input_ids"])
    assert tokens == ["1", "8", "+", "1", "2", "=", "3", "0", "Ċ", "\\boxed", "{", "3", "0", "}"]


def test_chat_prompt_ends_where_the_assistant_begins(tokenizer):
    shown = tokenizer.apply_chat_template(chat_messages("How many?"), tokenize=False, add_generation_prompt=True)
    assert shown == "<|im_start|>user\nHow many?<|im_end|>\n<|im_start|>assistant\n"


def test_a_tokenizer_that_changes_on_reloading_is_refused(tmp_path, monkeypatch):
    from transformers import AutoTokenizer

    load = AutoTokenizer.from_pretrained

    def without_merges(folder):
        loaded = load(folder)
        return lambda texts: {"input_ids": [ids[:-1] for ids in loaded(texts)["input_ids"]]}

    monkeypatch.setattr(AutoTokenizer, "from_pretrained", without_merges)
    with pytest.raises(TokenizerError, match=r"'ab' becomes \[\d*\] after reloading, \[\d+(, \d+)*\] before"):
        train_tokenizer(["ab"], vocabulary=300, folder=tmp_path)
