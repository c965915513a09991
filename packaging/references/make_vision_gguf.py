"""Converts tiny models that see to GGUF for the tests, by llama.cpp's own converter.

Called as `make_vision_gguf.py SOURCE [NAME ...]`; SOURCE is a checkout of https://github.com/ggml-org/llama.cpp. Start
Python with `-O`, as a converter asserts that models have the sizes of those that it knows. Each parameter has numbers
that follow from its name, so that the tests know what should be read from the files. The language models, with a
vocabulary without merges, their projectors and the checkpoints' configs are written to
tests/engine/vision/converted. Needs the extra `reference`. The same versions produce the same files.
"""

import json
import logging
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from make_gguf import plain_vocabulary
from safetensors.torch import load_file, save_file

TARGET = Path(__file__).resolve().parents[2] / "tests" / "engine" / "vision" / "converted"
HALF = [0.5, 0.5, 0.5]
TEXT: Mapping[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 16,
    "vocab_size": 64,
    "max_position_embeddings": 256,
}
VISION: Mapping[str, Any] = {
    "hidden_size": 16,
    "intermediate_size": 24,
    # With fewer, a converter knows too few layers of projectors.
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "patch_size": 4,
    "image_size": 32,
}
PATCHES: Mapping[str, Any] = {
    "depth": 3,
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_heads": 2,
    "patch_size": 4,
    "out_hidden_size": 32,
}
AXES = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 3, 3]}


def numbers(name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Return the numbers of a parameter, which F16 holds exactly, as tests/support/models/named_numbers.py does."""
    first = sum((place + 1) * ord(letter) for place, letter in enumerate(name))
    count = int(np.prod(shape, dtype=np.int64))
    return (((first + np.arange(count) * 7919) % 1024).astype(np.float32) / 1024 - 0.5).reshape(shape)


def gemma3() -> Any:
    config = transformers.Gemma3Config(
        text_config={**TEXT, "sliding_window": 16, "query_pre_attn_scalar": 16},
        vision_config={**VISION},
        mm_tokens_per_image=4,
    )
    return transformers.Gemma3ForConditionalGeneration(config), {"image_seq_length": 4}


def gemma4() -> Any:
    config = transformers.Gemma4Config(
        text_config={
            **TEXT,
            "layer_types": ["sliding_attention", "full_attention"],
            "sliding_window": 16,
            "head_dim": 8,
            "global_head_dim": 16,
            "num_kv_shared_layers": 0,
            "hidden_size_per_layer_input": 8,
            "vocab_size_per_layer_input": 64,
            "rope_parameters": {
                "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
                "full_attention": {"rope_type": "proportional", "rope_theta": 1e6, "partial_rotary_factor": 0.25},
            },
        },
        vision_config={
            **{key: value for key, value in VISION.items() if key != "image_size"},
            "num_key_value_heads": 2,
            "head_dim": 8,
            "position_embedding_size": 24,
            "use_clipped_linears": True,
            "standardize": True,
        },
        audio_config=None,
    )
    return transformers.Gemma4ForConditionalGeneration(config), {}


def glm_ocr() -> Any:
    rope = {**AXES, "partial_rotary_factor": 1.0}
    config = transformers.GlmOcrConfig(
        text_config={**TEXT, "rope_parameters": rope, "pad_token_id": None},
        vision_config={**PATCHES, "image_size": 32},
    )
    return transformers.GlmOcrForConditionalGeneration(config), {}


def idefics3() -> Any:
    config = transformers.Idefics3Config(
        text_config={**TEXT, "model_type": "llama", "architectures": ["LlamaForCausalLM"], "pad_token_id": 2},
        vision_config={**VISION},
        scale_factor=2,
    )
    sizes = {"size": {"longest_edge": 64}, "max_image_size": {"longest_edge": 32}}
    return transformers.Idefics3ForConditionalGeneration(config), sizes


def lfm2() -> Any:
    text = {**TEXT, "model_type": "lfm2", "block_ff_dim": 32, "full_attn_idxs": [1], "block_auto_adjust_ff_dim": False}
    text["architectures"] = ["Lfm2ForCausalLM"]
    vision = {**VISION, "model_type": "siglip2_vision_model", "patch_size": 16, "num_patches": 16}
    vision["vision_use_head"] = False
    config = transformers.Lfm2VlConfig(text_config=text, vision_config=vision, projector_hidden_size=24)
    return transformers.Lfm2VlForConditionalGeneration(config), {}


def mistral3() -> Any:
    config = transformers.Mistral3Config(
        text_config={**TEXT, "model_type": "mistral"},
        vision_config={**VISION, "model_type": "pixtral", "hidden_act": "silu"},
        spatial_merge_size=2,
    )
    return transformers.Mistral3ForConditionalGeneration(config), {}


def pixtral() -> Any:
    config = transformers.LlavaConfig(
        text_config={**TEXT, "model_type": "mistral"},
        vision_config={**VISION, "model_type": "pixtral", "hidden_act": "gelu"},
        vision_feature_layer=-1,
        vision_feature_select_strategy="full",
    )
    return transformers.LlavaForConditionalGeneration(config), {}


def qwen2_vl() -> Any:
    vision = {"depth": 3, "embed_dim": 16, "hidden_size": 32, "mlp_ratio": 2, "num_heads": 2, "patch_size": 4}
    config = transformers.Qwen2VLConfig(text_config={**TEXT, "rope_parameters": AXES}, vision_config=vision)
    return transformers.Qwen2VLForConditionalGeneration(config), {}


def qwen2_5_vl() -> Any:
    config = transformers.Qwen2_5_VLConfig(
        text_config={**TEXT, "rope_parameters": AXES},
        vision_config={**PATCHES, "window_size": 16, "fullatt_block_indexes": [1]},
    )
    return transformers.Qwen2_5_VLForConditionalGeneration(config), {}


def qwen3_vl() -> Any:
    config = transformers.Qwen3VLConfig(
        text_config={**TEXT, "rope_parameters": {**AXES, "mrope_interleaved": True}},
        vision_config={**PATCHES, "deepstack_visual_indexes": [0, 2], "num_position_embeddings": 16},
    )
    return transformers.Qwen3VLForConditionalGeneration(config), {}


_SIGLIP = ("Gemma3ForConditionalGeneration", "Lfm2VlForConditionalGeneration")
CASES: Mapping[str, Callable[[], Any]] = {
    "gemma3": gemma3,
    "gemma4": gemma4,
    "glm-ocr": glm_ocr,
    "idefics3": idefics3,
    "lfm2-vl": lfm2,
    "mistral3": mistral3,
    "pixtral": pixtral,
    "qwen2-5-vl": qwen2_5_vl,
    "qwen2-vl": qwen2_vl,
    "qwen3-vl": qwen3_vl,
}


def checkpoint_name(name: str, model: Any) -> str:
    """Return the name that a tensor has in the checkpoints of makers, without which converters do not find it."""
    if type(model).__name__ in _SIGLIP:
        return name.replace("vision_tower.", "vision_tower.vision_model.")
    return name


def write_checkpoint(name: str, folder: Path) -> None:
    """Write a model in transformers' format, with what converters look for beside it."""
    model, preprocessor = CASES[name]()
    with torch.no_grad():
        for key, array in model.state_dict().items():
            array.copy_(torch.from_numpy(numbers(key.removeprefix("model."), tuple(array.shape))))
    model.save_pretrained(folder)
    path = folder / "model.safetensors"
    # As makers name them.
    save_file({checkpoint_name(key, model): array for key, array in load_file(path).items()}, path)
    settings = {"image_mean": HALF, "image_std": HALF, **preprocessor}
    (folder / "preprocessor_config.json").write_text(json.dumps(settings), encoding="utf-8")
    vocabulary = {f"<{index}>": index for index in range(TEXT["vocab_size"])}
    added = [{"id": 12, "content": "[IMG_BREAK]"}]
    tokenizer = {"added_tokens": added, "model": {"vocab": vocabulary}}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text("{}", encoding="utf-8")


def convert(folder: Path, target: Path, kind: Any) -> None:
    """Write the language model or the projector of a checkpoint as GGUF."""
    import conversion
    import gguf

    projector = kind is conversion.ModelType.MMPROJ
    config = conversion.ModelBase.load_hparams(folder, False)
    found = conversion.get_model_class(conversion.get_model_architecture(config, kind), mmproj=projector)
    with torch.inference_mode():
        model = found(folder, gguf.LlamaFileType.ALL_F32, target, eager=True, model_name=folder.name)
        writing = getattr(model, "impl", model)
        if not projector:
            writing.set_vocab = lambda: plain_vocabulary(writing)
        model.write()


def main() -> None:
    """Convert the cases named on the command line, or all."""
    logging.disable(logging.WARNING)
    transformers.utils.logging.set_verbosity_error()
    source, *names = sys.argv[1:]
    sys.path[:0] = [source, f"{source}/gguf-py"]
    import conversion

    for name in names or CASES:
        (TARGET / name).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary) / name
            write_checkpoint(name, folder)
            shutil.copy(folder / "config.json", TARGET / name)
            convert(folder, TARGET / name / "model.gguf", conversion.ModelType.TEXT)
            convert(folder, TARGET / name / "mmproj.gguf", conversion.ModelType.MMPROJ)
        print(name)


if __name__ == "__main__":
    main()
