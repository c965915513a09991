"""What models see with: projectors, and the JSON files of towers and preprocessors, up to an answer about an image."""

import copy
import json
import shutil
import string
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any

from PIL import Image

from fuzzing import values
from fuzzing.gguf_form import Form, parsed, written
from fuzzing.models import STAGES, Models, names_model
from fuzzing.target import Mark, Target
from fuzzing.targets.gguf import damaged, mutate
from llava_projectors import write_llava
from places import TESTS
from sotto.engine.vision.preprocessor_files import preprocessor_of
from sotto.engine.vision.reader_choice import make_reader
from sotto.store.opening import open_model, record_of

_VISION = TESTS / "engine" / "vision"
_CONFIG, _PREPROCESSOR = "config.json", "preprocessor_config.json"
_CHECKPOINT = (_CONFIG, _PREPROCESSOR, "tokenizer.json", "model.safetensors")
_PROJECTORS = ("mmproj.gguf", "mmproj-model-f16.gguf")
_LLAVAS = ("llava", "llava-next", "granite-vision")
# Its language model alone is too small for what GGUF files of its family leave unsaid.
_TOO_SMALL = ("gemma3",)
_CONTROL = 3
# Notes on a loaded model do not name it.
_PARTS = ("image", "vision", "its config.json", "its preprocessor_config.json")
# Width and height.
_SIZES = ((24, 31), (40, 17), (57, 57), (1, 1), (300, 2), (3, 190))
# The keys of preprocessors, and of configs beside those of a tower, that decide how an image is read.
_KEYS = (
    "size", "crop_size", "max_pixels", "min_pixels", "patch_size", "merge_size", "spatial_merge_size", "image_size",
    "image_mean", "image_std", "image_grid_pinpoints", "max_image_size", "max_num_tiles", "min_tiles", "max_tiles",
    "do_resize", "do_image_splitting", "do_pan_and_scan", "resample", "vision_feature_layer", "image_seq_length",
    "vision_feature_select_strategy", "mm_tokens_per_image", "spatial_patch_size", "scale_factor", "max_soft_tokens",
    "image_token_id", "image_token_index", "rescale_factor", "downsample_factor", "pooling_kernel_size",
)  # fmt: skip


class Towers(Target):
    """Models that see, up to the first token of an answer about an image."""

    stages = (*STAGES[:-2], "sees", *STAGES[-2:])
    first_share, last_share = 90, 10

    def prepare(self, folder: Path) -> None:
        """Write the seeds, each a complete folder whose model sees."""
        self._models = Models()
        self._root = folder
        self._seeds: dict[str, dict[str, Any]] = {}
        for source in sorted((_VISION / "references").iterdir()):
            if (source / "model.safetensors").exists():
                (folder / source.name).mkdir()
                for name in _CHECKPOINT:
                    shutil.copy(source / name, folder / source.name)
                files = {name: json.loads((source / name).read_text("utf-8")) for name in (_CONFIG, _PREPROCESSOR)}
                self._seeds[source.name] = files
        for source in sorted((_VISION / "converted").iterdir()):
            if source.name not in _TOO_SMALL:
                target = folder / f"{source.name}-gguf"
                target.mkdir()
                for path in source.glob("*.gguf"):
                    shutil.copy(path, target)
                self._add_projector(target)
        for name in _LLAVAS:
            source, target = _VISION / "references" / name, folder / f"{name}-gguf"
            target.mkdir()
            config = json.loads((source / _CONFIG).read_text("utf-8"))
            self._add_projector(write_llava(target, config, source / "model.safetensors"))

    def _add_projector(self, folder: Path) -> None:
        """Add a folder with a GGUF model and its projector to the seeds."""
        _write_letters(folder)
        (path,) = (folder / name for name in _PROJECTORS if (folder / name).exists())
        self._seeds[folder.name] = {path.name: parsed(path.read_bytes())}

    def make(self, random: Random) -> bytes:
        """Change a projector, the part of a config that is about images, or the config of a preprocessor."""
        folder = random.choice(sorted(self._seeds))
        name = random.choice(sorted(self._seeds[folder]))
        seed = copy.deepcopy(self._seeds[folder][name])
        content = _projector(seed, random) if isinstance(seed, Form) else values.text_of(_config(seed, random))
        head = {"folder": folder, "file": name, "size": random.choice(_SIZES)}
        return values.text_of(head) + b"\n" + content

    def run(self, data: bytes, mark: Mark) -> None:
        """Write the file, load the model and show it an image."""
        head, _, content = data.partition(b"\n")
        document = json.loads(head)
        self._folder = self._root / document["folder"]
        for name, seed in self._seeds[document["folder"]].items():
            whole = written(seed) if isinstance(seed, Form) else values.text_of(seed)
            (self._folder / name).write_bytes(content if name == document["file"] else whole)
        self._models.process(self._folder, mark, _image(*document["size"]))

    def names(self, message: str) -> bool:
        """Return whether the message names the folder or a file in it, or what of the loaded model sees nothing."""
        return names_model(message, self._folder) or any(part in message.lower() for part in _PARTS)


def _config(seed: dict[str, Any], random: Random) -> dict[str, Any]:
    """Return a config with changes of what it says about images."""
    changed = seed
    part = changed.get("vision_config")
    if isinstance(part, dict) and random.random() < 0.6:
        changed["vision_config"] = values.mutated(part, random)
    else:
        changed = values.mutated(changed, random)
    if isinstance(changed, dict) and random.random() < 0.5:
        present = [key for key in _KEYS if key in changed]
        key = random.choice(present if present and random.random() < 0.7 else _KEYS)
        changed[key] = values.near(changed[key], random) if key in changed else values.anything(random)
    return changed


def _projector(form: Form, random: Random) -> bytes:
    """Return a projector with changed values, keys, tensors or numbers; sometimes with any changed bytes."""
    whole = random.random() < 0.92
    for _ in range(values.times(random) if whole else 0):
        mutate(form, random)
    if random.random() < 0.8:
        form.lay_out()
    content = written(form)
    return content if whole else damaged(content, random)


def _write_letters(folder: Path) -> None:
    """Give a GGUF model tokens for letters, and for what stands for an image."""
    source = open_model(record_of(folder))
    reader = make_reader(source.config, preprocessor_of(source.json_files))
    assert reader is not None
    path = folder / "model.gguf"
    form = parsed(path.read_bytes())
    for pair in form.pairs:
        if pair.key == "tokenizer.ggml.tokens":
            known = ["<s>", "</s>", reader.slot, "\u0120", *string.ascii_lowercase]
            pair.value[: len(known)] = known
        elif pair.key == "tokenizer.ggml.token_type":
            pair.value[:3] = [_CONTROL] * 3
        elif pair.key in ("tokenizer.ggml.bos_token_id", "tokenizer.ggml.eos_token_id"):
            pair.value -= 1
    path.write_bytes(written(form))


def _image(width: int, height: int) -> bytes:
    """Return an image as PNG."""
    stream = BytesIO()
    Image.linear_gradient("L").resize((width, height)).convert("RGB").save(stream, "PNG")
    return stream.getvalue()


TARGET = Towers()
