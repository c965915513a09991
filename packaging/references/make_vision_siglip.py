"""Creates tiny random models that see, and their logits by transformers: `python make_vision_siglip.py [NAME ...]`.

Each model is written to tests/engine/vision/references/NAME as transformers saves it, with the configs of its processor
and `tokenizer.json`. Beside it are, for the pictures that `picture` draws:

- `expected.json`: the prompts with marks for images, the sizes of their images, and how the processor writes them out;
- `expected.safetensors`: for prompt N `N.ids` `[T]`, `N.logits` `[T, V]` in one forward pass, `N.features` `[rows, D]`,
  and the pixels of its images, resized and as bytes, `N.pixels`;
- `layouts.json`: rows of features for images of many sizes, by the processor with the settings of the original models.

Needs the extra `reference`. The same versions produce the same files.
"""

import json
import math
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from PIL import Image
from safetensors.torch import save_file
from tokenizers import Regex, Tokenizer, models, pre_tokenizers
from torch import Tensor, nn
from transformers.models.gemma3.image_processing_pil_gemma3 import Gemma3ImageProcessorPil
from transformers.models.gemma4.image_processing_pil_gemma4 import Gemma4ImageProcessorPil
from transformers.models.gemma4_unified.image_processing_gemma4_unified import patches_merge
from transformers.models.lfm2_vl.image_processing_lfm2_vl import Lfm2VlImageProcessor

TARGET = Path(__file__).resolve().parents[2] / "tests" / "engine" / "vision" / "references"
SEED = 20261124
_LETTERS = "abcdefghijklmnopqrstuvwxyz \n"
_TEXT: dict[str, Any] = {
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 4,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 8,
    "max_position_embeddings": 512,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}
_VISION: dict[str, Any] = {
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "patch_size": 4,
}
_GEMMA4_VISION = _VISION | {"num_key_value_heads": 2, "head_dim": 12, "position_embedding_size": 140}
_GEMMA4_TOKENS = {"boi_token": "<|image>", "image_token": "<|image|>", "eoi_token": "<image|>"}
_SIZES = [
    (1, 1), (16, 9), (40, 1600), (64, 64), (100, 3000), (333, 777), (512, 512), (640, 480), (700, 1001), (896, 896),
    (1024, 768), (1200, 1201), (1920, 1080), (2048, 31), (3000, 2000), (4032, 3024),
]  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A model to create.

    Attributes:
        kind: Its model type.
        config: The options of its config.
        processor: Creates the processor of its images, with or without the settings for so small a model.
        settings: Those settings.
        tokens: Its special tokens by their names in transformers.
        mark: What stands for an image in a prompt.
        prompts: Each with the sizes of its images.
    """

    kind: str
    config: dict[str, Any]
    processor: Callable[..., Any]
    settings: dict[str, Any]
    tokens: dict[str, str]
    mark: str
    prompts: tuple[tuple[str, tuple[tuple[int, int], ...]], ...]


_GEMMA4_PROMPTS = (
    ("look @ what is it", ((150, 101),)),
    ("@ and then\n@ which is larger", ((31, 900), (64, 64))),
)
CASES: Mapping[str, Case] = {
    "gemma3": Case(
        "gemma3",
        {
            "text_config": _TEXT | {"sliding_window": 8, "sliding_window_pattern": 3},
            "vision_config": _VISION | {"image_size": 32, "num_hidden_layers": 3},
            "mm_tokens_per_image": 16,
        },
        Gemma3ImageProcessorPil,
        {"size": {"height": 32, "width": 32}},
        {"boi_token": "<start_of_image>", "image_token": "<image_soft_token>", "eoi_token": "<end_of_image>"},
        "<start_of_image>",
        (("look @ what is it", ((61, 47),)), ("@ and then @ which is larger", ((9, 200), (33, 32)))),
    ),
    # As E2B and E4B: inputs of each layer, layers that share keys and values, limits, and images that look back alone.
    "gemma4": Case(
        "gemma4",
        {
            "text_config": _TEXT
            | {
                "num_hidden_layers": 6,
                "layer_types": ["sliding_attention", "full_attention"] * 3,
                "global_head_dim": 16,
                "sliding_window": 16,
                "hidden_size_per_layer_input": 8,
                "num_kv_shared_layers": 2,
                "use_double_wide_mlp": True,
                "final_logit_softcapping": 30.0,
            },
            "vision_config": _GEMMA4_VISION | {"use_clipped_linears": True},
            "audio_config": None,
        },
        Gemma4ImageProcessorPil,
        {"patch_size": 4, "max_soft_tokens": 70},
        _GEMMA4_TOKENS,
        "<|image|>",
        _GEMMA4_PROMPTS,
    ),
    # As 31B: images that see themselves both ways in sliding layers.
    "gemma4-both-ways": Case(
        "gemma4",
        {
            "text_config": _TEXT
            | {
                "layer_types": ["sliding_attention", "sliding_attention", "full_attention", "full_attention"],
                "global_head_dim": 16,
                "num_global_key_value_heads": 1,
                "attention_k_eq_v": True,
                "sliding_window": 32,
                "hidden_size_per_layer_input": 0,
                "use_bidirectional_attention": "vision",
            },
            "vision_config": _GEMMA4_VISION | {"standardize": True, "num_key_value_heads": 1},
            "audio_config": None,
        },
        Gemma4ImageProcessorPil,
        {"patch_size": 4, "max_soft_tokens": 70},
        _GEMMA4_TOKENS,
        "<|image|>",
        _GEMMA4_PROMPTS,
    ),
    "gemma4-unified": Case(
        "gemma4_unified",
        {
            "text_config": _TEXT
            | {
                "layer_types": ["sliding_attention", "sliding_attention", "full_attention", "full_attention"],
                "global_head_dim": 16,
                "sliding_window": 32,
            },
            "vision_config": {"patch_size": 4, "mm_embed_dim": 16, "output_proj_dims": 16, "mm_posemb_size": 50},
            "audio_config": None,
        },
        Gemma4ImageProcessorPil,
        {"patch_size": 4, "max_soft_tokens": 70},
        _GEMMA4_TOKENS,
        "<|image|>",
        _GEMMA4_PROMPTS,
    ),
    "lfm2-vl": Case(
        "lfm2_vl",
        {
            "text_config": {key: value for key, value in _TEXT.items() if key != "head_dim"}
            | {"layer_types": ["conv", "full_attention", "conv", "full_attention"], "block_auto_adjust_ff_dim": False},
            "vision_config": _VISION | {"num_patches": 36},
            "projector_hidden_size": 24,
        },
        Lfm2VlImageProcessor,
        {"encoder_patch_size": 4, "tile_size": 32, "min_image_tokens": 4, "max_image_tokens": 16, "max_tiles": 4},
        {"image_token": "<image>", "image_start_token": "<|image_start|>", "image_end_token": "<|image_end|>"}
        | {"image_thumbnail_token": "<|img_thumbnail|>"}
        | {f"row_{row}_{column}": f"<|img_row_{row}_col_{column}|>" for row in (1, 2, 3, 4) for column in (1, 2, 3, 4)},
        "<image>",
        (("look @ what is it", ((41, 23),)), ("@ and then @ which is larger", ((150, 61), (9, 11)))),
    ),
}


def picture(width: int, height: int) -> Image.Image:
    """Return a picture with smooth and rough parts, which tests/engine/vision/pictures.py draws as well."""
    pixels = bytes(
        (x * 5 + y * 3 + x * y // 7 * (channel + 1) + (x ^ y) % 32 * 6) % 256
        for y in range(height)
        for x in range(width)
        for channel in range(3)
    )
    return Image.frombytes("RGB", (width, height), pixels)


def make(name: str) -> None:
    """Write one case."""
    case = CASES[name]
    folder = TARGET / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    tokenizer = make_tokenizer(case)
    images = case.processor(**case.settings)
    model = make_model(case, tokenizer)
    model.save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    images.save_pretrained(folder)
    tokenizer.backend_tokenizer.save(str(folder / "tokenizer.json"))
    tensors: dict[str, Tensor] = {}
    texts = []
    for number, (prompt, sizes) in enumerate(case.prompts):
        text, found = expected(case, model, tokenizer, images, prompt.replace("@", case.mark), sizes)
        texts.append({"prompt": prompt.replace("@", case.mark), "sizes": sizes, "text": text})
        tensors |= {f"{number}.{key}": tensor.contiguous() for key, tensor in found.items()}
    save_file(tensors, folder / "expected.safetensors", metadata={"transformers": transformers.__version__})
    (folder / "expected.json").write_text(json.dumps(texts, indent=1) + "\n", encoding="utf-8")
    (folder / "layouts.json").write_text(json.dumps(list(layouts(case))) + "\n", encoding="utf-8")
    largest = max(tensor.abs().max() for key, tensor in tensors.items() if key.endswith("logits"))
    size = sum(path.stat().st_size for path in folder.iterdir())
    print(f"{name}: {size:,} bytes, logits to {largest:.1f}")


def make_tokenizer(case: Case) -> Any:
    """Return a tokenizer with a token for each letter and for each special token."""
    words = ["<pad>", "<bos>", "<eos>", *_LETTERS, *case.tokens.values()]
    inner = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="<pad>"))
    inner.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner,
        pad_token="<pad>",
        bos_token="<bos>",
        eos_token="<eos>",
        extra_special_tokens={name: token for name, token in case.tokens.items() if not name.startswith("row")},
        additional_special_tokens=[token for name, token in case.tokens.items() if name.startswith("row")],
    )


def make_model(case: Case, tokenizer: Any) -> Any:
    """Return a random model whose numbers are large enough for differences to show."""
    torch.manual_seed(SEED)
    options = dict(case.config)
    key = "image_token_index" if case.kind == "gemma3" else "image_token_id"
    options[key] = tokenizer.image_token_id
    options["text_config"] = options["text_config"] | {"vocab_size": len(tokenizer)}
    if "hidden_size_per_layer_input" in options["text_config"]:
        options["text_config"]["vocab_size_per_layer_input"] = len(tokenizer)
    config = transformers.AutoConfig.for_model(case.kind, **options)
    model = transformers.AutoModelForImageTextToText.from_config(config, attn_implementation="eager").eval().float()
    with torch.no_grad():
        for name, parameter in (*model.named_parameters(), *model.named_buffers()):
            fill(name, parameter)
    return model


def fill(name: str, tensor: Tensor) -> None:
    """Give a parameter random values."""
    last = name.rpartition(".")[2]
    if last in ("input_max", "output_max"):
        tensor.fill_(1.0)
    elif last in ("input_min", "output_min"):
        tensor.fill_(-1.2)
    elif last in ("layer_scalar", "std_scale"):
        tensor.uniform_(0.5, 1.5)
    elif "inv_freq" in last or last in ("embed_scale", "position_ids", "softcap"):
        return
    elif tensor.ndim < 2:
        tensor.add_(torch.randn_like(tensor) * 0.2)
    else:
        nn.init.normal_(tensor, std=1.2 / math.sqrt(tensor[0].numel()) if "embed" not in name else 0.5)


def expected(
    case: Case, model: Any, tokenizer: Any, images: Any, prompt: str, sizes: tuple[tuple[int, int], ...]
) -> tuple[str, dict[str, Tensor]]:
    """Return a prompt as its processor writes it out, and what the model makes of it."""
    inputs = images([[picture(*size) for size in sizes]], return_tensors="pt", **extra(case))
    if case.kind == "gemma4_unified":
        merge(inputs)
    text = prompt
    parts = text.split(case.mark)
    text = parts[0] + "".join(
        written(case, tokenizer, images, inputs, number) + part for number, part in enumerate(parts[1:])
    )
    ids = torch.tensor(tokenizer(text, add_special_tokens=False)["input_ids"])[None]
    pixels = inputs["pixel_values"]
    keys = ("pixel_values", "image_position_ids", "pixel_attention_mask", "spatial_shapes")
    seen = {key: inputs[key] for key in keys if key in inputs}
    kinds = (ids == tokenizer.image_token_id).long()
    named = {"gemma3": {"token_type_ids": kinds}, "lfm2_vl": {}}.get(case.kind, {"mm_token_type_ids": kinds})
    mask = torch.ones_like(ids)
    if case.kind == "gemma4_unified":
        # `generate` has images see themselves both ways in sliding layers alone, as in Gemma 4; a call without masks
        # would in all layers.
        embedded = model.get_input_embeddings()(ids)
        mask = model.create_masks_for_generate(model.config, embedded, mask, None, None, kinds)
    with torch.no_grad():
        logits = model(input_ids=ids, attention_mask=mask, **seen, **named).logits[0]
        features = model.get_image_features(**seen).pooler_output
    rows = features if isinstance(features, Tensor) else torch.cat(list(features))
    found = {"ids": ids[0].int(), "logits": logits, "features": rows.reshape(-1, rows.shape[-1])}
    return text, found | {"pixels": as_bytes(case, inputs, pixels)}


def merge(inputs: Any) -> None:
    """Join neighbouring patches, which the processor of unified models does after resizing with torchvision."""
    merged = []
    for patches, places in zip(inputs["pixel_values"], inputs["image_position_ids"], strict=True):
        real = (places != -1).all(dim=-1)
        merged.append(patches_merge(patches[real][None], places[real][None], int(real.sum()) // 9))
    longest = max(patches.shape[1] for patches, _ in merged)
    inputs["pixel_values"] = torch.cat([nn.functional.pad(one, (0, 0, 0, longest - one.shape[1])) for one, _ in merged])
    inputs["image_position_ids"] = torch.cat(
        [nn.functional.pad(places, (0, 0, 0, longest - places.shape[1]), value=-1) for _, places in merged]
    )


def extra(case: Case) -> dict[str, Any]:
    """Return what the processor of a family passes to that of its images."""
    return {"return_row_col_info": True} if case.kind == "lfm2_vl" else {}


def written(case: Case, tokenizer: Any, images: Any, inputs: Any, number: int) -> str:
    """Return how an image stands in a prompt, by the processor's own method."""
    kind = {
        "gemma3": transformers.Gemma3Processor,
        "gemma4": transformers.Gemma4Processor,
        "gemma4_unified": transformers.Gemma4UnifiedProcessor,
        "lfm2_vl": transformers.Lfm2VlProcessor,
    }[case.kind]
    # Without its other parts, such as those for sound and video.
    processor = kind.__new__(kind)
    processor.image_processor, processor.tokenizer = images, tokenizer
    for key, token in case.tokens.items():
        setattr(processor, key, token)
    if case.kind == "gemma3":
        count = images.size["height"] ** 2 // 256 if "height" not in case.settings.get("size", {}) else 16
        start, slot, end = case.tokens.values()
        processor.full_image_sequence = f"\n\n{start}{slot * count}{end}\n\n"
    options = {"use_image_special_tokens": True} if case.kind == "lfm2_vl" else {}
    return str(processor.replace_image_token(inputs, number, **options))


def as_bytes(case: Case, inputs: Any, pixels: Tensor) -> Tensor:
    """Return pixels as bytes, without padding, in the order of the processor's tensors."""
    scaled = pixels if case.kind.startswith("gemma4") else (pixels + 1) / 2
    if (shapes := inputs.get("spatial_shapes")) is not None:
        scaled = torch.cat([rows[: height * width] for rows, (height, width) in zip(scaled, shapes, strict=True)])
    elif (places := inputs.get("image_position_ids")) is not None:
        scaled = scaled[(places != -1).all(dim=-1)]
    else:
        scaled = scaled.permute(0, 2, 3, 1)
    whole = (scaled * 255).round()
    assert (whole - scaled * 255).abs().max() < 1e-3
    return whole.flatten().to(torch.uint8)


def layouts(case: Case) -> Iterator[list[int]]:
    """Yield width, height, and the rows of features of images, with the settings of the original models."""
    images = case.processor()
    if case.kind == "gemma3":
        return
    tokenizer = make_tokenizer(case)
    for width, height in _SIZES:
        drawn = Image.new("RGB", (width, height))
        inputs = images([[drawn]], return_tensors="pt", **extra(case))
        text = written(case, tokenizer, images, inputs, 0)
        yield [width, height, text.count(tokenizer.image_token)]


def main() -> None:
    """Write the cases named on the command line, or all."""
    torch.set_num_threads(1)
    for name in sys.argv[1:] or CASES:
        make(name)


if __name__ == "__main__":
    main()
