"""The text of files that people attach. Whatever a file holds, it is text, or a sentence says why it is not."""

import codecs
import os
import stat
from collections.abc import Callable
from pathlib import Path

from sotto.chats.chat_records import Attachment
from sotto.errors import SottoError

LARGEST_FILE = 64 * 1000**2
LONGEST_TEXT = 8_000_000
_LONGEST_NAME = 120
_ADVICE = "attach text, source code or a PDF"
_PICTURES = frozenset(".png .jpg .jpeg .gif .webp .bmp .tif .tiff .heic .heif .avif .ico".split())
_PICTURE_BEGINNINGS = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM", b"II*\x00", b"MM\x00*")
_WIDE = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
# Of a file without text there is mostly a zero, or one of these, near its beginning.
_NOT_IN_TEXT = frozenset(range(32)) - frozenset(b"\t\n\v\f\r\x1b")
_LOOKED_AT = 8192


class DocumentError(SottoError):
    """A file cannot be attached."""


def _never() -> bool:
    """Never ask to stop."""
    return False


def read_document(path: Path, stopped: Callable[[], bool] = _never) -> Attachment:
    """Return the text of a file. May take a while: a PDF is read in a process of its own.

    Args:
        path: A text of any kind, in UTF-8 or, with a byte order mark, UTF-16; or a PDF.
        stopped: Asked now and then whether to give up.

    Raises:
        DocumentError: It is neither, is too large, or cannot be read; the sentence names the file.
        CancelledError: `stopped` said so.
    """
    name = shown_name(path)
    content = _content(path, name)
    if b"%PDF-" in content[:1024]:
        from sotto.chats.pdf import text_of

        text = text_of(path, name, stopped)
    else:
        text = _decode(content, name)
    if len(text) > LONGEST_TEXT:
        raise DocumentError(
            f"{name} has {len(text):,} characters, and at most {LONGEST_TEXT:,} can be attached: attach a part of it."
        )
    if not text.strip():
        raise DocumentError(f"{name} has no text in it.")
    return Attachment(name, text, len(content), 0, len(text))


def is_picture(path: Path) -> bool:
    """Return whether a file is called what pictures are called."""
    return path.suffix.lower() in _PICTURES


def picture_reason(name: str) -> str:
    """Return why a picture is not attached."""
    return f"{name} is a picture, and no model that sees can run here yet: {_ADVICE}."


def shown_name(path: Path) -> str:
    """Return a file's name as it can be shown, and shown to a model: one line of letters, and not a long one."""
    name = os.fsencode(path.name).decode("utf-8", "replace")
    name = " ".join("".join(letter if letter.isprintable() else " " for letter in name).split()) or "document"
    if len(name) > _LONGEST_NAME:
        head = _LONGEST_NAME // 2
        name = f"{name[:head]}…{name[head + 1 - _LONGEST_NAME :]}"
    return name


def _content(path: Path, name: str) -> bytes:
    try:
        # Asked of the open file, which nobody can replace by another meanwhile; a pipe is not waited for.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor has no path
            status = os.fstat(descriptor)
            if stat.S_ISDIR(status.st_mode):
                raise DocumentError(f"{name} is a folder: attach the files that are in it.")
            if not stat.S_ISREG(status.st_mode):
                raise DocumentError(f"{name} is no file with contents: {_ADVICE}.")
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
    if content.startswith(_PICTURE_BEGINNINGS) or (content[:4] == b"RIFF" and content[8:12] == b"WEBP"):
        raise DocumentError(picture_reason(name))
    wide = not content.startswith(_WIDE) and content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = content.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        if not wide and _NOT_IN_TEXT.isdisjoint(content[:_LOOKED_AT]):
            raise DocumentError(f"{name} is not in UTF-8: save it with that encoding, and attach it again.") from error
        raise DocumentError(f"{name} is no text: {_ADVICE}.") from error
    if "\x00" in text:
        raise DocumentError(f"{name} is no text: {_ADVICE}.")
    return text.replace("\r\n", "\n").replace("\r", "\n")
