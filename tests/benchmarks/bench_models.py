"""Models with random weights in real shapes, as folders that both Sotto and mlx-lm read."""

import json
import random
import string
from pathlib import Path

import mlx.core as mx
from mlx import nn
from mlx.utils import tree_flatten, tree_map

from sotto.engine.zoo import build

_COMMON = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "vocab_size": 32000,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "max_position_embeddings": 2048,
    "tie_word_embeddings": True,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "torch_dtype": "bfloat16",
}
SHAPES = {
    # Parameters without the output layer's copy, then quantization (bits, group size) or None.
    "llama-15m-4bit": (
        {"hidden_size": 288, "intermediate_size": 768, "num_hidden_layers": 6, "num_attention_heads": 6},
        (4, 32),
    ),
    "llama-15m-bf16": (
        {"hidden_size": 288, "intermediate_size": 768, "num_hidden_layers": 6, "num_attention_heads": 6},
        None,
    ),
    "llama-110m-4bit": (
        {"hidden_size": 768, "intermediate_size": 2048, "num_hidden_layers": 12, "num_attention_heads": 12},
        (4, 64),
    ),
}


def write_benchmark_model(folder: Path, shape: str) -> Path:
    """Write one of `SHAPES` in its checkpoint's type, bfloat16, and return the folder."""
    folder.mkdir(parents=True)
    sizes, quantization = SHAPES[shape]
    config = {**_COMMON, **sizes, "num_key_value_heads": sizes["num_attention_heads"]}
    mx.random.seed(0)
    model, _ = build(config)
    model.update(
        tree_map(lambda weight: (0.05 * mx.random.normal(weight.shape)).astype(mx.bfloat16), model.parameters())
    )
    if quantization:
        bits, group_size = quantization
        nn.quantize(model, group_size=group_size, bits=bits)
        config["quantization"] = config["quantization_config"] = {"group_size": group_size, "bits": bits}
    weights = dict(tree_flatten(model.parameters()))
    mx.save_safetensors(str(folder / "model.safetensors"), weights, metadata={"format": "mlx"})
    tokenizer_config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": "<s>",
        "eos_token": "</s>",
        "add_bos_token": False,
        "chat_template": "{% for message in messages %}{{ message.content }} {% endfor %}",
    }
    for name, content in (("config", config), ("tokenizer", _tokenizer()), ("tokenizer_config", tokenizer_config)):
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return folder


def _tokenizer() -> dict[str, object]:
    """Return a byte-level vocabulary: single characters, which are all that a text is cut into, and random words."""
    chance = random.Random(0)
    words: dict[str, int] = {"<unk>": 0, "<s>": 1, "</s>": 2}
    for letter in ["\u0120", *map(chr, range(33, 127))]:
        words[letter] = len(words)
    while len(words) < _COMMON["vocab_size"]:
        word = "\u0120" + "".join(chance.choices(string.ascii_lowercase, k=chance.randint(2, 9)))
        words.setdefault(word, len(words))
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {
        "version": "1.0",
        "added_tokens": [
            {"id": index, "content": text, "special": True, **flags} for text, index in list(words.items())[:3]
        ],
        "pre_tokenizer": level,
        "decoder": level,
        "model": {"type": "BPE", "vocab": words, "merges": [], "unk_token": None},
    }
