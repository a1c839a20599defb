"""Fixtures that several folders use."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from compass.records import record_id, table

SHARED = Path(__file__).parents[1] / ".." / "shared" / "data"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real sources and benchmarks; tests that need it are skipped where it is absent."""
    if not SHARED.exists():
        pytest.skip("needs the folder ../shared/data beside the repository")
    return SHARED


@pytest.fixture(scope="session")
def records() -> Callable[..., pa.Table]:
    """`records((problem, answer, source), ...)` or `records((problem, answer, source, {column: value}), ...)`."""

    def build(*rows: tuple) -> pa.Table:
        made = []
        for number, (problem, answer, source, *more) in enumerate(rows):
            row = {
                "id": record_id(source, str(number)),
                "source": source,
                "source_id": str(number),
                "problem": problem,
                "answer": answer,
                "solution": "",
            }
            made.append({**row, **(more[0] if more else {})})
        return table(made)

    return build


@pytest.fixture(scope="session")
def random_model() -> Callable[[Path, int], Path]:
    """Makes a model folder with random weights: `random_model(folder, seed)`. Tokens are single bytes."""
    return make_random_model


def make_random_model(folder: Path, seed: int) -> Path:
    """A Qwen2 of 0.6M parameters that ends a response now and then, saved in `folder`."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    vocabulary = {token: number for number, token in enumerate(special + sorted(pre_tokenizers.ByteLevel.alphabet()))}
    tokens = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokens.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokens.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=tokens, pad_token=special[0], eos_token=special[2], additional_special_tokens=special[1:2]
    )
    tokenizer.chat_template = (
        "{% for message in messages %}<|im_start|>{{ message['content'] }}<|im_end|>{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>{% endif %}"
    )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(seed)
    model = Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=len(vocabulary),
            hidden_size=128,
            intermediate_size=352,
            num_hidden_layers=3,
            num_attention_heads=4,  # head size 32, the smallest of vLLM's CPU attention
            num_key_value_heads=2,
            max_position_embeddings=512,
            tie_word_embeddings=True,
            bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
            initializer_range=0.06,
        )
    )
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    model.save_pretrained(folder)
    return folder
