"""Real tokenizers from the material folder, each loaded only once, and small ones made for tests."""

import functools
import json

from material import material
from sotto.engine.tokens.tokenizer import Tokenizer

NAMES = ("deepseek-coder", "gpt-2", "llama-bpe", "llama-spm", "qwen2")


def folder(name):
    """Return the folder of a tokenizer in `NAMES`, or of stories260k."""
    return material(name) if name == "stories260k" else material("tokenizers", name)


def files(name):
    """Return the JSON files of a tokenizer's folder that configure its special tokens."""
    found = {}
    for file in ("config.json", "generation_config.json", "tokenizer_config.json"):
        path = folder(name) / file
        if path.exists():
            found[file] = json.loads(path.read_text(encoding="utf-8"))
    return found


@functools.cache
def tokenizer(name):
    """Return a tokenizer from the material folder."""
    texts = files(name)
    template = texts["tokenizer_config.json"].get("chat_template", "")
    return Tokenizer((folder(name) / "tokenizer.json").read_text(encoding="utf-8"), texts, template)


def vectors(name):
    """Return pairs of a text and its expected tokens, without special tokens."""
    texts = (folder(name) / "vectors.inp").read_text(encoding="utf-8").split("\n__ggml_vocab_test__\n")
    lines = (folder(name) / "vectors.out").read_text(encoding="utf-8").splitlines()
    return [(text, [int(token) for token in line.split()]) for text, line in zip(texts, lines, strict=False)]


def added(token_id, content, special=True):
    """Return an entry of `added_tokens`."""
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": token_id, "content": content, "special": special, **flags}


def tokenizer_json(**parts):
    """Return a `tokenizer.json` with `a`, `b` and `ab` in its vocabulary, with `parts` replaced."""
    model = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}
    return json.dumps({"version": "1.0", "added_tokens": [], "model": model, **parts})
