"""Reading model folders as Hugging Face's tools, mlx-lm and LM Studio write them: `config.json` with weight files.

Such a folder comes without a digest. Its digest here is the sha256 of everything that determines the model's behaviour:
small files as a whole, and of large ones the size, the header and a few sampled blocks. That distinguishes models and
finds copies of the same model; it does not prove that the weights are intact.
"""

import hashlib
import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any

from sotto.errors import BrokenModelError
from sotto.store.bounded_json import kind_of, read_object
from sotto.store.facts import as_tensors_allow, commonest_dtype, config_facts, parameter_count, vision_reason
from sotto.store.files import is_folder, list_names, open_regular, read_exactly, resolve_inside
from sotto.store.gguf.gguf_config import refusal
from sotto.store.gguf.header import read_gguf
from sotto.store.gguf.projectors import eyes_of
from sotto.store.printable import printable, printable_path
from sotto.store.records import Format, SentenceModule, Source, TensorFile
from sotto.store.safetensors_header import parse_header, read_raw_header
from sotto.store.sentence import MODULES, sentence_modules
from sotto.store.sources.harvest import Facts, Harvest, path_digest
from sotto.store.sources.projector_names import is_projector, projectors_for

INDEX = "model.safetensors.index.json"
TEMPLATE = "chat_template.jinja"
# The folder of templates for particular uses, for example `tool_use.jinja`.
MORE_TEMPLATES = "additional_chat_templates"
# What the engine reads beside the weights; a change to any of these files changes the model's digest.
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

_DIGESTED = (*JSON_FILES, "tokenizer.json", TEMPLATE)
_MAX_FILES = 20_000
_MAX_TEMPLATES = 16
# Bytes hashed of a file's beginning, and of each further sample.
_HEAD_BYTES = 1 << 16
_SAMPLE_BYTES = 1 << 12
_GGUF_PART = re.compile(r"(.+)-([0-9]{5})-of-([0-9]{5})\.gguf", re.IGNORECASE)
_LICENCE = re.compile(r"(LICEN[CS]E|COPYING)([._-].*)?", re.IGNORECASE)
_SHARD = re.compile(r".+-[0-9]{5}-of-([0-9]{5})\.safetensors")


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A folder that may contain a model.

    Attributes:
        path: The folder.
        base: The folder that its files must be inside, without symbolic links in its path.
        names: The names of its entries, except hidden ones.
    """

    path: Path
    base: str
    names: frozenset[str]

    @property
    def is_model(self) -> bool:
        """Whether it contains a configuration, and weights or an index of weights."""
        return "config.json" in self.names and (INDEX in self.names or bool(self._weights()))

    @property
    def ggufs(self) -> dict[str, list[Path]]:
        """The GGUF models, each with all its parts, by file name without suffix."""
        models = defaultdict(list)
        for name in sorted(self.names):
            if name.lower().endswith(".gguf") and not is_projector(name):
                models[split_part(name)[0]].append(self.path / name)
        return dict(models)

    def gguf_files(self, path: Path) -> list[Path]:
        """Return all files of the GGUF model that one of them belongs to, in order."""
        return next((parts for parts in self.ggufs.values() if path in parts), [path])

    def projectors(self, path: Path) -> list[Path]:
        """Return the projectors that may belong to the GGUF model of a file here, the one to prefer first.

        Raises:
            BrokenModelError: One leads outside `base`.
        """
        found = [self.file(name) for name in projectors_for(path.name, self.names)]
        # Repositories of models in folders, one for each quantization, have their projectors above these.
        if found or self.path.parent.parent.name != "snapshots":
            return found
        above = look_into(self.path.parent, self.base)
        return [above.file(name) for name in projectors_for(path.name, above.names)]

    def weight_files(self) -> tuple[Path, ...]:
        """Return the weight files; only their names are checked.

        These are the files of the index; without an index `model*.safetensors`, or if there are none, any others.

        Raises:
            BrokenModelError: The index is damaged or unsafe, or names a missing file; without an index, parts are
                missing or the choice of files is ambiguous.
        """
        index = read_object(self.file(INDEX)) if INDEX in self.names else None
        return tuple([self.path / name for name in self.weight_names(index)])

    def weight_names(self, index: Mapping[str, Any] | None) -> list[str]:
        """Return the names of the weight files, given the parsed index if there is one; see `weight_files`."""
        if index is not None:
            shards = sorted(set(self._shards(index).values()))
            missing = [shard for shard in shards if shard not in self.names]
            if missing:
                rest = f" and {len(missing) - 1} more files" if missing[1:] else ""
                raise BrokenModelError(
                    f"{printable_path(self.path)} is incomplete: {printable(missing[0])}{rest} of its index is "
                    "missing; download the model again."
                )
            return shards
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
        return weights

    def index(self) -> dict[str, str]:
        """Return the file name of each tensor, as stated by the index.

        Raises:
            BrokenModelError: The index is damaged, or contains an invalid file name.
        """
        return self._shards(read_object(self.file(INDEX)))

    def _shards(self, index: Mapping[str, Any]) -> dict[str, str]:
        path = self.path / INDEX
        shards = index.get("weight_map")
        if not isinstance(shards, dict) or not shards:
            raise BrokenModelError(
                f"{printable_path(path)}: weight_map is {kind_of(shards)}; it should be a full object."
            )
        for shard in set(map(str, shards.values())):
            if not _is_shard_name(shard):
                raise BrokenModelError(
                    f"{printable_path(path)}: '{printable(shard)}' is not a shard; it should be the name of a "
                    ".safetensors file."
                )
        return shards

    def small_files(self) -> tuple[str, ...]:
        """Return what the engine reads beside the weights, as paths relative to the folder.

        Raises:
            BrokenModelError: As of `more_templates`.
        """
        return *(name for name in _DIGESTED if name in self.names), *self.more_templates()

    def more_templates(self) -> tuple[str, ...]:
        """Return the templates for particular uses, as paths relative to the folder.

        Raises:
            BrokenModelError: They are outside `base`, or too many.
        """
        if MORE_TEMPLATES not in self.names:
            return ()
        folder = self.path / MORE_TEMPLATES
        names = [name for name in self.names_in(MORE_TEMPLATES) if name.endswith(".jinja") and not name.startswith(".")]
        if len(names) > _MAX_TEMPLATES:
            raise BrokenModelError(
                f"{printable_path(folder)} has {len(names)} templates; {_MAX_TEMPLATES} are the most."
            )
        return tuple(f"{MORE_TEMPLATES}/{name}" for name in names)

    def file(self, name: str) -> Path:
        """Return the path of a file in the folder, which may be a link.

        Raises:
            BrokenModelError: It is missing, or leads outside `base`.
        """
        path = self.path / name
        resolve_inside(path, self.base)
        return path

    def digest(self, name: str) -> str:
        """Return the digest that the store names a file by; empty, as folders of files have none."""
        return ""

    def find(self, name: str) -> Path | None:
        """Return the path of a file as `file` does, or None if it is missing."""
        return self.file(name) if os.path.lexists(self.path / name) else None

    def names_in(self, name: str) -> list[str]:
        """Return the names of the entries of a folder within the folder, sorted; errors as of `file`."""
        return list_names(self.file(name))

    def modules(self) -> tuple[SentenceModule, ...]:
        """Return the steps from a text to its embedding; none if the model does not list them.

        Raises:
            BrokenModelError: A file is damaged, or a step lies outside the folder.
        """
        return sentence_modules(self.file(MODULES), self.find) if MODULES in self.names else ()

    def module_files(self) -> list[str]:
        """Return the files with the settings of the steps that `modules` returns, as paths relative to the folder."""
        found = []

        def find(name: str) -> Path | None:
            path = self.find(name)
            if path is not None:
                found.append(name)
            return path

        sentence_modules(self.file(MODULES), find)
        return found

    def _weights(self) -> list[str]:
        names = sorted(name for name in self.names if _is_shard_name(name))
        usual = [name for name in names if name.startswith("model")]
        return usual or [name for name in names if not name.startswith(("consolidated", "adapter"))]


def look_into(path: Path, base: str | None = None) -> ModelFolder:
    """Return the folder at a path with the names of its entries.

    Args:
        path: The folder.
        base: The folder that its files must be inside, without symbolic links in its path; None for `path` itself.

    Raises:
        BrokenModelError: It cannot be read, has too many files, or is outside `base`.
    """
    real = resolve_inside(path, base or os.path.realpath(path))
    names = list_names(path)
    if len(names) > _MAX_FILES:
        raise BrokenModelError(f"{printable_path(path)} has {len(names)} files, more than any model.")
    return ModelFolder(path, base or real, frozenset(name for name in names if not name.startswith(".")))


def add_folder(folder: ModelFolder, name: str, source: Source, harvest: Harvest, *, holds_models: bool = False) -> None:
    """Add the models in a folder: that of its safetensors files, and one for each GGUF file.

    Args:
        folder: The folder.
        name: The name of the model; those of GGUF files among several models are appended to it.
        source: The kind of store that the folder belongs to.
        harvest: Where the models or problems are added.
        holds_models: Whether it is a folder of any models, so that its name says nothing about a GGUF file in it.
    """
    if folder.is_model:
        facts = Facts(printable(name), source, folder.path, path_digest(folder.path), format=Format.SAFETENSORS)
        harvest.add(facts, lambda facts: describe_folder(folder, facts, harvest))
    ggufs = folder.ggufs
    for stem, parts in ggufs.items():
        is_only_model = len(ggufs) == 1 and not folder.is_model
        named = name if is_only_model else f"{name}:{stem}"
        add_gguf(folder, parts, stem if holds_models else named, source, harvest)


def add_gguf(folder: ModelFolder, parts: list[Path], name: str, source: Source, harvest: Harvest) -> None:
    """Add the GGUF model that consists of `parts`.

    Args:
        folder: The folder of the parts.
        parts: The files of the model, in order.
        name: The name of the model.
        source: The kind of store that the folder belongs to.
        harvest: Where the model or problem is added.
    """

    def read(facts: Facts) -> str:
        digest = hashlib.sha256(b"gguf\0")
        for path in parts:
            _add_file(digest, folder.file(path.name), facts)
        facts.digest = digest.hexdigest()
        _require_parts(parts)
        header = read_gguf(parts[0])
        eyes = eyes_of(header, folder.projectors(parts[0]), beside=True)
        if eyes.projector:
            digest.update(b"projector\0")
            _add_file(digest, eyes.projector, facts)
            facts.digest = digest.hexdigest()
        facts.architecture, facts.parameters = header.architecture, header.parameters
        facts.quantization, facts.context_length = header.quantization, header.context_length
        facts.capabilities = (*header.capabilities, *eyes.capabilities)
        facts.vision_reason = eyes.refusal
        if len(parts) > 1:
            # The header lists the tensors of the first part only.
            facts.parameters = None
        return refusal(header.architecture, header.kind)

    harvest.add(Facts(printable(name), source, parts[0], path_digest(parts[0]), format=Format.GGUF), read)


def gguf_projector(folder: ModelFolder, path: Path) -> Path | None:
    """Return the projector of the GGUF model whose first file is at a path; None if it has none in a file of its own.

    Raises:
        BrokenModelError: The model's header is damaged.
    """
    return eyes_of(read_gguf(path), folder.projectors(path), beside=True).projector


def gguf_model_files(folder: ModelFolder, path: Path) -> list[Path]:
    """Return all files of the GGUF model that one belongs to, its projector last.

    Raises:
        BrokenModelError: One leads outside of its folder.
    """
    parts = [folder.file(part.name) for part in folder.gguf_files(path)]
    try:
        projector = gguf_projector(folder, parts[0])
    except BrokenModelError:
        # The header of a damaged file does not tell which projector would belong to it.
        return parts
    return [*parts, projector] if projector else parts


def _require_parts(parts: list[Path]) -> None:
    """Raise BrokenModelError if files of a GGUF model are missing, as far as the names of the others tell."""
    matches = [match for path in parts if (match := _GGUF_PART.fullmatch(path.name))]
    if not matches:
        return
    count = int(matches[0][3])
    numbers = {int(match[2]) for match in matches}
    missing = sorted(set(range(1, min(count, _MAX_FILES) + 1)) - numbers)
    if missing:
        stem = printable(matches[0][1])
        rest = f" and {len(missing) - 1} more" if missing[1:] else ""
        raise BrokenModelError(
            f"{printable_path(parts[0])} is one of {count} files of a model, of which "
            f"{stem}-{missing[0]:05}-of-{count:05}.gguf{rest} {'are' if rest else 'is'} missing; download the model "
            "again."
        )
    if len(parts) != count:
        raise BrokenModelError(
            f"{printable_path(parts[0])} is one of {count} files of a model by its name, but there are {len(parts)}; "
            "remove those that do not belong to it."
        )


def describe_folder(folder: ModelFolder, facts: Facts, harvest: Harvest) -> str:
    """Fill in the facts, and return why the model cannot run or an empty string."""
    digest = hashlib.sha256(b"folder\0")
    config = read_object(folder.file("config.json"))
    for name in folder.small_files():
        path = folder.file(name)
        with open_regular(path) as (file, size):
            facts.size += size
            digest.update(f"{name}\0{size}\0".encode())
            _sample(digest, file, size, read_exactly(file, min(size, _HEAD_BYTES), path), path)
    path = folder.path / "config.json"
    modules = folder.modules()
    if modules:
        digest.update(json.dumps([[module.kind, dict(module.config)] for module in modules], sort_keys=True).encode())
    stated = config_facts(config, path, modules)
    facts.architecture, facts.context_length = stated.architecture, stated.context_length
    facts.quantization, facts.capabilities = stated.quantization or stated.dtype, stated.capabilities
    files = [_read_weights(folder, path, digest, facts) for path in folder.weight_files()]
    facts.digest = digest.hexdigest()
    names = [name for file in files for name in file.tensors]
    facts.capabilities = as_tensors_allow(stated.capabilities, names)
    facts.vision_reason = vision_reason(config, names)
    facts.parameters = parameter_count(files, config, path)
    facts.quantization = stated.quantization or commonest_dtype(files) or stated.dtype
    if "tokenizer.json" not in folder.names:
        raise BrokenModelError(f"{printable_path(folder.path)} has no tokenizer.json, which every model needs.")
    return harvest.judge(config)


def _read_weights(folder: ModelFolder, path: Path, digest: "hashlib._Hash", facts: Facts) -> TensorFile:
    """Return the tensors of a weight file; add its bytes to the size and a sample of it to the digest."""
    with open_regular(folder.file(path.name)) as (file, size):
        facts.size += size
        raw = read_raw_header(file, size, path)
        digest.update(f"weights\0{size}\0".encode())
        _sample(digest, file, size, raw, path)
    return parse_header(raw, size, path)


def _add_file(digest: "hashlib._Hash", path: Path, facts: Facts) -> None:
    """Add a sample of a GGUF file to the digest, and its bytes to the size."""
    with open_regular(path) as (file, size):
        facts.size += size
        _sample(digest, file, size, read_exactly(file, min(size, _HEAD_BYTES), path), path)


def _sample(digest: "hashlib._Hash", file: FileIO, size: int, head: bytes, path: Path) -> None:
    """Add the beginning of an open file and three blocks of the rest to a digest."""
    digest.update(head)
    rest = size - len(head)
    if rest <= 0:
        return
    for position in (len(head), len(head) + rest // 2, max(size - _SAMPLE_BYTES, len(head))):
        file.seek(position)
        digest.update(read_exactly(file, min(_SAMPLE_BYTES, size - position), path))


def _is_shard_name(name: str) -> bool:
    """Return whether a name is a plain file name that ends in `.safetensors`."""
    return name.endswith(".safetensors") and not name.startswith(".") and not set(name) & set("/\\:\0")


def is_licence(name: str) -> bool:
    """Return whether a name is that of a file with a licence."""
    return _LICENCE.fullmatch(name) is not None


def split_part(name: str) -> tuple[str, int]:
    """Return the name of the model that a GGUF file is or is a part of, without suffix, and the number of its parts."""
    match = _GGUF_PART.fullmatch(name)
    return (match[1], int(match[3])) if match else (name[: -len(".gguf")], 1)


def subfolders(path: Path, names: Iterable[str]) -> list[Path]:
    """Return those of `names` in the folder `path` that are folders, in order."""
    return [path / name for name in sorted(names) if is_folder(path / name)]
