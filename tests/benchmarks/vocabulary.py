"""The vocabulary of benchmark models: byte-level, where texts become single characters and answers random words."""

import functools
import random
import string
from collections.abc import Sequence

TEMPLATE = "{% for message in messages %}{{ message.content }} {% endfor %}"
_SPECIAL = ("<unk>", "<s>", "</s>")


@functools.cache
def words(vocabulary: int) -> Sequence[str]:
    """Return that many tokens: three special ones, one for each byte, and random words."""
    chance = random.Random(0)
    found = dict.fromkeys((*_SPECIAL, *_byte_letters()))
    while len(found) < vocabulary:
        found["\u0120" + "".join(chance.choices(string.ascii_lowercase, k=chance.randint(3, 9)))] = None
    return tuple(found)


def tokenizer_of(vocabulary: int) -> dict[str, object]:
    """Return the contents of `tokenizer.json`."""
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {
        "version": "1.0",
        "added_tokens": [
            {"id": index, "content": text, "special": True, **flags} for index, text in enumerate(_SPECIAL)
        ],
        "pre_tokenizer": level,
        "decoder": level,
        "model": {
            "type": "BPE",
            "vocab": {word: number for number, word in enumerate(words(vocabulary))},
            "merges": [],
            "unk_token": None,
        },
    }


def _byte_letters() -> list[str]:
    """Return the letters that stand for the 256 bytes in byte-level vocabularies, as GPT-2 defined them."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = (byte for byte in range(256) if byte not in printable)
    letters = {byte: chr(byte) for byte in printable} | {byte: chr(256 + at) for at, byte in enumerate(others)}
    return [letters[byte] for byte in range(256)]
