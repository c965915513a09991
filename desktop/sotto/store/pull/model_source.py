"""What a download needs of the place that models come from: a registry, Hugging Face, or another.

A source resolves a name to a manifest in Ollama's layout, the files with their sizes and digests, and then gives the
bytes of those files. Everything else, from the queue to the window, knows only this protocol.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Protocol, Self

from sotto.store.sources.manifest import Layer, Manifest


@dataclass(frozen=True, slots=True)
class BlobStream:
    """The bytes of a blob as they are received.

    Attributes:
        start: Offset of the first byte in the blob.
        pieces: The bytes; raises TryAgainError if the connection breaks off.
    """

    start: int
    pieces: AsyncIterator[bytes]


@dataclass(frozen=True, slots=True)
class Present:
    """What the store has before a download.

    Attributes:
        manifests: The manifests of this name, the newest first: of an unfinished download, and of the model itself.
        find: Returns the path of a complete blob, or None.
    """

    manifests: tuple[Manifest, ...]
    find: Callable[[Layer], Path | None]


@dataclass(frozen=True, slots=True)
class Offer:
    """What a source has under a name.

    Attributes:
        manifest: The bytes of the manifest.
        texts: The contents of small blobs that came with it, by digest.
        about: What was chosen and under which licence it comes, in one sentence; empty if there is nothing to say.
    """

    manifest: bytes
    texts: Mapping[str, bytes] = field(default_factory=lambda: MappingProxyType({}))
    about: str = ""


class ModelSource(Protocol):
    """A place that one model comes from; an asynchronous context manager, which closes the connections."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *_: object) -> None: ...

    @property
    def host(self) -> str:
        """The host, as printable text."""

    @property
    def manifest_path(self) -> Path:
        """A path that stands for the manifest in error messages until it is a file."""

    async def resolve(self, present: Present) -> Offer:
        """Return what there is under the name; when it is called again, it goes on where it failed.

        Raises:
            ModelNotFoundError: There is no such model.
            TryAgainError: The source cannot be reached, or is overloaded.
            StoreError: It refuses, or what it sends makes no sense.
        """

    def local_file(self, layer: Layer) -> Path | None:
        """Return a file on this machine that should have the bytes of a blob, or None."""

    def open_blob(self, layer: Layer, start: int) -> AbstractAsyncContextManager[BlobStream]:
        """Request a blob from byte `start` on; the response may begin at byte 0 instead.

        Raises:
            TryAgainError: The source cannot be reached, or is overloaded.
            WrongBytesError: It sends another part of the blob, or reports another size.
            DownloadError: It refuses.
        """
