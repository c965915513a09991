"""The small layers of an imported model: its JSON files, and the config blob with what Ollama derives from them."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sotto.errors import BrokenModelError
from sotto.store.bounded_json import read_object
from sotto.store.files import open_regular, read_all
from sotto.store.importing.import_plan import PlannedBlob, Segment, compact
from sotto.store.printable import format_size, printable_path
from sotto.store.sentence import MODULES, sentence_modules
from sotto.store.sources.plain_folders import INDEX, TEMPLATE, ModelFolder

# The oldest version of Ollama that reads such models.
REQUIRED_OLLAMA = "0.19.0"
_JSON_TEMPLATE = "chat_template.json"
# As much as a tokenizer may have.
_JSON_LIMIT = 64 << 20
_TEMPLATE_LIMIT = 4 << 20
# By a part of a model's architecture or type, without regard to case: its parser and its renderer in Ollama.
_FORMATS: tuple[tuple[str, str, str], ...] = (
    ("museglimmer", "glimmer", "glimmer"),
    ("muse_glimmer", "glimmer", "glimmer"),
    ("laguna", "laguna", "laguna"),
    ("cohere2moe", "cohere", "cohere"),
    ("cohere2_moe", "cohere", "cohere"),
    ("gemma4", "gemma4", "gemma4"),
    ("glm4", "glm-4.7", "glm-4.7"),
    ("glm-4", "glm-4.7", "glm-4.7"),
    ("deepseek", "deepseek3", "deepseek3"),
    ("qwen3_5", "qwen3.5", "qwen3.5"),
    ("qwen3next", "qwen3.5", "qwen3.5"),
    ("qwen3", "qwen3", "qwen3-coder"),
    ("nemotronh", "nemotron-3-nano", "nemotron-3-nano"),
    ("nemotron_h", "nemotron-3-nano", "nemotron-3-nano"),
)
# Formats that depend on the template: a text in it, what the parser is without it, and with it parser and renderer.
_BY_TEMPLATE: tuple[tuple[str, tuple[str, ...], str, str], ...] = (
    ("laguna", ("laguna_glm_thinking_v8",), "poolside-v1", "poolside-v1"),
    ("qwen3.5", ("resolved_reasoning_effort", "preserve_thinking"), "qwen3.5", "qwen3.8"),
    ("nemotron-3-nano", ("{reasoning effort: efficient}",), "nemotron-3.5-nano", "nemotron-3.5-nano"),
)
_THINKS = re.compile(r"<think>.*</think>", re.DOTALL)


def json_blobs(folder: ModelFolder) -> list[PlannedBlob]:
    """Return the layers of a folder's JSON files in order, with its chat template among them.

    Raises:
        BrokenModelError: A file leads out of the folder, is too large, or is no text.
    """
    names = {name for name in folder.names if name.endswith(".json") and name != INDEX}
    blobs = {name: PlannedBlob("json", name, (_whole(folder.file(name)),)) for name in names}
    if TEMPLATE in folder.names:
        # Ollama has no layer for it, and readers prefer it to the one in tokenizer_config.json.
        content = compact({"chat_template": _templates(folder)})
        blobs[_JSON_TEMPLATE] = PlannedBlob("json", _JSON_TEMPLATE, (content,))
    for name, path in _module_files(folder).items():
        blobs[name] = PlannedBlob("json", name, (_whole(path),))
    return [blobs[name] for name in sorted(blobs)]


def chat_template(folder: ModelFolder) -> str:
    """Return the chat template that Ollama looks at; empty if there is none.

    Raises:
        BrokenModelError: A file that may have it is damaged.
    """
    if "tokenizer_config.json" in folder.names:
        stated = read_object(folder.file("tokenizer_config.json")).get("chat_template")
        if isinstance(stated, str) and stated:
            return stated
    return _template(folder.file(TEMPLATE)) if TEMPLATE in folder.names else ""


def config_blob(config: Mapping[str, Any], template: str, file_type: str, *, embeds: bool) -> dict[str, Any]:
    """Return the config blob of a model.

    Args:
        config: The contents of `config.json`.
        template: The chat template that Ollama looks at; empty if there is none.
        file_type: The type that most weights are quantized to; empty if they are not.
        embeds: Whether the model is an encoder.
    """
    parser, renderer = _formats(config, template)
    return {
        "model_format": "safetensors",
        "model_family": "",
        "model_families": None,
        "model_type": "",
        "file_type": file_type,
        **({"renderer": renderer} if renderer else {}),
        **({"parser": parser} if parser else {}),
        "requires": REQUIRED_OLLAMA,
        "capabilities": _capabilities(config, template, parser, embeds=embeds),
        "architecture": "",
        "os": "",
    }


def _capabilities(config: Mapping[str, Any], template: str, parser: str, *, embeds: bool) -> list[str]:
    thinks = bool(_THINKS.search(template))
    splits = "split('</think>')" in template or 'split("</think>")' in template
    splits = splits and "reasoning_content" not in template and "<SPECIAL_12>" in template
    found = {
        "embedding" if embeds else "completion": True,
        "vision": "vision_config" in config or bool(config.get("has_vision")),
        "audio": "audio_config" in config or "sound_config" in config,
        "tools": bool(parser),
        "thinking": bool(parser) and (thinks or splits or parser == "qwen3.5"),
    }
    return [name for name, has in found.items() if has]


def _formats(config: Mapping[str, Any], template: str) -> tuple[str, str]:
    """Return the names of Ollama's parser and renderer for a model; empty if it has none."""
    inner = config.get("llm_config")
    kinds = config.get("architectures")
    texts = [
        *(kinds if isinstance(kinds, list) else ()),
        config.get("model_type"),
        inner.get("model_type") if isinstance(inner, Mapping) else None,
    ]
    for text in texts:
        for part, parser, renderer in _FORMATS:
            if isinstance(text, str) and part in text.lower():
                for name, signs, other_parser, other_renderer in _BY_TEMPLATE:
                    if name == parser and all(sign in template for sign in signs):
                        return other_parser, other_renderer
                return parser, renderer
    return "", ""


def _module_files(folder: ModelFolder) -> dict[str, Path]:
    """Return the files with the steps from a text to its embedding: those that reading the steps asks for."""
    files: dict[str, Path] = {}

    def find(name: str) -> Path | None:
        path = folder.find(name)
        if path is not None:
            files[name] = path
        return path

    if MODULES in folder.names:
        sentence_modules(folder.file(MODULES), find)
    return files


def _templates(folder: ModelFolder) -> str | list[dict[str, str]]:
    """Return the chat template, or all of them by name if there are more for particular uses."""
    usual = _template(folder.file(TEMPLATE))
    more = {Path(name).stem: _template(folder.file(name)) for name in folder.more_templates()}
    if not more:
        return usual
    return [{"name": name, "template": text} for name, text in {"default": usual, **more}.items()]


def _template(path: Path) -> str:
    try:
        return read_all(path, _TEMPLATE_LIMIT, "a template").decode()
    except UnicodeDecodeError as error:
        raise BrokenModelError(
            f"{printable_path(path)} is not UTF-8 at byte {error.start}; it should be text."
        ) from error


def _whole(path: Path) -> Segment:
    with open_regular(path) as (_, size):
        if size > _JSON_LIMIT:
            raise BrokenModelError(
                f"{printable_path(path)} is {format_size(size)}, which is too much for a JSON file; "
                f"{format_size(_JSON_LIMIT)} is the most."
            )
        return Segment(path, 0, size)
