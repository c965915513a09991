"""What Hugging Face's API says of models, as values. Nothing in it is taken on trust.

The API is described at https://huggingface.co/docs/hub/api. A search returns a list of models with the fields that
`FIELDS` asks for; the page of a model in the API has the sizes of its files, too.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from sotto.store.bounded_json import parse_list, parse_object
from sotto.store.finding.suggestions import Version
from sotto.store.printable import printable

FIELDS = ("config", "downloads", "gated", "gguf", "safetensors", "siblings", "tags")

_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
_LABEL = re.compile(
    r"(?:^|[-_.])((?:UD-)?(?:I?Q[1-8](?:_[A-Z0-9]+)*|TQ[12]_0|MXFP4(?:_MOE)?|BF16|F16|FP16|F32))$", re.IGNORECASE
)
_PART = re.compile(r"-\d{5}-of-\d{5}$")
# Files beside a model that are not one: encoders of pictures, and the statistics of quantizing.
_BESIDE = ("mmproj", "imatrix")
_BYTES = {"F64": 8, "F32": 4, "U32": 4, "I32": 4, "F16": 2, "BF16": 2, "I16": 2, "U16": 2, "I64": 8, "U64": 8}
_MOST_FILES, _MOST = 4096, 1 << 50
_FEWEST_BITS, _FULL = re.compile(r"(?:UD-)?I?[QT]Q?([1-8])"), {"BF16": 16, "F16": 16, "FP16": 16, "F32": 32}


class HubKind(StrEnum):
    """The format of a model on Hugging Face; the values are the tags that a search filters by."""

    MLX = "mlx"
    GGUF = "gguf"


@dataclass(frozen=True, slots=True)
class FoundModel:
    """A model that a search has found.

    Attributes:
        id: Its owner and name, `OWNER/NAME`.
        kind: Its format.
        architecture: Its `general.architecture` or `model_type`; empty if unknown.
        parameters: Number of weights; None if unknown.
        licence: The licence that its page names, mostly an SPDX identifier in lower case; may be empty.
        downloads: Downloads within a month.
        gated: Whether its owner must allow the download.
        config: What is known of its `config.json`.
        versions: The forms in which it can be downloaded, of fewer bits first.
        file: The path of a file whose beginning tells the shapes of a GGUF model; may be empty.
        complete: Whether its own page has been read, which tells the sizes and shapes.
    """

    id: str
    kind: HubKind
    architecture: str = ""
    parameters: int | None = None
    licence: str = ""
    downloads: int = 0
    gated: bool = False
    config: Mapping[str, Any] = field(default_factory=dict)
    versions: tuple[Version, ...] = ()
    file: str = ""
    complete: bool = False

    @property
    def title(self) -> str:
        """Its name without its owner."""
        return self.id.partition("/")[2]

    @property
    def owner(self) -> str:
        """Who has published it."""
        return self.id.partition("/")[0]


def parse_search(data: bytes, kind: HubKind, host: str) -> list[FoundModel]:
    """Return the models that a search has found, without entries that are not well-formed.

    Raises:
        BrokenModelError: The answer is not a list in JSON.
    """
    entries = parse_list(data, f"The answer of {host}")
    return [found for entry in entries if isinstance(entry, dict) and (found := _found(entry, kind)) is not None]


def parse_page(data: bytes, found: FoundModel, host: str) -> FoundModel:
    """Return a found model with what its own page in the API says.

    Raises:
        BrokenModelError: The answer is not an object in JSON.
    """
    entry = parse_object(data, f"The answer of {host}", strict=False)
    now = _found(entry | {"id": found.id}, found.kind)
    return found if now is None else replace(now, downloads=now.downloads or found.downloads)


def _found(entry: Mapping[str, Any], kind: HubKind) -> FoundModel | None:
    name = entry.get("id")
    if not isinstance(name, str) or _ID.fullmatch(name) is None:
        return None
    gguf, config = _mapping(entry, "gguf"), _mapping(entry, "config")
    if kind is HubKind.GGUF:
        parameters, architecture = _number(gguf, "total"), gguf.get("architecture")
        versions, file = _gguf_versions(name, _files(entry))
    else:
        parameters, architecture, file = None, config.get("model_type"), ""
        size = _safetensors_size(_mapping(_mapping(entry, "safetensors"), "parameters"))
        versions = (Version(f"hf.co/{name}", _mlx_bits(config, name), size),)
    return FoundModel(
        id=name,
        kind=kind,
        architecture=printable(architecture, 40) if isinstance(architecture, str) else "",
        parameters=parameters,
        licence=_licence(entry),
        downloads=_number(entry, "downloads") or 0,
        gated=entry.get("gated") not in (None, False),
        config=config,
        versions=versions,
        file=file,
    )


def _licence(entry: Mapping[str, Any]) -> str:
    tags = entry.get("tags")
    named = (tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else ()
    return next((printable(tag.removeprefix("license:"), 40) for tag in named if tag.startswith("license:")), "")


def _files(entry: Mapping[str, Any]) -> Iterator[tuple[str, int | None]]:
    """Yield the path and the size of each file, None for an unknown size."""
    siblings = entry.get("siblings")
    for sibling in siblings[:_MOST_FILES] if isinstance(siblings, list) else ():
        if isinstance(sibling, dict) and isinstance(path := sibling.get("rfilename"), str) and path.isprintable():
            yield path, _number(sibling, "size")


def _gguf_versions(name: str, files: Iterable[tuple[str, int | None]]) -> tuple[tuple[Version, ...], str]:
    """Return a version for each quantization, and the path of the smallest one's first file."""
    parts: dict[str, list[tuple[str, int | None]]] = defaultdict(list)
    for path, size in files:
        base = path.rpartition("/")[2]
        if not base.lower().endswith(".gguf") or any(word in base.lower() for word in _BESIDE):
            continue
        match = _LABEL.search(_PART.sub("", base[: -len(".gguf")]))
        if match is not None:
            parts[match[1].upper()].append((path, size))
    versions = []
    for label, of_label in parts.items():
        sizes = [size for _, size in of_label]
        known = None if None in sizes else sum(size or 0 for size in sizes)
        versions.append(Version(f"hf.co/{name}:{label}", label, known))
    versions.sort(key=lambda version: (version.size or 0, _bits(version.bits), version.bits))
    return tuple(versions), min(parts[versions[0].bits])[0] if versions else ""


def _bits(label: str) -> int:
    """Return about how many bits a weight has, to sort by."""
    match = _FEWEST_BITS.match(label)
    return int(match[1]) if match else _FULL.get(label, 4)


def _mlx_bits(config: Mapping[str, Any], name: str) -> str:
    """Return the bits that a config or a name states; empty if neither does."""
    bits = _number(_mapping(config, "quantization_config"), "bits")
    if bits is None and (match := re.search(r"(?:^|[-_])(\d)-?bit(?:$|[-_])", name, re.IGNORECASE)):
        bits = int(match[1])
    if bits is not None and bits <= 32:
        return f"{bits}-bit"
    return "BF16" if name.lower().endswith(("bf16", "fp16")) else ""


def _safetensors_size(counts: Mapping[str, Any]) -> int | None:
    """Return the bytes of numbers by type; None if there are none."""
    return sum((_number(counts, dtype) or 0) * _BYTES.get(dtype, 1) for dtype in counts) or None


def _mapping(entry: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = entry.get(key)
    return value if isinstance(value, dict) else {}


def _number(entry: Mapping[str, Any], key: str) -> int | None:
    """Return a whole number above 0; None if there is none, or a larger one than can be true."""
    value = entry.get(key)
    return value if type(value) is int and 0 < value <= _MOST else None
