"""A real model whose weights encode fixed answers: the first answer of a conversation, the second one, and so on.

The engine runs as usual, with template, tokenizer, weights and parser. The embeddings of tokens are orthogonal,
attention and the feed-forward network add nothing, and the output matrix maps each embedding to the next token. The
template ends the prompt with a token for the number of the answer, from which that answer follows token by token at any
temperature.
"""

import json

import mlx.core as mx

from sotto.engine.architectures.towers.tower_choice import make_tower
from sotto.engine.architectures.zoo import build
from tiny_random import flat_weights
from vocabularies import added

_END = "</s>"
_PIECE = 6
# The output weight of the next token.
_CERTAIN = 100.0
_VISION = {
    "model_type": "clip_vision_model",
    "hidden_size": 32,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 1,
    "image_size": 16,
    "patch_size": 4,
}
_SLOT = "<image>"
# Only the ends of messages, because clients send long instructions.
_TEMPLATE = """\
{#- <tool_call> -#}
{%- for tool in tools or [] %}[{{ tool.function.name }}]{% endfor %}
{%- for message in messages %}[{{ message.role }}]{{ message.content[-200:] }}{% endfor %}
{%- if add_generation_prompt %}
{%- set answers = messages | selectattr('role', 'equalto', 'assistant') | list | length %}
{{- '<|answer ' ~ ([answers, LAST] | min if tools else 'plain') ~ '|>' }}
{%- endif %}"""


def call(name, **arguments):
    """Return a tool call in the notation of this model."""
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def write_answers(folder, answers, plain="Nothing to do.", *, sees=False):
    """Write a model that gives `answers` in order and then repeats the last one, and return its folder.

    Args:
        folder: The folder to write.
        answers: The answers to requests with tools.
        plain: The answer to requests without tools, which clients send for titles, for example.
        sees: Whether it takes images, with a tower that computes zeros.
    """
    folder.mkdir(parents=True, exist_ok=True)
    marks = {f"<|answer {number}|>": answer for number, answer in enumerate(answers)} | {"<|answer plain|>": plain}
    ids = {_letter(byte): byte for byte in range(256)}
    special = {text: len(ids) + index for index, text in enumerate((_END, _SLOT, *marks))}
    ids |= special
    # Maps each token to the next one.
    follows, taken = {}, set()
    for mark, answer in marks.items():
        last = ids[mark]
        for piece in _pieces(answer.encode(), taken):
            follows[last] = ids.setdefault(piece, len(ids))
            last = follows[last]
        follows[last] = ids[_END]
    size = -(-len(follows) // 64) * 64
    config = {
        "model_type": "llama",
        "architectures": ["Tiny"],
        "vocab_size": len(ids),
        "hidden_size": size,
        "intermediate_size": 64,
        "num_hidden_layers": 1,
        "num_attention_heads": size // 32,
        "num_key_value_heads": 1,
        "rms_norm_eps": 1e-5,
        "max_position_embeddings": 32768,
        "tie_word_embeddings": False,
        "eos_token_id": ids[_END],
    }
    if sees:
        config = {"model_type": "llava", "text_config": config, "vision_config": _VISION, "vision_feature_layer": -2}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    tokenizer = {
        "version": "1.0",
        "added_tokens": [added(token, text) for text, token in special.items()],
        "pre_tokenizer": byte_level,
        "decoder": byte_level,
        "model": {"type": "BPE", "vocab": ids, "merges": []},
    }
    template = _TEMPLATE.replace("LAST", str(len(answers) - 1))
    texts = {"eos_token": _END, "add_bos_token": False, "chat_template": template}
    for name, content in (("config", config), ("tokenizer", tokenizer), ("tokenizer_config", texts)):
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    mx.save_safetensors(str(folder / "model.safetensors"), _weights(config, follows))
    return folder


def _weights(config, follows):
    """Return weights that map each token of `follows` to the next one, and are otherwise neutral."""
    parts = (build(config)[0], make_tower(config))
    weights = {
        name: mx.ones_like(weight) if "norm" in name else mx.zeros_like(weight)
        for part in parts
        if part
        for name, weight in flat_weights(part).items()
    }
    for end, tokens, value in (
        ("model.embed_tokens.weight", follows.keys(), 1.0),
        ("lm_head.weight", follows.values(), _CERTAIN),
    ):
        (name,) = (name for name in weights if name.endswith(end))
        rows = mx.zeros_like(weights[name])
        for direction, token in enumerate(tokens):
            rows[token, direction] = value
        weights[name] = rows
    return weights


def _pieces(text, taken):
    """Split a text into byte-level tokens that are not yet in `taken`, and add them to it."""
    pieces = []
    while text:
        sizes = range(min(_PIECE, len(text)), len(text) + 1)
        size = next((size for size in sizes if _spelt(text[:size]) not in taken), len(text))
        pieces.append(_spelt(text[:size]))
        text = text[size:]
        if pieces[-1] in taken:
            # The rest of the text is taken, so it is joined to the piece before it.
            pieces[-2:] = ["".join(pieces[-2:])]
        taken.add(pieces[-1])
    return pieces


def _spelt(text):
    return "".join(map(_letter, text))


def _letter(byte):
    """Return the character for a byte in a byte-level vocabulary: itself if printable, otherwise one from 256 up."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    return chr(byte) if byte in printable else chr(256 + sum(other not in printable for other in range(byte)))
