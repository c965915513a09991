"""Writing stores, model folders and files byte by byte, and checking the messages about them."""

import hashlib
import json
import os
import re
import stat
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

PREFIX = "application/vnd.ollama.image."
LLAMA = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "max_position_embeddings": 512}
TOKENIZER = b'{"model": {"type": "BPE", "vocab": {}, "merges": []}}'
SIZES = {"F32": 4, "BF16": 2, "U32": 4, "U8": 1, "F64": 8}


def safetensors(
    tensors: Mapping[str, tuple[str, Sequence[int]]], metadata: Mapping[str, str] | None = None, fill: int = 0
) -> bytes:
    """Return a safetensors file with these dtypes and shapes; `fill` is the first byte of its data."""
    header: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    position = 0
    for name, (dtype, shape) in tensors.items():
        size = SIZES[dtype]
        for dimension in shape:
            size *= dimension
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [position, position + size]}
        position += size
    return with_header(header, bytes([(fill + index) % 256 for index in range(position)]))


def with_header(header: Any, data: bytes = b"") -> bytes:
    """Return a safetensors file with an arbitrary header, given as a JSON value or as bytes."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def gguf(
    values: Sequence[tuple[str, int, bytes]] = (), tensors: Mapping[str, Sequence[int]] | None = None, version: int = 3
) -> bytes:
    """Return a GGUF header with these keys, types and encoded values, and tensors of these shapes."""
    content = b"GGUF" + struct.pack("<IQQ", version, len(tensors or {}), len(values))
    for key, kind, value in values:
        content += gguf_text(key) + struct.pack("<I", kind) + value
    for name, shape in (tensors or {}).items():
        content += gguf_text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, 0)
    return content


def gguf_text(text: str) -> bytes:
    """Return a string in GGUF's encoding."""
    return struct.pack("<Q", len(text.encode())) + text.encode()


class Store:
    """A store in Ollama's layout, for writing."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "blobs").mkdir(parents=True, exist_ok=True)

    def blob(self, content: bytes) -> tuple[str, int]:
        """Write a blob; return its digest and size."""
        digest = hashlib.sha256(content).hexdigest()
        self.blob_path(digest).write_bytes(content)
        return digest, len(content)

    def blob_path(self, digest: str) -> Path:
        """Return the path of a blob."""
        return self.root / "blobs" / f"sha256-{digest.removeprefix('sha256:')}"

    def layer(self, kind: str, content: bytes, name: str = "") -> dict[str, Any]:
        """Write a blob and return its entry in a manifest."""
        digest, size = self.blob(content)
        layer = {"mediaType": PREFIX + kind, "digest": f"sha256:{digest}", "size": size}
        return layer | ({"name": name} if name else {})

    def config(self, **entries: Any) -> dict[str, Any]:
        """Write a config blob and return its entry."""
        entries = {"model_format": "safetensors", "file_type": "", "capabilities": ["completion"]} | entries
        return self.layer("", json.dumps(entries).encode()) | {
            "mediaType": "application/vnd.docker.container.image.v1+json"
        }

    def path(self, name: str) -> Path:
        """Return the path of the manifest of `model:tag`, or of a name with more parts."""
        *prefix, last = name.split("/")
        host, namespace = [*["registry.ollama.ai", "library"][: 2 - len(prefix)], *prefix]
        model, _, tag = last.partition(":")
        return self.root / "manifests" / host / namespace / model / (tag or "latest")

    def manifest(self, name: str, layers: Sequence[Any], config: Any = None, **others: Any) -> Path:
        """Write a manifest."""
        entries = {"schemaVersion": 2, "config": config or self.config(), "layers": list(layers)} | others
        return self.raw_manifest(name, json.dumps(entries).encode())

    def raw_manifest(self, name: str, content: bytes) -> Path:
        """Write arbitrary bytes as a manifest."""
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def layers(self, fill: int = 0, config: Mapping[str, Any] = LLAMA) -> list[dict[str, Any]]:
        """Write the blobs of a small complete model and return its layers."""
        return [
            self.layer("tensor", safetensors({"model.embed_tokens.weight": ("F32", (4, 8))}, fill=fill), "embed"),
            self.layer("tensor", safetensors({"model.norm.weight": ("BF16", (8,))}, fill=fill), "norm"),
            self.layer("json", json.dumps(config).encode(), "config.json"),
            self.layer("json", TOKENIZER, "tokenizer.json"),
        ]

    def model(self, name: str, fill: int = 0, config: Mapping[str, Any] = LLAMA, **entries: Any) -> Path:
        """Write a small complete model; a different `fill` makes a different model."""
        return self.manifest(name, self.layers(fill, config), self.config(**entries))


def folder(path: Path, fill: int = 0, config: Mapping[str, Any] = LLAMA, **files: Any) -> Path:
    """Write a folder with a small complete model.

    Args:
        path: The folder.
        fill: A different value makes a different model.
        config: The contents of `config.json`.
        files: More files by name, or replacements; None omits a file.
    """
    path.mkdir(parents=True, exist_ok=True)
    contents = {
        "config.json": config,
        "tokenizer.json": TOKENIZER,
        "model.safetensors": safetensors({"model.embed_tokens.weight": ("F32", (4, 8))}, fill=fill),
    } | files
    for name, content in contents.items():
        if content is not None:
            (path / name).write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def repository(cache: Path, name: str, files: Mapping[str, bytes], revision: str = "a" * 40, main: bool = True) -> Path:
    """Write a snapshot into a Hugging Face cache, and return its path.

    Args:
        cache: The folder of the cache.
        name: The repository, `organisation/name`.
        files: The contents of its files by name.
        revision: The name of the snapshot.
        main: Whether `refs/main` names it.
    """
    root = cache / f"models--{name.replace('/', '--')}"
    snapshot = root / "snapshots" / revision
    for folder_path in (snapshot, root / "blobs", root / "refs"):
        folder_path.mkdir(parents=True, exist_ok=True)
    for file, content in files.items():
        blob = root / "blobs" / blob_name(file, content)
        blob.write_bytes(content)
        link = snapshot / file
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(os.path.relpath(blob, link.parent))
    if main:
        (root / "refs" / "main").write_text(revision)
    return snapshot


def blob_name(file: str, content: bytes) -> str:
    """Return the name of a file's blob in the cache: the SHA-256 of weights, the Git object id of other files."""
    if file.endswith((".safetensors", ".gguf")):
        return hashlib.sha256(content).hexdigest()
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def fingerprint(root: Path) -> dict[str, tuple[Any, ...]]:
    """Return the mode, times, size, inode and content of everything below `root`, to detect any write."""
    fingerprints = {}
    for folder_path, folders, files in os.walk(root):
        for name in (".", *folders, *files):
            path = Path(folder_path, name)
            status = path.lstat()
            content = ""
            if stat.S_ISLNK(status.st_mode):
                content = str(path.readlink())
            elif stat.S_ISREG(status.st_mode):
                content = hashlib.sha256(path.read_bytes()).hexdigest()
            fingerprints[str(path)] = (status.st_mode, status.st_mtime_ns, status.st_size, status.st_ino, content)
    return fingerprints


def assert_line(message: str, *mentions: str | Path) -> None:
    """Check that a message is one printable line that ends with `.` or `?` and contains the mentions."""
    assert message.isprintable(), ascii(message)
    assert message.endswith((".", "?")), message
    assert len(message) < 4000, len(message)
    for mention in mentions:
        assert str(mention) in message, (message, str(mention))


def assert_sentence(message: str, *mentions: str | Path) -> None:
    """Check that a message is one sentence without technical details such as exception names."""
    assert_line(message, *mentions)
    assert not message.endswith(".."), message
    assert not re.search(r"Traceback|Errno|Error\b|<class|object at 0x", message), message
    plain = message
    for mention in mentions:
        plain = plain.replace(str(mention), "")
    assert not re.search(r"[.?!] [A-Z]", plain), message
