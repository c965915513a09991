"""Writing models that see as one GGUF file, with the names and keys of Ollama's own converter.

The converter: https://github.com/ollama/ollama (`convert/`). The tensors of the tower have the numbers that
`named_numbers` gives them by the names of transformers.
"""

import gguf
import numpy as np

from named_numbers import named_numbers

ARCHITECTURES = {"gemma3": "gemma3", "mistral3": "mistral3", "qwen2-5-vl": "qwen25vl", "qwen3-vl": "qwen3vl"}
_WIDTH, _INNER, _LAYERS, _PATCH, _MERGED, _TEXT = 16, 24, 3, 4, 64, 32
_COMMON = {
    "block_count": _LAYERS,
    "embedding_length": _WIDTH,
    "attention.head_count": 2,
    "patch_size": _PATCH,
    "num_channels": 3,
}
_KEYS = {
    "gemma3": {"feed_forward_length": _INNER, "image_size": 32, "attention.layer_norm_epsilon": 1e-6},
    "mistral3": {"feed_forward_length": _INNER, "image_size": 32, "attention.key_length": 8, "rope.freq_base": 1e4},
    "qwen2-5-vl": {"spatial_merge_size": 2, "window_size": 112, "fullatt_block_indexes": [1], "temporal_patch_size": 2},
    "qwen3-vl": {
        "spatial_merge_size": 2,
        "deepstack_visual_indexes": [0, 2],
        "shortest_edge": 65536,
        "longest_edge": 16777216,
        "image_mean": [0.5, 0.5, 0.5],
        "image_std": [0.5, 0.5, 0.5],
    },
}
_OUTSIDE = {"gemma3": {"mm.tokens_per_image": 4}, "mistral3": {"spatial_merge_size": 2, "image_token_index": 10}}


def write_as_ollama(path, model, case):
    """Write a model with its tower in one file.

    Args:
        path: The file to write.
        model: The language model as a GGUF file of llama.cpp's converter.
        case: Which kind, a key of `ARCHITECTURES`.
    """
    reader, architecture = gguf.GGUFReader(model), ARCHITECTURES[case]
    writer = gguf.GGUFWriter(path, architecture)
    old = reader.get_field("general.architecture").contents()
    for name, field in reader.fields.items():
        if not name.startswith(("GGUF.", "general.architecture")):
            renamed = f"{architecture}{name.removeprefix(old)}" if name.startswith(f"{old}.") else name
            kinds = [*field.types, None]
            writer.add_key_value(renamed, field.contents(), kinds[0], kinds[1])
    for key, value in {**_COMMON, **_KEYS[case]}.items():
        _add(writer, f"{architecture}.vision.{key}", value)
    for key, value in _OUTSIDE.get(case, {}).items():
        _add(writer, f"{architecture}.{key}", value)
    for tensor in reader.tensors:
        writer.add_tensor(tensor.name, tensor.data)
    for name, array in _towers(case):
        writer.add_tensor(name, np.ascontiguousarray(array))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add(writer, key, value):
    if isinstance(value, list):
        writer.add_array(key, value)
    elif isinstance(value, float):
        writer.add_float32(key, value)
    else:
        writer.add_uint32(key, value)


def _towers(case):
    """Yield the tensors of a tower by Ollama's names."""
    yield from {"gemma3": _gemma3, "mistral3": _mistral3, "qwen2-5-vl": _qwen25, "qwen3-vl": _qwen3}[case]()


def _both(stored, name, rows, *columns):
    """Yield the weight and the bias of a layer."""
    yield f"{stored}.weight", named_numbers(f"{name}.weight", (rows, *columns))
    yield f"{stored}.bias", named_numbers(f"{name}.bias", (rows,))


def _gemma3():
    tower, projector = "vision_tower.", "multi_modal_projector."
    yield from _both("v.patch_embedding", f"{tower}embeddings.patch_embedding", _WIDTH, 3, _PATCH, _PATCH)
    table = "embeddings.position_embedding.weight"
    yield "v.position_embedding.weight", named_numbers(tower + table, (64, _WIDTH))
    yield from _both("v.post_layernorm", f"{tower}post_layernorm", _WIDTH)
    name = f"{projector}mm_input_projection_weight"
    yield "mm.mm_input_projection.weight", named_numbers(name, (_WIDTH, _TEXT))
    yield "mm.mm_soft_emb_norm.weight", 1 + named_numbers(f"{projector}mm_soft_emb_norm.weight", (_WIDTH,))
    for layer in range(_LAYERS):
        here, there = f"v.blk.{layer}.", f"{tower}encoder.layers.{layer}."
        for stored, part in {"q": "q_proj", "k": "k_proj", "v": "v_proj", "output": "out_proj"}.items():
            yield from _both(f"{here}attn_{stored}", f"{there}self_attn.{part}", _WIDTH, _WIDTH)
        yield from _both(f"{here}layer_norm1", f"{there}layer_norm1", _WIDTH)
        yield from _both(f"{here}layer_norm2", f"{there}layer_norm2", _WIDTH)
        yield from _both(f"{here}mlp.fc1", f"{there}mlp.fc1", _INNER, _WIDTH)
        yield from _both(f"{here}mlp.fc2", f"{there}mlp.fc2", _WIDTH, _INNER)


def _mistral3():
    tower, projector = "vision_tower.", "multi_modal_projector."
    yield "v.patch_conv.weight", named_numbers(f"{tower}patch_conv.weight", (_WIDTH, 3, _PATCH, _PATCH))
    yield "v.encoder_norm.weight", named_numbers(f"{tower}ln_pre.weight", (_WIDTH,))
    yield "mm.linear_1.weight", named_numbers(f"{projector}linear_1.weight", (_TEXT, _WIDTH))
    yield "mm.linear_2.weight", named_numbers(f"{projector}linear_2.weight", (_TEXT, _TEXT))
    yield "mm.norm.weight", named_numbers(f"{projector}norm.weight", (_WIDTH,))
    merger = "patch_merger.merging_layer.weight"
    yield f"mm.{merger}", named_numbers(projector + merger, (_WIDTH, 4 * _WIDTH))
    for layer in range(_LAYERS):
        here, there = f"v.blk.{layer}.", f"{tower}transformer.layers.{layer}."
        for stored, part in {"q": "q_proj", "k": "k_proj", "v": "v_proj", "output": "o_proj"}.items():
            name = f"{there}attention.{part}.weight"
            yield f"{here}attn_{stored}.weight", named_numbers(name, (_WIDTH, _WIDTH))
        for stored, part in {"attn_norm": "attention_norm", "ffn_norm": "ffn_norm"}.items():
            yield f"{here}{stored}.weight", named_numbers(f"{there}{part}.weight", (_WIDTH,))
        shapes = {"gate": (_INNER, _WIDTH), "up": (_INNER, _WIDTH), "down": (_WIDTH, _INNER)}
        for part, shape in shapes.items():
            yield f"{here}ffn_{part}.weight", named_numbers(f"{there}feed_forward.{part}_proj.weight", shape)


def _split(stored, name):
    """Yield the parts of a joined layer."""
    for ending, shape in {"weight": (3 * _WIDTH, _WIDTH), "bias": (3 * _WIDTH,)}.items():
        parts = np.split(named_numbers(f"{name}.{ending}", shape), 3)
        yield from ((f"{stored}{part}.{ending}", array) for part, array in zip("qkv", parts, strict=True))


def _qwen25():
    kernel = named_numbers("visual.patch_embed.proj.weight", (_WIDTH, 3, 2, _PATCH, _PATCH))
    yield "v.patch_embd_0.weight", kernel[:, :, 0]
    yield "v.patch_embd_1.weight", kernel[:, :, 1]
    yield "v.merger.ln_q.weight", named_numbers("visual.merger.ln_q.weight", (_WIDTH,))
    yield from _both("v.merger.mlp.0", "visual.merger.mlp.0", _MERGED, _MERGED)
    yield from _both("v.merger.mlp.2", "visual.merger.mlp.2", _TEXT, _MERGED)
    for layer in range(_LAYERS):
        here, there = f"v.blk.{layer}.", f"visual.blocks.{layer}."
        yield from _split(f"{here}attn_", f"{there}attn.qkv")
        yield from _both(f"{here}attn_out", f"{there}attn.proj", _WIDTH, _WIDTH)
        for number in (1, 2):
            yield f"{here}ln{number}.weight", named_numbers(f"{there}norm{number}.weight", (_WIDTH,))
        yield from _both(f"{here}ffn_gate", f"{there}mlp.gate_proj", _INNER, _WIDTH)
        yield from _both(f"{here}ffn_up", f"{there}mlp.up_proj", _INNER, _WIDTH)
        yield from _both(f"{here}ffn_down", f"{there}mlp.down_proj", _WIDTH, _INNER)


def _qwen3():
    kernel = named_numbers("visual.patch_embed.proj.weight", (_WIDTH, 3, 2, _PATCH, _PATCH))
    yield "v.patch_embed.weight", kernel.reshape(-1, 2, _PATCH, _PATCH)
    yield "v.patch_embed.bias", named_numbers("visual.patch_embed.proj.bias", (_WIDTH,))
    yield "v.pos_embed.weight", named_numbers("visual.pos_embed.weight", (16, _WIDTH))
    mergers = {"v.merger": ("visual.merger", _WIDTH)}
    for number in range(2):
        mergers[f"v.deepstack_merger.{number}"] = f"visual.deepstack_merger_list.{number}", _MERGED
    for stored, (name, width) in mergers.items():
        yield from _both(f"{stored}.norm", f"{name}.norm", width)
        yield from _both(f"{stored}.linear_fc1", f"{name}.linear_fc1", _MERGED, _MERGED)
        yield from _both(f"{stored}.linear_fc2", f"{name}.linear_fc2", _TEXT, _MERGED)
    for layer in range(_LAYERS):
        here, there = f"v.blk.{layer}.", f"visual.blocks.{layer}."
        yield from _split(f"{here}attn_", f"{there}attn.qkv")
        yield from _both(f"{here}attn_out", f"{there}attn.proj", _WIDTH, _WIDTH)
        yield from _both(f"{here}norm1", f"{there}norm1", _WIDTH)
        yield from _both(f"{here}norm2", f"{there}norm2", _WIDTH)
        yield from _both(f"{here}mlp.linear_fc1", f"{there}mlp.linear_fc1", _INNER, _WIDTH)
        yield from _both(f"{here}mlp.linear_fc2", f"{there}mlp.linear_fc2", _WIDTH, _INNER)
