"""The time to first token of questions about an image: the first one, and those after it."""

import io
import json
import random
import time
from collections.abc import Iterator
from pathlib import Path

import mlx.core as mx
from bench_models import BenchmarkModel, Models
from hosting import GREEDY, Host, unseen
from mlx.utils import tree_flatten, tree_map_with_path
from PIL import Image
from rows import Row, at_least, at_most

from sotto.engine.architectures.towers.tower_choice import make_tower
from sotto.engine.contract.events import PrefillProgress, TextChunk
from sotto.engine.contract.message_content import ImagePart, TextPart
from sotto.engine.contract.requests import GenerateRequest, Message

_SIDE = 336
# CLIP ViT-L/14, the tower of LLaVA 1.5.
_TOWER = {
    "model_type": "clip_vision_model",
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "image_size": _SIDE,
    "patch_size": 14,
    "hidden_act": "quick_gelu",
    "projection_dim": 768,
}
_WARM_GOAL, _STEP_SECONDS = 20, 0.35


def image_rows(models: Models, *, quick: bool) -> Iterator[Row]:
    """Compare the first question about an image with a second one."""
    text = models.get("smollm2-135m" if quick else "llama-3.2-1b", "4bit")
    folder = _seeing(text, models.folder / f"{text.name}-seeing")
    with Host(folder) as host:
        host.prefill(600)
        first = Message("user", (ImagePart(_noise()), TextPart(unseen(16))))
        cold, longest = _ask(host, [first])
        second = [first, Message("assistant", unseen(8)), Message("user", unseen(16))]
        warm, _ = _ask(host, second)
        # The same image at another place, after another text, where its features alone are known.
        other, _ = _ask(host, [Message("user", (TextPart(unseen(16)), *first.parts))])
    detail = f"{cold * 1e3:.0f} ms vs. {warm * 1e3:.0f} ms"
    name = f"{text.name} with CLIP ViT-L/14"
    yield at_least(
        f"{name}: first token of the first question about an image / of the second", cold / warm, _WARM_GOAL, detail
    )
    yield at_least(
        f"{name}: first token of the first question about an image / with the image in another conversation",
        cold / other,
        None,
        f"{cold * 1e3:.0f} ms vs. {other * 1e3:.0f} ms",
    )
    yield at_most(f"{name}: longest step while an image is looked at", longest, _STEP_SECONDS, unit="s")


def _ask(host: Host, messages: list[Message]) -> tuple[float, float]:
    """Return the seconds until the first token of an answer, and those of the longest step that fed no token."""
    began = time.perf_counter()
    request = GenerateRequest(id="i", messages=tuple(messages), sampling=GREEDY, num_predict=1, ignore_eos=True)
    host.engine.start(host.engine.prepare(request))
    taken = longest = 0.0
    fed = -1
    for started, ended, events in host.steps():
        done = max((event.done for event in events if isinstance(event, PrefillProgress)), default=fed + 1)
        longest, fed = max(longest, ended - started if done == fed else 0.0), done
        if any(isinstance(event, TextChunk) and event.token_ids for event in events):
            taken = taken or ended - began
    return taken, longest


def _noise() -> bytes:
    """Return an image that was never seen before, as PNG."""
    written = io.BytesIO()
    Image.frombytes("RGB", (_SIDE, _SIDE), random.randbytes(3 * _SIDE * _SIDE)).save(written, "PNG")
    return written.getvalue()


def _seeing(text: BenchmarkModel, folder: Path) -> Path:
    """Return a folder with the model `text` behind a tower with random weights."""
    if folder.exists():
        return folder
    folder.mkdir()
    plain = json.loads((text.folder / "config.json").read_text(encoding="utf-8"))
    config = {
        "model_type": "llava",
        "architectures": ["LlavaForConditionalGeneration"],
        "image_token_index": plain["vocab_size"] - 1,
        "vision_feature_layer": -2,
        "vision_feature_select_strategy": "default",
        "projector_hidden_act": "gelu",
        "text_config": {name: value for name, value in plain.items() if not name.startswith("quantization")},
        "vision_config": _TOWER,
        "quantization": plain["quantization"],
    }
    weights = {
        f"language_model.{name}": array for name, array in mx.load(str(text.folder / "model.safetensors")).items()
    }
    tower = make_tower(config)
    tower.update(tree_map_with_path(lambda _, weight: 0.02 * mx.random.normal(weight.shape), tower.parameters()))
    weights |= {name: array.astype(mx.bfloat16) for name, array in tree_flatten(tower.parameters())}
    mx.save_safetensors(str(folder / "model.safetensors"), weights, metadata={"format": "mlx"})
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).write_bytes((text.folder / name).read_bytes())
    return folder
