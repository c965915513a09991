"""Writing projectors as the first converter wrote them, which was made for LLaVA.

It is `tools/mtmd/legacy-models/convert_image_encoder_to_gguf.py` of https://github.com/ggml-org/llama.cpp. It calls the
two layers of feed-forward parts the other way round, leaves the last layer of the encoder uncounted, and did not state
the kind of projector at first.
"""

import gguf
import mlx.core as mx
import numpy as np

from gguf_writing import write_model

_NAMES = {
    "multi_modal_projector.linear_1": "mm.0",
    "multi_modal_projector.linear_2": "mm.2",
    "vision_tower.": "v.",
    "vision_model.": "",
    "encoder.layers.": "blk.",
    "embeddings.": "",
    "patch_embedding": "patch_embd",
    "position_embedding": "position_embd",
    "class_embedding": "class_embd",
    "self_attn.": "attn_",
    "_proj": "",
    "layer_norm": "ln",
    "layernorm": "ln",
    "layrnorm": "ln",
    "mlp.fc1": "ffn_down",
    "mlp.fc2": "ffn_up",
    "image_newline": "model.image_newline",
}


def write_llava(folder, written, checkpoint, *, named=True, without=""):
    """Write a model and its projector into a folder.

    Args:
        folder: The folder.
        written: The contents of config.json.
        checkpoint: The path of the weights.
        named: Whether the kind of projector is stated.
        without: The name of a tensor of the projector to leave out.
    """
    weights = {
        name.removeprefix("model."): np.array(array.astype(mx.float32))
        for name, array in mx.load(str(checkpoint)).items()
    }
    text = {}
    for name, array in weights.items():
        if name.startswith(("language_model.", "lm_head.")):
            part = name.removeprefix("language_model.").removeprefix("model.")
            text[part if part.startswith("lm_head.") else f"model.{part}"] = array
    config = {"tie_word_embeddings": written["tie_word_embeddings"], **written["text_config"]}
    write_model(folder / "model.gguf", config, text, architecture={"mistral": "llama"}.get(config["model_type"]))
    _write_projector(folder / "mmproj-model-f16.gguf", written, weights, named, without)
    return folder


def _write_projector(path, written, weights, named, without):
    vision = written["vision_config"]
    layers = written["vision_feature_layer"]
    depth = vision["num_hidden_layers"]
    counted = [layer % (depth + 1) for layer in (layers if isinstance(layers, list) else [layers])]
    writer = gguf.GGUFWriter(path, "clip")
    writer.add_bool("clip.has_text_encoder", False)
    writer.add_bool("clip.has_vision_encoder", True)
    writer.add_bool("clip.has_llava_projector", True)
    if named:
        writer.add_string("clip.projector_type", "mlp")
    keys = {
        "image_size": vision["image_size"],
        "patch_size": vision["patch_size"],
        "embedding_length": vision["hidden_size"],
        "feed_forward_length": vision["intermediate_size"],
        "projection_dim": vision.get("projection_dim", 0),
        "attention.head_count": vision["num_attention_heads"],
        "block_count": max(counted),
    }
    for key, value in keys.items():
        writer.add_uint32(f"clip.vision.{key}", value)
    writer.add_float32("clip.vision.attention.layer_norm_epsilon", vision["layer_norm_eps"])
    writer.add_array("clip.vision.image_mean", [0.5, 0.5, 0.5])
    writer.add_array("clip.vision.image_std", [0.25, 0.25, 0.25])
    writer.add_bool("clip.use_gelu", vision["hidden_act"] == "gelu")
    if isinstance(layers, list):
        writer.add_array("clip.vision.feature_layer", counted)
    if "image_newline" in weights:
        writer.add_string("clip.vision.mm_patch_merge_type", "spatial_unpad")
        pinpoints = [side for pair in written["image_grid_pinpoints"] for side in pair]
        writer.add_array("clip.vision.image_grid_pinpoints", pinpoints)
    for name, array in weights.items():
        if name.startswith(("language_model.", "lm_head.")) or ".head." in name or "post_layernorm" in name:
            continue
        for old, new in _NAMES.items():
            name = name.replace(old, new)
        if name != without:
            writer.add_tensor(name, np.ascontiguousarray(array))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
