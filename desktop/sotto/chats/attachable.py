"""Reading what is attached: documents, whose text is kept, and images, whose files are."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from sotto.chats.chat_records import Attachment
from sotto.chats.documents import document_of, read_content, shown_name
from sotto.images.image_decoding import thumbnail
from sotto.images.image_kinds import image_kind

THUMBNAIL_PIXELS = 320
"""The longer side of the thumbnail of an image."""
# A drawing whose file is text, and which is attached as such.
_TEXT = "image/svg+xml"


@dataclass(frozen=True, slots=True)
class Attachable:
    """Something to attach.

    Attributes:
        attachment: The attachment.
        image: The contents of an image's file; empty for a document.
        thumbnail: An image made small, as PNG; empty for a document.
    """

    attachment: Attachment
    image: bytes = field(default=b"", repr=False)
    thumbnail: bytes = field(default=b"", repr=False)


def read_attachable(path: Path, stopped: Callable[[], bool]) -> Attachable:
    """Read a file: an image if it begins like one, and otherwise a document. May take seconds.

    Args:
        path: The file.
        stopped: Polled; returns whether to give up.

    Raises:
        SottoError: It cannot be attached; the message names it.
        CancelledError: `stopped` returned True.
    """
    name = shown_name(path)
    content = read_content(path, name)
    if image_kind(content) not in ("", _TEXT):
        return attachable_image(content, name, stopped)
    return Attachable(document_of(content, name, stopped))


def attachable_image(data: bytes, name: str, stopped: Callable[[], bool]) -> Attachable:
    """Return an image to attach, which is decoded to see that it can be. May take seconds.

    Args:
        data: The contents of its file; untrusted.
        name: Its name.
        stopped: Polled; returns whether to give up.

    Raises:
        ImageError: It is not an image that can be decoded; the message begins with its name.
        CancelledError: `stopped` returned True.
    """
    small = thumbnail(data, THUMBNAIL_PIXELS, name, stopped)
    digest = hashlib.sha256(data).hexdigest()
    return Attachable(Attachment(name, "", len(data), 0, 0, image=digest), data, small)
