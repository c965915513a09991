"""Folders of one model as Hugging Face's tools, mlx-lm and LM Studio keep them: `config.json` and safetensors files.

Such a folder has no digest of its own. Its identity is the sha256 of what decides how the model behaves: the whole of
each small file, and of each large one its size, its header and some sampled blocks. That tells models apart, and finds
copies of one model; it does not prove that the weights are whole.
"""

import hashlib
import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from sotto.errors import BrokenModelError
from sotto.store.bounded_json import kind_of, read_object
from sotto.store.facts import commonest_dtype, config_facts, parameter_count
from sotto.store.files import is_folder, list_names, open_regular, read_exactly, resolve_inside
from sotto.store.gguf.gguf_config import refusal
from sotto.store.gguf.gguf_source import SPLIT
from sotto.store.gguf.header import read_gguf
from sotto.store.printable import printable, printable_path
from sotto.store.records import Format, Source, TensorFile
from sotto.store.safetensors_header import parse_header, read_raw_header
from sotto.store.sentence import MODULES, sentence_modules
from sotto.store.sources.harvest import Facts, Harvest, path_digest

INDEX = "model.safetensors.index.json"
TEMPLATE = "chat_template.jinja"
# Templates for particular uses, `tool_use.jinja` for example.
MORE_TEMPLATES = "additional_chat_templates"
# What the engine reads beside the weights; a change to any of them makes another model.
JSON_FILES = (
    "config.json",
    "generation_config.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "chat_template.json",
    "preprocessor_config.json",
    "processor_config.json",
)

_IDENTITY = (*JSON_FILES, "tokenizer.json", TEMPLATE)
_MOST_FILES = 20_000
_MOST_TEMPLATES = 16
_WHOLE = 1 << 16
_SAMPLE = 1 << 12
_SPLIT = re.compile(r"(.+)-([0-9]{5})-of-([0-9]{5})\.gguf", re.IGNORECASE)
_SHARD = re.compile(r".+-[0-9]{5}-of-([0-9]{5})\.safetensors")
# A projector turns images or sound into tokens for the model beside it.
_PROJECTOR = "mmproj"


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """The files of one folder that may be a model's.

    Attributes:
        path: The folder.
        base: The real folder that its files must lie in, all links followed.
        names: What lies in it; hidden files left out.
    """

    path: Path
    base: str
    names: frozenset[str]

    @property
    def is_model(self) -> bool:
        """Whether there is a configuration and weights, or an index of weights that should be there."""
        return "config.json" in self.names and (INDEX in self.names or bool(self._weights()))

    @property
    def ggufs(self) -> dict[str, list[Path]]:
        """GGUF models by the stem of their name, each with all its parts."""
        found = defaultdict(list)
        for name in sorted(self.names):
            if name.lower().endswith(".gguf") and not name.lower().startswith(_PROJECTOR):
                match = _SPLIT.fullmatch(name)
                found[match[1] if match else name[: -len(".gguf")]].append(self.path / name)
        return dict(found)

    def weight_files(self) -> tuple[Path, ...]:
        """Return the files of weights, checked by their names only.

        With an index those that it names, without one `model*.safetensors`, or all others where there are none such.

        Raises:
            BrokenModelError: The index is damaged or unsafe, or names something that is missing; or without one, parts
                are missing or it is not clear which files are meant.
        """
        if INDEX in self.names:
            shards = sorted(set(self.index().values()))
            missing = [shard for shard in shards if shard not in self.names]
            if missing:
                rest = f" and {len(missing) - 1} more files" if missing[1:] else ""
                raise BrokenModelError(
                    f"{printable_path(self.path)} is incomplete: {printable(missing[0])}{rest} of its index is "
                    "missing; download the model again."
                )
            return tuple([self.path / shard for shard in shards])
        weights = self._weights()
        others = [name for name in weights if name != "model.safetensors"]
        if others and len(others) < len(weights):
            raise BrokenModelError(
                f"{printable_path(self.path)} has both model.safetensors and {printable(others[0])}; it should have "
                "either."
            )
        if not weights:
            raise BrokenModelError(f"{printable_path(self.path)} has no weights; it should have model.safetensors.")
        for name in weights:
            match = _SHARD.fullmatch(name)
            if match and int(match[1]) != len(weights):
                raise BrokenModelError(
                    f"{printable_path(self.path)} is incomplete: it has {len(weights)} of the {int(match[1])} parts "
                    f"that {printable(name)} tells of; download the model again."
                )
        return tuple([self.path / name for name in weights])

    def index(self) -> dict[str, str]:
        """Return the file that each tensor is in, as the index says.

        Raises:
            BrokenModelError: The index is damaged, or names something that is no file of this folder.
        """
        path = self.file(INDEX)
        shards = read_object(path).get("weight_map")
        if not isinstance(shards, dict) or not shards:
            raise BrokenModelError(
                f"{printable_path(path)}: weight_map is {kind_of(shards)}; it should be a full object."
            )
        for shard in set(map(str, shards.values())):
            if not _is_shard_name(shard):
                raise BrokenModelError(
                    f"{printable_path(path)}: '{printable(shard)}' is no shard; it should be the name of a "
                    ".safetensors file."
                )
        return shards

    def more_templates(self) -> tuple[str, ...]:
        """Return the files of templates for particular uses, as `file` takes them.

        Raises:
            BrokenModelError: They lie outside of what the folder belongs to, or are too many.
        """
        if MORE_TEMPLATES not in self.names:
            return ()
        folder = self.file(MORE_TEMPLATES)
        names = [name for name in list_names(folder) if name.endswith(".jinja") and not name.startswith(".")]
        if len(names) > _MOST_TEMPLATES:
            raise BrokenModelError(
                f"{printable_path(folder)} has {len(names)} templates; {_MOST_TEMPLATES} are the most."
            )
        return tuple(f"{MORE_TEMPLATES}/{name}" for name in names)

    def file(self, name: str) -> Path:
        """Return the path of a file that lies in the folder, if only through a link.

        Raises:
            BrokenModelError: It is missing or outside of what the folder belongs to.
        """
        path = self.path / name
        resolve_inside(path, self.base)
        return path

    def _weights(self) -> list[str]:
        names = sorted(name for name in self.names if _is_shard_name(name))
        named = [name for name in names if name.startswith("model")]
        return named or [name for name in names if not name.startswith(("consolidated", "adapter"))]


def look_into(path: Path, base: str | None = None) -> ModelFolder:
    """Return the files of a folder.

    Args:
        path: The folder.
        base: The real folder that its files must lie in; by default itself.

    Raises:
        BrokenModelError: It cannot be read, has too many files, or lies outside `base`.
    """
    real = resolve_inside(path, base or os.path.realpath(path))
    names = list_names(path)
    if len(names) > _MOST_FILES:
        raise BrokenModelError(f"{printable_path(path)} has {len(names)} files, more than any model.")
    return ModelFolder(path, base or real, frozenset(name for name in names if not name.startswith(".")))


def add_folder(folder: ModelFolder, name: str, source: Source, harvest: Harvest) -> None:
    """Add the models in a folder: one of safetensors files, and each GGUF file."""
    if folder.is_model:
        facts = Facts(printable(name), source, folder.path, path_digest(folder.path), format=Format.SAFETENSORS)
        harvest.add(facts, lambda facts: _describe(folder, facts, harvest))
    ggufs = folder.ggufs
    for stem, parts in ggufs.items():
        own = len(ggufs) == 1 and not folder.is_model
        add_gguf(folder, parts, name if own else f"{name}:{stem}", source, harvest)


def add_gguf(folder: ModelFolder, parts: list[Path], name: str, source: Source, harvest: Harvest) -> None:
    """Add the GGUF model that consists of `parts`."""

    def read(facts: Facts) -> str:
        identity = hashlib.sha256(b"gguf\0")
        for path in parts:
            with open_regular(folder.file(path.name)) as (file, size):
                facts.size += size
                _sample(identity, file, size, read_exactly(file, min(size, _WHOLE), path), path)
        facts.digest = identity.hexdigest()
        header = read_gguf(parts[0])
        facts.architecture, facts.parameters = header.architecture, header.parameters
        facts.quantization, facts.context_length = header.quantization, header.context_length
        facts.capabilities = header.capabilities
        match = _SPLIT.fullmatch(parts[0].name)
        if match and (len(parts) > 1 or match[3] != "00001"):
            # The first part's header counts the tensors of that part only.
            facts.parameters = None
            if len(parts) != int(match[3]):
                raise BrokenModelError(
                    f"{printable_path(parts[0])} is one of {int(match[3])} parts, of which {len(parts)} are there; "
                    "download the model again."
                )
            return SPLIT.format(printable_path(parts[0]))
        return refusal(header.architecture, header.kind)

    harvest.add(Facts(printable(name), source, parts[0], path_digest(parts[0]), format=Format.GGUF), read)


def _describe(folder: ModelFolder, facts: Facts, harvest: Harvest) -> str:
    """Fill in what a list shows and return why the model cannot run, or an empty text."""
    identity = hashlib.sha256(b"folder\0")
    config = None
    for name in (*(name for name in _IDENTITY if name in folder.names), *folder.more_templates()):
        path = folder.file(name)
        with open_regular(path) as (file, size):
            facts.size += size
            identity.update(f"{name}\0{size}\0".encode())
            _sample(identity, file, size, read_exactly(file, min(size, _WHOLE), path), path)
        if name == "config.json":
            config = read_object(path)
    assert config is not None
    path = folder.path / "config.json"
    modules = sentence_modules(folder.path, folder.base) if MODULES in folder.names else ()
    if modules:
        identity.update(json.dumps([[one.kind, dict(one.config)] for one in modules], sort_keys=True).encode())
    said = config_facts(config, path, modules)
    facts.architecture, facts.context_length = said.architecture, said.context_length
    facts.quantization, facts.capabilities = said.quantization or said.dtype, said.capabilities
    files = [_weights(folder, path, identity, facts) for path in folder.weight_files()]
    facts.digest = identity.hexdigest()
    facts.parameters = parameter_count(files, config, path)
    facts.quantization = said.quantization or commonest_dtype(files) or said.dtype
    if "tokenizer.json" not in folder.names:
        raise BrokenModelError(f"{printable_path(folder.path)} has no tokenizer.json, which every model needs.")
    return harvest.judge(config)


def _weights(folder: ModelFolder, path: Path, identity: "hashlib._Hash", facts: Facts) -> TensorFile:
    """Return the tensors of a file of weights; count its bytes and let it into the identity."""
    with open_regular(folder.file(path.name)) as (file, size):
        facts.size += size
        raw = read_raw_header(file, size, path)
        identity.update(f"weights\0{size}\0".encode())
        _sample(identity, file, size, raw, path)
    return parse_header(raw, size, path)


def _sample(identity: "hashlib._Hash", file: FileIO, size: int, begin: bytes, path: Path) -> None:
    """Let the beginning of an open file and three blocks of its rest into an identity."""
    identity.update(begin)
    rest = size - len(begin)
    if rest <= 0:
        return
    for position in (len(begin), len(begin) + rest // 2, max(size - _SAMPLE, len(begin))):
        file.seek(position)
        identity.update(read_exactly(file, min(_SAMPLE, size - position), path))


def _is_shard_name(name: str) -> bool:
    """Return whether a name is a plain file name that ends in `.safetensors`."""
    return name.endswith(".safetensors") and not name.startswith(".") and not set(name) & set("/\\:\0")


def subfolders(path: Path, names: Iterable[str]) -> list[Path]:
    """Return those of `names` in the folder `path` that are folders, in order."""
    return [path / name for name in sorted(names) if is_folder(path / name)]
