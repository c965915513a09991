"""The JSON files beside a model's weights: those of tiny models of thirty families, changed by key."""

import json
import shutil
import string
from pathlib import Path
from random import Random
from typing import Any

from fuzzing import values
from fuzzing.models import STAGES, Models, names_model
from fuzzing.target import Mark, Target
from places import TESTS
from tiny_random import CONFIGS, write_model

_ENGINE = TESTS / "engine"
_ENCODERS = ("bert", "nomic-bert", "xlm-roberta")
_FILES = ("config.json", "tokenizer_config.json", "generation_config.json", "special_tokens_map.json")
# The keys that decide how a model is built and computed; most others have no effect.
_DECISIVE_KEYS = (
    "model_type", "hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "head_dim",
    "vocab_size", "intermediate_size", "rope_scaling", "rope_parameters", "rope_theta", "layer_types",
    "sliding_window", "quantization", "max_position_embeddings", "tie_word_embeddings", "text_config", "num_experts",
    "num_experts_per_tok", "rms_norm_eps",
)  # fmt: skip
_NEW = {
    "quantization": {"group_size": 64, "bits": 4, "mode": "affine"},
    "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64},
    "rope_parameters": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                        "original_max_position_embeddings": 64, "rope_theta": 10000.0},
    "layer_types": ["full_attention", "sliding_attention"],
    "sliding_window": 8,
    "text_config": {"model_type": "llama", "hidden_size": 64},
    "eos_token_id": [2, 3],
    "partial_rotary_factor": 0.5,
}  # fmt: skip


class Config(Target):
    """The JSON files of a folder, up to the first token of an answer."""

    stages = STAGES
    first_share, last_share = 90, 10

    def prepare(self, folder: Path) -> None:
        """Write the seeds, each a complete folder that loads."""
        self._models = Models()
        self._folders = [write_model(folder / kind, kind) for kind in CONFIGS]
        sources = [*sorted((_ENGINE / "references").iterdir()), *(_ENGINE / "embeddings" / name for name in _ENCODERS)]
        self._folders += [_completed(folder / source.name, source, self._folders[0]) for source in sources]
        self._seeds = {folder.name: _files(folder) for folder in self._folders}

    def make(self, random: Random) -> bytes:
        """Change one of the files, usually the config."""
        name = random.choice(sorted(self._seeds))
        files = dict(self._seeds[name])
        chosen = "config.json" if random.random() < 0.8 else random.choice(sorted(files))
        changed = values.mutated(files[chosen], random)
        if chosen == "config.json" and isinstance(changed, dict) and random.random() < 0.5:
            _change_decisive_key(changed, random)
        return values.text_of({"folder": name, "file": chosen, "content": changed})

    def run(self, data: bytes, mark: Mark) -> None:
        """Write the files, and load the model."""
        document = json.loads(data)
        self._folder = next(folder for folder in self._folders if folder.name == document["folder"])
        for name, content in {**self._seeds[document["folder"]], document["file"]: document["content"]}.items():
            (self._folder / name).write_bytes(values.text_of(content))
        self._models.process(self._folder, mark)

    def names(self, message: str) -> bool:
        """Return whether the message names the folder or a file in it."""
        return names_model(message, self._folder)


def _completed(folder: Path, source: Path, other: Path) -> Path:
    """Copy a model without a tokenizer, add the tokenizer of another one, and return the folder."""
    folder.mkdir()
    for name in ("config.json", "model.safetensors"):
        shutil.copy(source / name, folder / name)
    shutil.copy(other / "tokenizer_config.json", folder / "tokenizer_config.json")
    # These models have few tokens.
    tokenizer = json.loads((other / "tokenizer.json").read_text(encoding="utf-8"))
    kept = ["<s>", "</s>", "\u0120", "[", "]", *string.ascii_lowercase]
    tokenizer["model"]["vocab"] = {token: number for number, token in enumerate(kept)}
    for number, token in enumerate(tokenizer["added_tokens"]):
        token["id"] = number
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    return folder


def _files(folder: Path) -> dict[str, Any]:
    """Return the files of a folder that mutations change."""
    found = {
        name: json.loads((folder / name).read_text(encoding="utf-8")) for name in _FILES if (folder / name).exists()
    }
    return {"generation_config.json": {"eos_token_id": [1, 2]}, "special_tokens_map.json": {"pad_token": "<s>"}} | found


def _change_decisive_key(config: dict[str, Any], random: Random) -> None:
    """Change or add, in place, a key that decides how the model is computed."""
    present = [key for key in _DECISIVE_KEYS if key in config]
    if present and random.random() < 0.7:
        key = random.choice(present)
        config[key] = values.near(config[key], random)
    else:
        key = random.choice(sorted(_NEW))
        config[key] = values.mutated(_NEW[key], random) if random.random() < 0.6 else _NEW[key]


TARGET = Config()
