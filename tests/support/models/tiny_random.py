"""Tiny models with random weights, one for each kind of cache, both trimmable and not."""

import json

import mlx.core as mx
from mlx.utils import tree_flatten, tree_map

from sotto.engine.architectures.prediction import predicting
from sotto.engine.architectures.zoo import build

VOCABULARY = 97

_SHAPE = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "rms_norm_eps": 1e-5,
    "max_position_embeddings": 256,
    "tie_word_embeddings": False,
}
WINDOW = 16
CONFIGS = {
    "plain": {"model_type": "llama", **_SHAPE},
    "window": {
        "model_type": "llama",
        **_SHAPE,
        "sliding_window": WINDOW,
        "layer_types": ["sliding_attention", "full_attention"],
    },
    "recurrent": {
        "model_type": "rwkv7",
        "vocab_size": VOCABULARY,
        "hidden_size": 32,
        "intermediate_size": 64,
        "norm_eps": 1e-5,
        "head_dim": 16,
        "num_hidden_layers": 2,
        "a_low_rank_dim": 8,
        "v_low_rank_dim": 8,
        "gate_low_rank_dim": 8,
        "decay_low_rank_dim": 8,
        "tie_word_embeddings": False,
    },
    "hybrid": {
        "model_type": "qwen3_next",
        **_SHAPE,
        "head_dim": 8,
        "linear_num_value_heads": 4,
        "linear_num_key_heads": 2,
        "linear_key_head_dim": 8,
        "linear_value_head_dim": 8,
        "linear_conv_kernel_dim": 4,
        "num_experts": 4,
        "num_experts_per_tok": 2,
        "decoder_sparse_step": 1,
        "shared_expert_intermediate_size": 32,
        "mlp_only_layers": [],
        "moe_intermediate_size": 32,
        "norm_topk_prob": True,
        "rope_theta": 10000.0,
        "partial_rotary_factor": 0.5,
        "full_attention_interval": 2,
        "attention_bias": False,
    },
}


def random_model(kind):
    """Build one of `CONFIGS` with weights that yield clearly different logits for all tokens."""
    mx.random.seed(7)
    model, _ = build(CONFIGS[kind])
    model.update(tree_map(lambda weight: weight + 0.2 * mx.random.normal(weight.shape), model.parameters()))
    model.eval()
    mx.eval(model.parameters())
    return model


def flat_weights(model):
    """Return the weights of a model by their names in checkpoints."""
    return dict(tree_flatten(model.parameters()))


# These ids follow those of the printable ASCII characters, one token each, so that random answers are text.
BOS, EOS = VOCABULARY - 2, VOCABULARY - 1
TEMPLATE = (
    "{% for message in messages %}[{{ message.role }}]{{ message.content }}</s>{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}"
)


def write_model(folder, kind, template=TEMPLATE, **changes):
    """Write one of `CONFIGS` as a model folder, with `changes` to its config, and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    config = {**CONFIGS[kind], "architectures": ["Tiny"], "bos_token_id": BOS, "eos_token_id": EOS, **changes}
    letters = ["\u0120", *map(chr, range(33, 127))]
    tokenizer = {
        "version": "1.0",
        "added_tokens": [_added(BOS, "<s>"), _added(EOS, "</s>")],
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        "decoder": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        "model": {
            "type": "BPE",
            "vocab": {letter: index for index, letter in enumerate(letters)} | {"<s>": BOS, "</s>": EOS},
            "merges": [],
        },
    }
    texts = {"bos_token": "<s>", "eos_token": "</s>", "add_bos_token": False, "chat_template": template}
    for name, content in (("config", config), ("tokenizer", tokenizer), ("tokenizer_config", texts)):
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    mx.save_safetensors(str(folder / "model.safetensors"), flat_weights(random_model(kind)))
    return folder


def write_predicting(folder):
    """Write the hybrid model with a random head for multi-token prediction."""
    write_model(folder, "hybrid")
    mx.random.seed(8)
    model, _ = build(CONFIGS["hybrid"], predicting)
    shapes = {name: weight.shape for name, weight in flat_weights(model).items() if name.startswith("mtp.")}
    head = {name: 0.2 * mx.random.normal(shape) for name, shape in shapes.items()}
    mx.save_safetensors(str(folder / "model.safetensors"), {**flat_weights(random_model("hybrid")), **head})
    return folder


def write_zeros(folder, kind, **changes):
    """Write one of `CONFIGS` with all weights zero, which is much faster for large models than random weights."""
    write_model(folder, kind, **changes)
    model, _ = build({**CONFIGS[kind], **changes})
    weights = {name: mx.zeros(weight.shape) for name, weight in flat_weights(model).items()}
    mx.save_safetensors(str(folder / "model.safetensors"), weights)
    return folder


def _added(token_id, content):
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": token_id, "content": content, "special": True, **flags}
