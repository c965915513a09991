"""`tokenizer.json` files, changed by component: normalizers, pre-tokenizers, models, added tokens and decoders."""

import copy
import json
from pathlib import Path
from random import Random
from typing import Any

from fuzzing import values
from fuzzing.target import Mark, Target
from sotto.engine.tokens.tokenizer import Tokenizer

_TEXTS = (
    "Once upon a time, é 12", "", " ", "a" * 400, "<s>ab</s><unk>", "\u2581hello  world\n\n\t",
    "\U0001f642\u200d\U0001f469", "don't 1234567 x_y {\"a\": [1]}", "e\u0301\u0301 ﬁ \x00\x7f\ufeff",
)  # fmt: skip
_FLAGS = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
_ADDED = [
    {"id": number, "content": text, "special": True, **_FLAGS} for number, text in enumerate(("<s>", "</s>", "<unk>"))
]
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789 .,'\u2581\u0120"
_BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
_SPLIT = {
    "type": "Split",
    "pattern": {"Regex": r"'s|\p{L}+|\p{N}{1,3}|\s+(?!\S)|\s+|."},
    "behavior": "Isolated",
    "invert": False,
}
_METASPACE = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
_AROUND = {
    "type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]}},
}
_FALLBACK = {
    "type": "Sequence",
    "decoders": [
        {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0},
    ],
}
# Alternatives for each component.
_PARTS: dict[str, list[Any]] = {
    "normalizer": [
        {"type": "NFC"}, {"type": "NFKD"}, {"type": "Lowercase"}, {"type": "StripAccents"}, {"type": "Nmt"},
        {"type": "Prepend", "prepend": "\u2581"}, {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"},
        {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
        {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
        "lowercase": True}, {"type": "Strip", "strip_left": True, "strip_right": True}, {"type": "Precompiled",
        "precompiled_charsmap": ""},
    ],
    "pre_tokenizer": [
        _BYTES, _SPLIT, _METASPACE, {"type": "BertPreTokenizer"}, {"type": "Whitespace"}, {"type": "WhitespaceSplit"},
        {"type": "Digits", "individual_digits": True}, {"type": "Punctuation", "behavior": "Contiguous"},
        {"type": "CharDelimiterSplit", "delimiter": "a"}, {"type": "UnicodeScripts"},
    ],
    "decoder": [_BYTES, _METASPACE, _FALLBACK, {"type": "WordPiece", "prefix": "##", "cleanup": True},
    {"type": "BPEDecoder", "suffix": "</w>"}], "post_processor": [_AROUND, _BYTES, {"type": "BertProcessing",
    "sep": ["</s>", 1], "cls": ["<s>", 0]}],
}  # fmt: skip


def _bpe(**more: Any) -> dict[str, Any]:
    vocab = {
        text: number
        for number, text in enumerate(["<s>", "</s>", "<unk>", *_LETTERS, "th", "he", "the", "on", "ce", "once"])
    }
    merges = [["t", "h"], ["th", "e"], ["o", "n"], ["c", "e"], ["on", "ce"]]
    return {"type": "BPE", "vocab": vocab, "merges": merges, **more}


def _seed(model: dict[str, Any], **parts: Any) -> dict[str, Any]:
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": _ADDED, "normalizer": None,
            "pre_tokenizer": None, "post_processor": None, "decoder": None, "model": model} | parts  # fmt: skip


_SEEDS = (
    _seed(_bpe(), pre_tokenizer={"type": "Sequence", "pretokenizers": [_SPLIT, {**_BYTES, "use_regex": False}]},
    decoder=_BYTES,
          post_processor=_AROUND),
    _seed(_bpe(unk_token="<unk>", byte_fallback=True, fuse_unk=True, dropout=None, ignore_merges=False),
    decoder=_FALLBACK,
          normalizer={"type": "Sequence", "normalizers": _PARTS["normalizer"][5:7]}),
    _seed({"type": "WordPiece", "unk_token": "<unk>", "continuing_subword_prefix": "##",
    "max_input_chars_per_word": 100,
           "vocab": {text: number for number, text in enumerate(["<s>", "</s>", "<unk>", *_LETTERS, "##a", "##b",
           "##e", "once"])}},
          normalizer=_PARTS["normalizer"][8], pre_tokenizer={"type": "BertPreTokenizer"}, decoder=_PARTS["decoder"][3],
          post_processor=_PARTS["post_processor"][2]),
    _seed({"type": "Unigram", "unk_id": 2, "byte_fallback": False,
           "vocab": [[text, -float(number)] for number, text in enumerate(["<s>", "</s>", "<unk>", *_LETTERS, "once",
           "\u2581a"])]},
          pre_tokenizer=_METASPACE, decoder=_METASPACE),
    _seed({"type": "WordLevel", "unk_token": "<unk>", "vocab": {"<s>": 0, "</s>": 1, "<unk>": 2, "once": 3, "a": 4}},
          pre_tokenizer={"type": "Whitespace"}),
)  # fmt: skip
_CONFIGS: tuple[dict[str, Any], ...] = (
    {"tokenizer_config.json": {"bos_token": "<s>", "eos_token": "</s>", "add_bos_token": True}},
    {"tokenizer_config.json": {"eos_token": {"content": "</s>"}}, "generation_config.json": {"eos_token_id": [1, 2]}},
)


class TokenizerJson(Target):
    """Tokenizers, up to a text that was encoded and decoded."""

    stages = ("read", "cut", "spelled", "back again")
    first_share, last_share = 35, 25
    wall_seconds = 30.0

    def prepare(self, folder: Path) -> None:
        """Do nothing, because no material is needed."""

    def make(self, random: Random) -> bytes:
        """Change components: their values, their types and their nesting."""
        whole = copy.deepcopy(random.choice(_SEEDS))
        for _ in range(values.times(random)):
            _change(whole, random)
        config = values.mutated(random.choice(_CONFIGS), random) if random.random() < 0.2 else random.choice(_CONFIGS)
        return values.text_of({"tokenizer": whole, "files": config})

    def run(self, data: bytes, mark: Mark) -> None:
        """Read the tokenizer, encode texts and decode them again."""
        document = json.loads(data)
        files = document["files"] if isinstance(document["files"], dict) else {}
        files = {name: content for name, content in files.items() if isinstance(content, dict)}
        tokenizer = Tokenizer(json.dumps(document["tokenizer"]), files, "{{ '<|im_end|>' }}")
        mark("read")
        cut = [tokenizer.encode(text) for text in _TEXTS]
        mark("cut")
        tokenizer.vocabulary()
        tokenizer.tokens_containing(["a"])
        mark("spelled")
        for text, ids in zip(_TEXTS, cut, strict=True):
            tokenizer.decode(ids)
            tokenizer.encode_with_frame(text, 3)
        mark("back again")

    def names(self, message: str) -> bool:
        """Return whether the message names one of the files."""
        return "tokenizer.json" in message or "_config.json" in message or "special_tokens_map.json" in message


def _change(whole: dict[str, Any], random: Random) -> None:
    """Change one component in place."""
    kind = random.randrange(7)
    name = random.choice(sorted(_PARTS))
    if kind == 0:
        whole[name] = copy.deepcopy(random.choice(_PARTS[name]))
    elif kind == 1:
        inner = {
            "normalizer": "normalizers",
            "pre_tokenizer": "pretokenizers",
            "decoder": "decoders",
            "post_processor": "processors",
        }
        parts = [whole.get(name), random.choice(_PARTS[name])] * random.choice((1, 1, 2, 20))
        whole[name] = {"type": "Sequence", inner[name]: copy.deepcopy([part for part in parts if part is not None])}
    elif kind == 2:
        whole[name] = values.mutated(random.choice(_PARTS[name]), random)
    elif kind == 3 and isinstance(whole.get("model"), dict):
        whole["model"] = values.mutated(whole["model"], random, keep=("type",))
    elif kind == 4:
        whole["added_tokens"] = values.mutated(whole.get("added_tokens"), random)
    elif kind == 5 and isinstance(whole.get(name), dict):
        whole[name] = values.mutated(whole[name], random, keep=("type",))
    else:
        key = random.choice(sorted(whole))
        whole[key] = values.mutated(whole[key], random, most=1)


TARGET = TokenizerJson()
