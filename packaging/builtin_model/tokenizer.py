"""Training the tokenizer, a byte-level BPE, on sampled conversations, and its chat template."""

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

from conversations import Corpus
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

VOCABULARY = 3072
BEGIN, USER, MODEL, END = "<|begin|>", "<|user|>", "<|model|>", "<|end|>"
SPECIAL = (BEGIN, USER, MODEL, END)
# Words with a leading space, single digits and runs of punctuation: GPT-2's pattern, except for digits.
_SPLIT = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
# Only the last messages are included: the model was trained on conversations of that length, and in longer ones its
# answers fall apart. System messages are omitted, as it cannot follow instructions.
CHAT_TEMPLATE = (
    "{{ bos_token }}{% set turns = messages | rejectattr('role', 'equalto', 'system') | list %}"
    "{% for message in turns[-15:] %}"
    "{% if message['role'] == 'user' %}<|user|>{% else %}<|model|>{% endif %}{{ message['content'] | trim }}<|end|>"
    "{% endfor %}{% if add_generation_prompt %}<|model|>{% endif %}"
)


def train_tokenizer(corpus: Corpus, seed: int, conversations: int = 30_000) -> Tokenizer:
    """Return a tokenizer trained on the texts of sampled conversations.

    Args:
        corpus: The corpus.
        seed: The seed of the sampling.
        conversations: Number of conversations, enough for every wording of an answer to occur.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_SPLIT), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        min_frequency=3,
        show_progress=False,
        special_tokens=[AddedToken(text, special=True, normalized=False) for text in SPECIAL],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator(_texts(corpus, seed, conversations), trainer)
    return tokenizer


def _texts(corpus: Corpus, seed: int, conversations: int) -> Iterator[str]:
    random = Random(seed)
    for _ in range(conversations):
        for turn in corpus.conversation(random):
            yield turn.question
            yield turn.answer


def tokenizer_config() -> dict[str, object]:
    """Return the contents of `tokenizer_config.json`."""
    return {
        "add_bos_token": False,
        "bos_token": BEGIN,
        "eos_token": END,
        "chat_template": CHAT_TEMPLATE,
        "clean_up_tokenization_spaces": False,
        "model_max_length": 4096,
        "tokenizer_class": "PreTrainedTokenizerFast",
    }


def save_tokenizer(tokenizer: Tokenizer, folder: Path) -> None:
    """Write `tokenizer.json` and `tokenizer_config.json`."""
    tokenizer.save(str(folder / "tokenizer.json"))
    text = json.dumps(tokenizer_config(), indent=2, ensure_ascii=False)
    (folder / "tokenizer_config.json").write_text(text + "\n", encoding="utf-8")
