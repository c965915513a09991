"""Creates tiny random models that see, and what transformers computes: `python make_vision_clip.py [NAME ...]`.

The families are those with CLIP's, SigLIP's and Pixtral's towers in their plain forms: LLaVA, LLaVA Next, Granite
Vision, Pixtral, Mistral 3, Idefics 3 and SmolVLM. Each model is written to tests/engine/vision/references/NAME as
transformers saves it, with `preprocessor_config.json`, `tokenizer.json` and `expected.safetensors` beside it:

- `image_0`, `image_1`: pixels [H, W, 3], in bytes, whose sizes are odd;
- `features_0`, `features_1`: the features of each, [N, D];
- `pixels_0`, `pixels_1`: what the tower takes of each, [tiles, 3, H, W];
- `ids_one`, `ids_two`, `ids_first`: prompts with the first image in the middle, with both, and with the second at the
  beginning; their texts are in `prompts.json`;
- `logits_one`, `logits_two`, `logits_first`: their logits [T, V].

`geometry.json` beside the models holds, for real settings and many sizes of images, how often and where the token of an
image stands in a prompt, as a digest of the text. Needs the extra `reference`. The same versions
produce the same files.
"""

import copy
import hashlib
import json
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from PIL import Image
from safetensors.torch import save_file
from tokenizers import Regex, Tokenizer, models, pre_tokenizers
from torch import Tensor, nn

TARGET = Path(__file__).resolve().parents[2] / "tests" / "engine" / "vision" / "references"
SEED = 20261124
SIZES = ((37, 23), (18, 41))
TEXTS = {"one": "a b IMAGE c d e", "two": "a IMAGE b IMAGE c d", "first": "IMAGE b c d"}
GEOMETRY_SIZES = (
    (336, 336), (640, 480), (480, 640), (1, 1), (1000, 10), (10, 1000), (1023, 769), (2000, 1500), (333, 777),
    (4032, 3024), (1540, 1540), (1541, 1000), (512, 512), (513, 511), (97, 1024), (1920, 1080), (385, 384), (50, 49),
)  # fmt: skip

_TEXT: dict[str, Any] = {
    "vocab_size": 64,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
    "tie_word_embeddings": False,
}
_VISION: dict[str, Any] = {
    "hidden_size": 24,
    "intermediate_size": 40,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "image_size": 16,
    "patch_size": 4,
}
_GRANITE = {
    "embedding_multiplier": 6.0,
    "attention_multiplier": 0.2,
    "residual_multiplier": 0.4,
    "logits_scaling": 2.0,
    "model_type": "granite",
}
_MINISTRAL = {
    "model_type": "ministral3",
    "head_dim": 8,
    "sliding_window": None,
    "rope_parameters": {
        "rope_type": "yarn",
        "rope_theta": 10000.0,
        "factor": 4.0,
        "beta_fast": 32.0,
        "beta_slow": 1.0,
        "original_max_position_embeddings": 32,
        "mscale": 1.0,
        "mscale_all_dim": 1.0,
        "llama_4_scaling_beta": 0.1,
    },
}
_PINPOINTS = [[16, 32], [32, 16], [32, 32], [48, 16], [16, 48]]
_CLIP = {**_VISION, "model_type": "clip_vision_model"}
# Not a multiple of a patch, as with the real ones.
_SIGLIP = {**_VISION, "model_type": "siglip_vision_model", "image_size": 18}
_PIXTRAL = {**_VISION, "model_type": "pixtral", "image_size": 32}
_SIGLIP_PIXELS = {"image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}

# By name of the case: the model type, the inner text model, the tower, other options, and the image processor's.
CASES: Mapping[str, tuple[str, dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "llava": ("llava", {"model_type": "llama"}, _CLIP, {}, {}),
    "llava-full": (
        "llava",
        {"model_type": "qwen2"},
        _CLIP,
        {"vision_feature_select_strategy": "full", "vision_feature_layer": -1},
        {"do_pad": True},
    ),
    "llava-window": ("llava", {"model_type": "mistral", "sliding_window": 16, "head_dim": 8}, _CLIP, {}, {}),
    "llava-next": ("llava_next", {"model_type": "mistral", "sliding_window": None, "head_dim": 8}, _CLIP, {}, {}),
    "granite-vision": (
        "llava_next",
        {**_GRANITE, "tie_word_embeddings": True},
        _SIGLIP,
        {
            "vision_feature_select_strategy": "full",
            "vision_feature_layer": [-3, -2, 1, -1],
            "image_grid_pinpoints": [[18, 36], [36, 18], [36, 36], [54, 18], [18, 54]],
            "tie_word_embeddings": True,
        },
        _SIGLIP_PIXELS,
    ),
    "pixtral": (
        "llava",
        {"model_type": "mistral", "sliding_window": None, "head_dim": 8},
        {**_PIXTRAL, "hidden_act": "silu"},
        {"vision_feature_select_strategy": "full", "vision_feature_layer": -1},
        {},
    ),
    "mistral3": ("mistral3", {"model_type": "mistral", "sliding_window": None, "head_dim": 8}, _PIXTRAL, {}, {}),
    "mistral3-ministral": ("mistral3", _MINISTRAL, _PIXTRAL, {"tie_word_embeddings": False}, {}),
    "idefics3": (
        "idefics3",
        {"model_type": "llama"},
        {**_VISION, "model_type": "idefics3_vision"},
        {"scale_factor": 2},
        {"size": {"longest_edge": 40}, "max_image_size": {"longest_edge": 16}},
    ),
    "smolvlm": (
        "smolvlm",
        {"model_type": "llama"},
        {**_VISION, "model_type": "smolvlm_vision", "image_size": 18},
        {"scale_factor": 4},
        {"size": {"longest_edge": 72}, "max_image_size": {"longest_edge": 18}},
    ),
}
_PROCESSORS = {
    "idefics3": transformers.Idefics3ImageProcessorPil,
    "llava": transformers.LlavaImageProcessorPil,
    "llava_next": transformers.LlavaNextImageProcessorPil,
    "mistral3": transformers.PixtralImageProcessorPil,
    "smolvlm": transformers.SmolVLMImageProcessorPil,
}
_MARKS = ["<image>", "[IMG]", "[IMG_BREAK]", "[IMG_END]", "<fake_token_around_image>", "<global-img>"]
_MARKS += [f"<row_{row}_col_{column}>" for row in range(1, 5) for column in range(1, 5)]


def tokenizer() -> transformers.PreTrainedTokenizerFast:
    """Return a tokenizer of letters and of the marks for images."""
    words = ["<pad>", "<s>", "</s>", " ", "\n", *"abcdefgh", *_MARKS]
    own = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="<pad>"))
    own.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
    own.add_special_tokens(_MARKS)
    made = transformers.PreTrainedTokenizerFast(tokenizer_object=own, pad_token="<pad>", eos_token="</s>")
    assert len(made) <= _TEXT["vocab_size"]
    return made


def is_pixtral(vision: Mapping[str, Any]) -> bool:
    """Return whether a model has Pixtral's processor."""
    return vision["model_type"] == "pixtral"


def processor_of(kind: str, vision: dict[str, Any], options: dict[str, Any], pixels: dict[str, Any]) -> Any:
    """Return transformers' processor for a model."""
    side, text = vision["image_size"], tokenizer()
    if is_pixtral(vision):
        images = transformers.PixtralImageProcessorPil(size={"longest_edge": side}, **pixels)
        merged = 2 if kind == "mistral3" else 1
        return transformers.PixtralProcessor(
            images, text, patch_size=vision["patch_size"], spatial_merge_size=options.get("spatial_merge_size", merged)
        )
    if kind in ("idefics3", "smolvlm"):
        images = _PROCESSORS[kind](**pixels)
        tile = images.max_image_size["longest_edge"]
        rows = (tile // vision["patch_size"] // options["scale_factor"]) ** 2
        return transformers.Idefics3Processor(images, text, image_seq_len=rows)
    square = {"height": side, "width": side}
    size = square if vision["model_type"] == "siglip_vision_model" else {"shortest_edge": side}
    if kind == "llava_next":
        pixels = {"image_grid_pinpoints": options["image_grid_pinpoints"], **pixels}
    images = _PROCESSORS[kind](size=size, crop_size=square, **pixels)
    make = transformers.LlavaNextProcessor if kind == "llava_next" else transformers.LlavaProcessor
    return make(
        images,
        text,
        patch_size=vision["patch_size"],
        vision_feature_select_strategy=options.get("vision_feature_select_strategy", "default"),
        num_additional_image_tokens=int(vision["model_type"] == "clip_vision_model"),
    )


def model_of(kind: str, text: dict[str, Any], vision: dict[str, Any], options: dict[str, Any]) -> nn.Module:
    """Return a model whose weights all affect the result, and whose activations neither vanish nor explode."""
    slot = tokenizer().convert_tokens_to_ids("[IMG]" if is_pixtral(vision) else "<image>")
    key = "image_token_id" if kind in ("idefics3", "smolvlm") else "image_token_index"
    config = transformers.AutoConfig.for_model(
        kind, text_config={**_TEXT, **text}, vision_config=vision, **{key: slot}, **options
    )
    torch.manual_seed(SEED)
    model = transformers.AutoModelForImageTextToText.from_config(config, attn_implementation="eager").eval()
    with torch.no_grad():
        for weight in model.parameters():
            scale = 0.1 if weight.ndim < 2 else weight.reshape(len(weight), -1).shape[1] ** -0.5
            weight.copy_(weight * (weight.ndim < 2) + scale * torch.randn(weight.shape))
            # As they are stored; everything is computed in 32 bits.
            weight.copy_(weight.bfloat16())
    return model


def drawn(width: int, height: int, seed: int) -> Image.Image:
    """Return an image of noise over a gradient."""
    noise = np.random.default_rng(seed).integers(0, 120, (height, width, 3))
    gradient = np.linspace(0, 135, width)[None, :, None] + np.zeros((height, 1, 3))
    return Image.fromarray((noise + gradient).astype(np.uint8))


def tiles_of(inputs: Mapping[str, Any]) -> Tensor:
    """Return what the tower takes of one image, [tiles, 3, H, W]."""
    pixels = inputs["pixel_values"]
    return pixels[0] if pixels.ndim == 5 else pixels


@torch.no_grad()
def write(name: str) -> None:
    """Write a model and what is expected of it."""
    kind, text, vision, options, pixels = CASES[name]
    if kind == "llava_next":
        options = {"image_grid_pinpoints": _PINPOINTS, **options}
    folder = TARGET / name
    shutil.rmtree(folder, ignore_errors=True)
    processor, model = processor_of(kind, vision, options, pixels), model_of(kind, text, vision, options)
    copy.deepcopy(model).bfloat16().save_pretrained(folder)
    (folder / "generation_config.json").unlink()
    processor.image_processor.save_pretrained(folder)
    processor.tokenizer.backend_tokenizer.save(str(folder / "tokenizer.json"))
    images = [drawn(*size, seed) for seed, size in enumerate(SIZES)]
    slot = model.config.image_token_id
    mark = processor.tokenizer.convert_ids_to_tokens(slot)
    found: dict[str, Tensor] = {}
    for number, image in enumerate(images):
        found[f"image_{number}"] = torch.from_numpy(np.array(image))
        inputs = processor(images=[image], text=mark, return_tensors="pt")
        found[f"pixels_{number}"] = tiles_of(inputs).float()
        arguments = {key: value for key, value in inputs.items() if key.startswith(("pixel", "image"))}
        seen = model.model.get_image_features(**arguments, return_dict=True).pooler_output
        found[f"features_{number}"] = torch.cat(list(seen))
    prompts = {key: text.replace("IMAGE", mark) for key, text in TEXTS.items()}
    for key, prompt in prompts.items():
        chosen = {"one": images[:1], "two": images, "first": images[1:]}[key]
        inputs = processor(images=chosen, text=prompt, return_tensors="pt")
        inputs.pop("mm_token_type_ids", None)
        inputs.pop("token_type_ids", None)
        # transformers forgets the last division of Granite inside of other models.
        scaling = getattr(model.config.text_config, "logits_scaling", 1.0)
        found[f"ids_{key}"], found[f"logits_{key}"] = inputs["input_ids"][0], model(**inputs).logits[0] / scaling
    save_file({key: value.contiguous() for key, value in found.items()}, folder / "expected.safetensors")
    (folder / "prompts.json").write_text(json.dumps(prompts) + "\n", encoding="utf-8")


def geometry() -> dict[str, Any]:
    """Return how images of many sizes stand in prompts of real models."""
    granite = [[384 * down, 384 * across] for down in range(1, 11) for across in range(1, 11) if down * across <= 10]
    real = {
        "llava-1.5": ("llava", {"model_type": "clip_vision_model", "image_size": 336, "patch_size": 14}, {}, {}),
        "llava-next": (
            "llava_next",
            {"model_type": "clip_vision_model", "image_size": 336, "patch_size": 14},
            {"image_grid_pinpoints": [[336, 672], [672, 336], [672, 672], [1008, 336], [336, 1008]]},
            {},
        ),
        "granite-vision": (
            "llava_next",
            {"model_type": "siglip_vision_model", "image_size": 384, "patch_size": 14},
            {"image_grid_pinpoints": granite, "vision_feature_select_strategy": "full"},
            _SIGLIP_PIXELS,
        ),
        "pixtral": ("llava", {"model_type": "pixtral", "image_size": 1024, "patch_size": 16}, {}, {}),
        "mistral-small": ("mistral3", {"model_type": "pixtral", "image_size": 1540, "patch_size": 14}, {}, {}),
        "idefics3": (
            "idefics3",
            {"model_type": "idefics3_vision", "image_size": 364, "patch_size": 14},
            {"scale_factor": 2},
            {"size": {"longest_edge": 1456}, "max_image_size": {"longest_edge": 364}},
        ),
        "smolvlm": (
            "smolvlm",
            {"model_type": "smolvlm_vision", "image_size": 512, "patch_size": 16},
            {"scale_factor": 4},
            {"size": {"longest_edge": 2048}, "max_image_size": {"longest_edge": 512}},
        ),
        "smolvlm-large": (
            "smolvlm",
            {"model_type": "smolvlm_vision", "image_size": 384, "patch_size": 14},
            {"scale_factor": 3},
            {"size": {"longest_edge": 1536}, "max_image_size": {"longest_edge": 384}},
        ),
    }
    found = {}
    for name, (kind, vision, options, pixels) in real.items():
        processor = processor_of(kind, vision, options, pixels)
        # Sizes alone decide, so blank images will do.
        layouts = []
        for width, height in GEOMETRY_SIZES:
            image = Image.new("RGB", (width, height))
            inputs, markups = processor._process_images([image], return_tensors="pt", **_rows_wanted(kind))  # noqa: SLF001
            tiles = tiles_of(inputs)
            layouts.append([width, height, list(tiles.shape), hashlib.sha256(markups[0].encode()).hexdigest()])
        config = {"model_type": kind, "vision_config": vision, **options}
        found[name] = {"config": config, "preprocessor": processor.image_processor.to_dict(), "layouts": layouts}
    return found


def _rows_wanted(kind: str) -> dict[str, Any]:
    return {"return_row_col_info": True} if kind in ("idefics3", "smolvlm") else {}


if __name__ == "__main__":
    for case in sys.argv[1:] or CASES:
        write(case)
        print(case)
    if not sys.argv[1:]:
        (TARGET / "clip_geometry.json").write_text(json.dumps(geometry(), default=str) + "\n", encoding="utf-8")
