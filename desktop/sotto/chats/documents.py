"""Reading the text of documents that are attached; an error says in a sentence why a file has none."""

import codecs
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

from sotto.chats.chat_records import Attachment
from sotto.errors import SottoError
from sotto.images.image_kinds import image_kind

LARGEST_FILE = 64 * 1000**2
LONGEST_TEXT = 8_000_000
_LONGEST_NAME = 120
_ADVICE = "attach text, source code, a PDF or an image"
PICTURES = frozenset(".png .jpg .jpeg .gif .webp .bmp .tif .tiff .heic .heif .avif .ico".split())
_WIDE = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
# Binary files usually have one of these bytes near their beginning.
_BINARY_BYTES = frozenset(range(32)) - frozenset(b"\t\n\v\f\r\x1b")
_SAMPLE_BYTES = 8192


class DocumentError(SottoError):
    """A file cannot be attached."""


def _never() -> bool:
    """Return False: never stop."""
    return False


def read_document(path: Path, stopped: Callable[[], bool] = _never) -> Attachment:
    """Read the text of a file. May take seconds, as PDFs are read in a bounded process.

    Args:
        path: A text in UTF-8 or, with a byte order mark, UTF-16; or a PDF.
        stopped: Polled; returns whether to give up.

    Raises:
        DocumentError: It is neither, is too large, or cannot be read; the message names the file.
        CancelledError: `stopped` returned True.
    """
    name = shown_name(path)
    content = read_content(path, name)
    return document_of(content, name, stopped)


def document_of(content: bytes, name: str, stopped: Callable[[], bool] = _never) -> Attachment:
    """Return the document that a file of these contents is; see `text_in`."""
    text = text_in(content, name, stopped)
    return Attachment(name, text, len(content), 0, len(text))


def text_in(content: bytes, name: str, stopped: Callable[[], bool] = _never) -> str:
    """Return the text in the contents of a file. May take seconds, as PDFs are read in a bounded process.

    Args:
        content: A text in UTF-8 or, with a byte order mark, UTF-16; or a PDF.
        name: Its name in error messages.
        stopped: Polled; returns whether to give up.

    Raises:
        DocumentError: It is neither, has no text, or too much of it; the message names the file.
        CancelledError: `stopped` returned True.
    """
    if b"%PDF-" in content[:1024]:
        from sotto.chats.pdf import text_of

        with tempfile.NamedTemporaryFile() as file:
            file.write(content)
            file.flush()
            text = text_of(Path(file.name), name, stopped)
    else:
        text = _decode(content, name)
    if len(text) > LONGEST_TEXT:
        raise DocumentError(
            f"{name} has {len(text):,} characters, and at most {LONGEST_TEXT:,} can be attached: attach a part of it."
        )
    if not text.strip():
        raise DocumentError(f"{name} has no text in it.")
    return text


def shown_name(path: Path) -> str:
    """Return a file's name for people and models: one short line of printable characters."""
    name = os.fsencode(path.name).decode("utf-8", "replace")
    name = " ".join("".join(letter if letter.isprintable() else " " for letter in name).split()) or "document"
    if len(name) > _LONGEST_NAME:
        head = _LONGEST_NAME // 2
        name = f"{name[:head]}…{name[head + 1 - _LONGEST_NAME :]}"
    return name


def read_content(path: Path, name: str) -> bytes:
    """Return the content of a file that is to be attached.

    Raises:
        DocumentError: It is no file, is too large, or cannot be read; the message calls it `name`.
    """
    try:
        # Check the open file, as the path could be replaced in between. Opening a pipe must not wait for a writer.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor has no path
            status = os.fstat(descriptor)
            if stat.S_ISDIR(status.st_mode):
                raise DocumentError(f"{name} is a folder: attach the files that are in it.")
            if not stat.S_ISREG(status.st_mode):
                raise DocumentError(f"{name} is not a file with contents: {_ADVICE}.")
            if status.st_size > LARGEST_FILE:
                raise DocumentError(
                    f"{name} has {status.st_size / 1e6:,.0f} MB, and at most {LARGEST_FILE / 1e6:.0f} MB can be "
                    "attached: attach a part of it."
                )
            return file.read(LARGEST_FILE)
    except IsADirectoryError as error:
        raise DocumentError(f"{name} is a folder: attach the files that are in it.") from error
    except OSError as error:
        raise DocumentError(f"{name} could not be read: {error.strerror or error}.") from error


def _decode(content: bytes, name: str) -> str:
    if image_kind(content) and not image_kind(content).endswith("+xml"):
        raise DocumentError(f"{name} is an image, and here only text can be read: choose a document.")
    wide = not content.startswith(_WIDE) and content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = content.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        if not wide and _BINARY_BYTES.isdisjoint(content[:_SAMPLE_BYTES]):
            raise DocumentError(f"{name} is not in UTF-8: save it with that encoding, and attach it again.") from error
        raise DocumentError(f"{name} is not text: {_ADVICE}.") from error
    if "\x00" in text:
        raise DocumentError(f"{name} is not text: {_ADVICE}.")
    return text.replace("\r\n", "\n").replace("\r", "\n")
