"""Loads randomly damaged tokenizers, in a separate process because the tokenizers library might crash.

Each one is loaded and, unless it is refused, used. The numbers of used and refused ones are printed as JSON.
"""

import base64
import copy
import json
import random
import struct
import sys

from sotto.engine.tokens.tokenizer import Tokenizer
from sotto.errors import SottoError

# An empty trie and two strings.
_CHARSMAP = base64.b64encode(struct.pack("<I", 2048) + bytes(2048) + b"a\0b\0").decode()
_SPECIAL = {"id": "<s>", "ids": [3], "tokens": ["<s>"]}
_TEMPLATE = [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
_FLAGS = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
_ADDED = [
    {"id": 3, "content": "<s>", "special": True, **_FLAGS},
    {"id": 4, "content": "<|x|>", "special": True, **_FLAGS},
]
_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
_SPLIT = {"type": "Split", "pattern": {"Regex": r" ?\p{L}+|\s+"}, "behavior": "Isolated", "invert": False}
_REPLACE = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
_SEEDS = [
    {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": _ADDED,
        "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Prepend", "prepend": "▁"}]},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [_SPLIT, {"type": "FixedLength", "length": 5}, _LEVEL]},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": _TEMPLATE,
            "pair": [*_TEMPLATE, {"Sequence": {"id": "B", "type_id": 0}}],
            "special_tokens": {"<s>": _SPECIAL},
        },
        "decoder": _LEVEL,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": "b",
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {"a": 0, "b": 1, "ab": 2, "<s>": 3, "<|x|>": 4, "é": 5, "aé": 6},
            "merges": [["a", "b"], ["a", "é"]],
        },
    },
    {
        "version": "1.0",
        "added_tokens": _ADDED,
        "normalizer": {"type": "Precompiled", "precompiled_charsmap": _CHARSMAP},
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
        "decoder": {
            "type": "Sequence",
            "decoders": [
                _REPLACE,
                {"type": "ByteFallback"},
                {"type": "Fuse"},
                {"type": "Strip", "content": " ", "start": 1, "stop": 0},
            ],
        },
        "model": {
            "type": "Unigram",
            "unk_id": 0,
            "vocab": [["<unk>", 0.0], ["a", -1.0], ["ab", -2.5], ["▁", -3.0], ["b", -1.5]],
            "byte_fallback": False,
        },
    },
    {
        "version": "1.0",
        "added_tokens": _ADDED,
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "BertProcessing", "sep": ["<s>", 3], "cls": ["<|x|>", 4]},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {"[UNK]": 0, "a": 1, "##b": 2, "<s>": 3, "<|x|>": 4},
        },
    },
]
_TEXTS = [
    "a",
    "",
    "\0",
    "é",
    "\u0344",
    "a" * 3000,
    "ab" * 500,
    "##",
    "▁",
    "<s>",
    "(a+)+$",
    "(?:a|b)*",
    "a b",
    "/////w==",
]
_VALUES = [None, True, False, 0, -1, 1, 3, 2**31, 2**32 - 1, 2**32, 2**63, 10**30, 0.5, -1e308, 1e999, [], {}, *_TEXTS]


def _paths(value, path=()):
    """Yield the path to each value within another."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from _paths(inner, (*path, key))


def _damage(seed, chance):
    """Return a tokenizer with one or two random changes."""
    damaged = copy.deepcopy(seed)
    for _ in range(chance.randint(1, 2)):
        paths = list(_paths(damaged))
        if not paths:
            return damaged
        *path, key = chance.choice(paths)
        holder = damaged
        for step in path:
            holder = holder[step]
        change = chance.randrange(10)
        if change == 0:
            del holder[key]
        elif change == 1 and isinstance(holder, list):
            holder += [holder[key]] * chance.choice((1, 70, 3000))
        elif change == 2 and isinstance(holder, dict) and isinstance(key, str):
            holder[chance.choice(_TEXTS)] = holder.pop(key)
        elif change == 3:
            # A value from elsewhere in the tokenizer.
            other = damaged
            for step in chance.choice(list(_paths(damaged))):
                other = other[step]
            holder[key] = copy.deepcopy(other)
        else:
            # Mostly a value of the same type, which passes more checks.
            same_type = [value for value in _VALUES if type(value) is type(holder[key])]
            holder[key] = chance.choice(same_type if same_type and change > 4 else _VALUES)
    return damaged


def main(count):
    """Try `count` tokenizers, and print the result."""
    chance = random.Random(17)
    used = refused = 0
    for seed in _SEEDS:
        Tokenizer(json.dumps(seed))
    for number in range(count):
        text = json.dumps(_damage(_SEEDS[number % len(_SEEDS)], chance), ensure_ascii=False)
        try:
            tokenizer = Tokenizer(text)
            ids = tokenizer.encode("ab é <|x|> 漢 \0" + "a" * 300)
            tokenizer.encode_with_frame("ab", 10)
            tokenizer.decode(ids[:50])
            used += 1
        except SottoError as error:
            if not error.message.startswith("tokenizer.json: "):
                raise
            refused += 1
    print(json.dumps({"used": used, "refused": refused}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
