"""Creates tiny random models of Qwen and GLM that see, and their logits: `python make_vision_qwen.py [NAME ...]`.

Each model is written to tests/engine/vision/references/NAME as transformers saves it, with the settings of its
processor. Beside it is `expected.safetensors`, for each prompt N and its image M:

- `N.ids`: the tokens `[T]` as the processor writes them out, and `N.logits` `[T, V]` in one forward pass;
- `N.M.image`: the pixels of the image `[H, W, 3]`, and `N.M.tile` those that the tower sees, as bytes;
- `N.M.rows`: the features `[R, D]` of the image, and `N.M.deep.K` what is added after layer K of the language model.

`prompts.json` has the texts, with `<image>` for each image, and `patch_merger_layouts.json` beside the folders has
the rows and columns of features for images of many sizes, with the settings of the original models.

Needs the extra `reference`. The same versions produce the same files.
"""

import json
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import tokenizers
import torch
import transformers
from PIL import Image
from safetensors.torch import save_file
from torch import Tensor, nn
from transformers.models.glm46v.image_processing_pil_glm46v import Glm46VImageProcessorPil
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

TARGET = Path(__file__).resolve().parents[2] / "tests" / "engine" / "vision" / "references"
SEED = 20261124

_QWEN_MARKS = ("<|vision_start|>", "<|image_pad|>", "<|vision_end|>", "<|video_pad|>")
_GLM_MARKS = ("<|begin_of_image|>", "<|image|>", "<|end_of_image|>", "<|video|>")
_TEXT: dict[str, Any] = {
    "vocab_size": 40,
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "max_position_embeddings": 512,
    "bos_token_id": None,
    "eos_token_id": None,
}
_SECTIONS = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [1, 1, 2]}
_VISION: dict[str, Any] = {
    "depth": 3,
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_heads": 2,
    "out_hidden_size": 16,
    "patch_size": 4,
}
_QWEN3_VISION = {**_VISION, "num_position_embeddings": 25}
_EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 12}
_LINEAR = {
    **_TEXT,
    "num_hidden_layers": 4,
    "head_dim": 16,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 16,
    "linear_value_head_dim": 8,
    "rope_parameters": {
        "rope_type": "default",
        "rope_theta": 10000.0,
        "partial_rotary_factor": 0.5,
        "mrope_section": [2, 1, 1],
        "mrope_interleaved": True,
    },
}
CASES: Mapping[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "qwen2-vl": (
        "qwen2_vl",
        {**_TEXT, "rope_parameters": _SECTIONS},
        {"depth": 3, "embed_dim": 16, "hidden_size": 16, "mlp_ratio": 2, "num_heads": 2, "patch_size": 4},
    ),
    "qwen2-5-vl": (
        "qwen2_5_vl",
        {**_TEXT, "rope_parameters": _SECTIONS},
        # Windows of two squares, and one layer that sees everything.
        {**_VISION, "window_size": 16, "fullatt_block_indexes": [1]},
    ),
    "qwen3-vl": (
        "qwen3_vl",
        {**_TEXT, "head_dim": 8, "rope_parameters": {**_SECTIONS, "mrope_section": [2, 1, 1]}},
        {**_QWEN3_VISION, "deepstack_visual_indexes": [0, 2]},
    ),
    "qwen3-vl-moe": (
        "qwen3_vl_moe",
        {**_TEXT, "head_dim": 8, "rope_parameters": {**_SECTIONS, "mrope_section": [2, 1, 1]}, **_EXPERTS},
        {**_QWEN3_VISION, "deepstack_visual_indexes": [1]},
    ),
    "qwen3-5": ("qwen3_5", _LINEAR, _QWEN3_VISION),
    "qwen3-5-moe": ("qwen3_5_moe", {**_LINEAR, **_EXPERTS, "shared_expert_intermediate_size": 8}, _QWEN3_VISION),
    "glm-ocr": ("glm_ocr", {**_TEXT, "head_dim": 8, "rope_parameters": _SECTIONS}, _VISION),
}
# Widths and heights: odd ones, one that is enlarged, one that is reduced, and one of a single square.
PROMPTS: list[tuple[str, list[tuple[int, int]]]] = [
    ("ab cd<image>ef gh", [(37, 50)]),
    ("<image>what<image>ever and on", [(41, 23), (9, 8)]),
    ("one<image> two <image>three", [(90, 31), (30, 33)]),
]
_PIXELS = {"shortest_edge": 8 * 8 * 4, "longest_edge": 8 * 8 * 30}
# What the original models have in their files.
_CLIP = {"patch_size": 14, "temporal_patch_size": 2, "merge_size": 2}
LAYOUTS: Mapping[str, dict[str, Any]] = {
    "qwen2_5_vl": {**_CLIP, "min_pixels": 3136, "max_pixels": 12845056},
    "qwen3_vl": {
        "size": {"longest_edge": 16777216, "shortest_edge": 65536},
        "patch_size": 16,
        "temporal_patch_size": 2,
        "merge_size": 2,
    },
    "glm_ocr": {**_CLIP, "size": {"shortest_edge": 12544, "longest_edge": 9633792}},
}
_SIZES = [
    (1, 1), (16, 9), (27, 3), (40, 1600), (64, 64), (100, 3000), (333, 777), (448, 448), (512, 512), (640, 480),
    (700, 1001), (1024, 768), (1200, 1201), (1920, 1080), (2048, 31), (3000, 2000), (4032, 3024), (9000, 7000),
]  # fmt: skip


def marks_of(kind: str) -> tuple[str, str, str, str]:
    """Return the marks before an image, for it, and after it, and the one for a film."""
    return _GLM_MARKS if kind == "glm_ocr" else _QWEN_MARKS


def build(kind: str, text: Mapping[str, Any], vision: Mapping[str, Any]) -> nn.Module:
    """Return a reproducible random model in which every weight affects the logits."""
    start, slot, end, film = (tokenizer(kind).convert_tokens_to_ids(mark) for mark in marks_of(kind))
    config = transformers.CONFIG_MAPPING[kind](
        text_config=dict(text),
        vision_config=dict(vision),
        image_token_id=slot,
        video_token_id=film,
        tie_word_embeddings=False,
        **({} if kind == "glm_ocr" else {"vision_start_token_id": start, "vision_end_token_id": end}),
    )
    torch.manual_seed(SEED)
    model = transformers.AutoModelForImageTextToText.from_config(config, attn_implementation="eager").float().eval()
    generator = torch.Generator().manual_seed(SEED)
    with torch.no_grad():
        for name, weight in sorted(model.named_parameters()):
            noise = torch.randn(weight.shape, generator=generator)
            if name.endswith(("A_log", "dt_bias")) or weight.ndim == 1:
                weight += 0.2 * noise
            else:
                scale = 1.0 if "embed_tokens" in name or "pos_embed" in name else 3.0 if "lm_head" in name else 1.3
                width = 1.0 if "embed_tokens" in name or "pos_embed" in name else weight[0].numel() ** 0.5
                weight.copy_(noise * scale / width)
    return model


def tokenizer(kind: str) -> transformers.PreTrainedTokenizerFast:
    """Return a tokenizer of single letters."""
    specials = ["<|endoftext|>", *marks_of(kind)]
    vocabulary = {token: number for number, token in enumerate([*specials, *" abcdefghijklmnopqrstuvwxyz"])}
    letters = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="<|endoftext|>"))
    letters.pre_tokenizer = tokenizers.pre_tokenizers.Split(tokenizers.Regex("."), "isolated")
    letters.add_special_tokens(specials)
    return transformers.PreTrainedTokenizerFast(tokenizer_object=letters)


def processor(kind: str) -> Any:
    """Return what prepares images and prompts."""
    made = Glm46VImageProcessorPil if kind == "glm_ocr" else Qwen2VLImageProcessorPil
    # The pixels of GLM count once for each of two frames.
    size = {key: value * 2 for key, value in _PIXELS.items()} if kind == "glm_ocr" else _PIXELS
    half = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3} if kind.startswith("qwen3") else {}
    return made(patch_size=4, size=dict(size), **half)


def picture(width: int, height: int, number: int) -> Image.Image:
    """Return an image with edges, slopes and noise."""
    generator = np.random.default_rng(SEED + number)
    across, down = np.meshgrid(np.arange(width), np.arange(height))
    slopes = np.stack([across * 5, down * 6, (across + down) * 3], axis=-1) % 256
    noise = generator.integers(0, 60, (height, width, 3))
    return Image.fromarray(((slopes + noise) % 256).astype(np.uint8))


def tile_of(patches: Tensor, grid: Tensor, images: Any) -> Tensor:
    """Return the resized pixels [H, W, 3] as bytes, from the patches of a processor."""
    _, rows, columns = grid.tolist()
    side, merge = images.patch_size, images.merge_size
    parts = patches.reshape(rows // merge, columns // merge, merge, merge, 3, -1, side, side)[..., 0, :, :]
    tile = parts.permute(0, 2, 5, 1, 3, 6, 4).reshape(rows * side, columns * side, 3)
    scaled = (tile * torch.tensor(images.image_std) + torch.tensor(images.image_mean)) * 255
    assert (scaled - scaled.round()).abs().max() < 1e-2
    return scaled.round().to(torch.uint8)


@torch.no_grad()
def expected(kind: str, model: nn.Module, images: Any) -> Iterator[tuple[str, Tensor]]:
    """Yield the names and tensors of `expected.safetensors`."""
    letters = tokenizer(kind)
    start, slot, end, _ = marks_of(kind)
    for number, (text, sizes) in enumerate(PROMPTS):
        pictures = [picture(*size, 10 * number + index) for index, size in enumerate(sizes)]
        prepared = images(pictures, return_tensors="pt")
        grids, pixels = prepared["image_grid_thw"], prepared["pixel_values"]
        written = iter(int(grid.prod()) // images.merge_size**2 for grid in grids)
        parts = text.split("<image>")
        prompt = parts[0] + "".join(start + slot * next(written) + end + part for part in parts[1:])
        ids = torch.tensor(letters(prompt, add_special_tokens=False)["input_ids"])
        inputs = {"pixel_values": pixels, "image_grid_thw": grids}
        types = (ids == letters.convert_tokens_to_ids(slot)).int()
        yield f"{number}.ids", ids.to(torch.int32)
        out = model(input_ids=ids[None], mm_token_type_ids=types[None], use_cache=False, **inputs)
        yield f"{number}.logits", out.logits[0].float().contiguous()
        patches = pixels.split([int(grid.prod()) for grid in grids])
        for index, (shown, own, grid) in enumerate(zip(pictures, patches, grids, strict=True)):
            yield f"{number}.{index}.image", torch.from_numpy(np.array(shown))
            yield f"{number}.{index}.tile", tile_of(own, grid, images).contiguous()
            seen = model.model.visual(own, grid_thw=grid[None])
            yield f"{number}.{index}.rows", seen.pooler_output.float().contiguous()
            for layer, added in enumerate(getattr(seen, "deepstack_features", None) or []):
                yield f"{number}.{index}.deep.{layer}", added.float().contiguous()


def make(name: str) -> None:
    """Write one case, a random model with its expected logits."""
    kind, text, vision = CASES[name]
    model, images = build(kind, text, vision), processor(kind)
    folder = TARGET / name
    shutil.rmtree(folder, ignore_errors=True)
    model.save_pretrained(folder)
    images.save_pretrained(folder)
    tokenizer(kind).save_pretrained(folder)
    for unread in ("generation_config.json", "tokenizer_config.json"):
        (folder / unread).unlink(missing_ok=True)
    tensors = dict(expected(kind, model, images))
    save_file(tensors, folder / "expected.safetensors", metadata={"transformers": transformers.__version__})
    prompts = [{"text": text, "images": len(sizes)} for text, sizes in PROMPTS]
    (folder / "prompts.json").write_text(json.dumps(prompts, indent=2) + "\n", encoding="utf-8")
    print(f"{name}: {sum(weight.numel() for weight in model.parameters()):,} weights", end=", ")
    print(f"logits to {max(tensors[f'{number}.logits'].abs().max() for number in range(len(PROMPTS))):.1f}")


def make_layouts() -> None:
    """Write the rows and columns of features for images of many sizes."""
    cases = []
    for kind, settings in LAYOUTS.items():
        images = (Glm46VImageProcessorPil if kind == "glm_ocr" else Qwen2VLImageProcessorPil)(**settings)
        grids = []
        for width, height in _SIZES:
            resized = images.resize(
                np.zeros((3, height, width), np.uint8),
                images.size,
                resample=0,
                factor=images.patch_size * images.merge_size,
                **({"temporal_factor": 2} if kind == "glm_ocr" else {}),
            )
            unit = images.patch_size * images.merge_size
            grids.append([resized.shape[1] // unit, resized.shape[2] // unit])
        cases.append({"model_type": kind, "preprocessor": settings, "sizes": _SIZES, "grids": grids})
    path = TARGET / "patch_merger_layouts.json"
    path.write_text(json.dumps(cases) + "\n", encoding="utf-8")


def main() -> None:
    """Write the cases named on the command line, or all."""
    torch.set_num_threads(1)
    for name in sys.argv[1:] or CASES:
        make(name)
    make_layouts()


if __name__ == "__main__":
    main()
