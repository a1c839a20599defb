"""The tiny policy's tokenizer: a small byte-level BPE in Qwen2's form.

`AutoTokenizer` replaces the saved pre-tokenizer of a folder whose `model_type` is qwen2 by Qwen2's own, silently.
The BPE is therefore trained with that very pre-tokenizer (digits stand alone, words keep their leading blank), and
`train_tokenizer` checks that a reloaded tokenizer gives the same ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from compass.errors import UserError

PAD, START, END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
"""Qwen2's special tokens; `END` closes a turn and is the end of sequence, `PAD` pads."""

# Qwen2's pre-tokenizer (transformers, models/qwen2/tokenization_qwen2.py).
_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


class TokenizerError(UserError):
    """A tokenizer that does not survive saving and loading."""


def train_tokenizer(texts: Sequence[str], *, vocabulary: int, folder: Path) -> Any:
    """Train a BPE on `texts`, save it to `folder` and return it as `AutoTokenizer` loads it.

    Args:
        texts: problems and solutions, without the chat template.
        vocabulary: tokens, the 256 bytes and the special tokens included; fewer if the texts run out of merges.
        folder: where `tokenizer.json` and `tokenizer_config.json` go.

    Raises:
        TokenizerError: the reloaded tokenizer gives other ids.
    """
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
    from transformers import AutoTokenizer, Qwen2TokenizerFast

    bpe = Tokenizer(models.BPE())
    bpe.normalizer = normalizers.NFC()
    bpe.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_WORDS), behavior="isolated", invert=False),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    bpe.decoder = decoders.ByteLevel()
    specials = [PAD, START, END]
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary - len(specials),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    # The chat template's own words often enough to become whole tokens.
    bpe.train_from_iterator([*texts, *["user\nassistant\n"] * len(texts)], trainer)
    bpe.add_special_tokens([AddedToken(token, normalized=False, special=True) for token in specials])

    tokenizer = Qwen2TokenizerFast(tokenizer_object=bpe, eos_token=END, pad_token=PAD, unk_token=None, bos_token=None)
    tokenizer.chat_template = CHAT_TEMPLATE
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save_pretrained(folder)
    loaded = AutoTokenizer.from_pretrained(folder)
    before = bpe.encode_batch(list(texts))
    for text, after, whole in zip(texts, loaded(list(texts))["input_ids"], before, strict=True):
        if after != (expected := whole.ids):
            raise TokenizerError(f"{folder}: {text!r} becomes {after} after reloading, {expected} before")
    return loaded
