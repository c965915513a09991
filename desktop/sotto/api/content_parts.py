"""The content of messages in requests of all dialects: texts, images, and documents, whose text the model is given.

Web addresses of images and documents are refused, as the API never connects to other machines.
"""

import binascii
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote_to_bytes

from sotto.api.error_bodies import ApiError, bad_request, stopped_error
from sotto.api.fields import OBJECT, STRING, Body, Object, Raw, Text
from sotto.chats.chat_records import Attachment
from sotto.chats.documents import DocumentError, shown_name, text_in
from sotto.chats.pdf import PdfError
from sotto.engine.contract.message_content import Content, ImagePart, Part, TextPart, content_of
from sotto.errors import CancelledError
from sotto.images.image_kinds import MEDIA_TYPES, image_kind

MOST_IMAGES = 100
MOST_DOCUMENTS = 20
UNSEEN_TEXT = "[This is not text, and you cannot see it.]"
"""Replaces what the model cannot be given of a tool's result. Refusing it would end an agent's conversation, as each
later request repeats the result."""
_FORMATS = "PNG, JPEG, WebP, GIF, BMP or TIFF"
_NO_PIXELS = ("", "image/svg+xml")
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]{0,20}):", re.IGNORECASE | re.ASCII)
# PDFs that are read at a time, however many requests there are.
_READERS = threading.BoundedSemaphore(2)
_POLL_SECONDS = 0.05

B = TypeVar("B", bound=Body)
T = TypeVar("T")
Given = Part | Attachment


class UnreadableError(ApiError):
    """A part of a request holds nothing that a model could be given."""

    def __init__(self, message: str) -> None:
        """Give the reason as a sentence."""
        super().__init__(HTTPStatus.BAD_REQUEST, message)


class ImageAddress(Body):
    """The address of an image, in OpenAI's dialect."""

    url = Text(required=True)
    detail = Text()


class FileBody(Body):
    """A file, in OpenAI's dialect."""

    file_data = Text()
    filename = Text()
    file_id = Text()
    file_url = Text()


class ContentPart(Body):
    """A part of a message's content, in OpenAI's dialect."""

    type = Text(required=True)
    text = Text()
    refusal = Text()
    image_url = Raw(STRING, ImageAddress.schema())
    file = Object(FileBody)
    input_audio = Raw(OBJECT)


class ContentReader:
    """Reads the contents of one request's messages. Not on the event loop, as documents take seconds.

    Attributes:
        warnings: A sentence for each part of a tool's result that was left out.
    """

    def __init__(self, stopped: Callable[[], bool]) -> None:
        """Give up once `stopped` returns True, which is polled."""
        self.warnings: list[str] = []
        self._stopped = stopped
        self._images = 0
        self._documents = 0

    def content(self, given: str | Sequence[B], read: Callable[[B], Iterable[Given]]) -> Content:
        """Return a content: a text, or parts, each of which `read` turns into what the model is given.

        Raises:
            ApiError: A part is invalid or cannot be read.
        """
        if isinstance(given, str):
            return given
        return content_of(_spaced(piece for part in given for piece in read(part)))

    def result(self, given: str | Sequence[B], read: Callable[[B], Iterable[Given]]) -> Content:
        """Return the content of a tool's result, in which `UNSEEN_TEXT` replaces parts that cannot be read.

        Raises:
            ApiError: A part is invalid.
        """

        def read_or_note(part: B) -> Iterable[Given]:
            pieces = self.or_note(part.path(), lambda: tuple(read(part)))
            return (pieces,) if isinstance(pieces, TextPart) else pieces

        return self.content(given, read_or_note)

    def or_note(self, path: str, read: Callable[[], T]) -> T | TextPart:
        """Return what `read` does for the part of a tool's result at `path`, or `UNSEEN_TEXT` if it cannot be read.

        Raises:
            ApiError: The part is invalid.
        """
        try:
            return read()
        except UnreadableError as error:
            self.warnings.append(f"{path} was left out, which the model is told: {error.message}")
            return TextPart(UNSEEN_TEXT)

    def image(self, body: Body, name: str, text: str) -> ImagePart:
        """Return the image in a field, given as base64 or as a data URL.

        Raises:
            ApiError: It is neither, not an image, or one too many.
        """
        return self._image(body.path(name), _decoded(body, name, text, "an image"))

    def file(self, body: Body, name: str, text: str, title: str = "") -> Given:
        """Return the document or image in a field, given as base64 or as a data URL; `title` is its name.

        Raises:
            ApiError: It is neither, has no text, or is one too many; or the server is stopping.
        """
        data = _decoded(body, name, text, "a file")
        if image_kind(data):
            return self._image(body.path(name), data)
        return self._document(body.path(name), data, title)

    def text(self, body: Body, name: str, text: str, title: str = "") -> Attachment:
        """Return the document whose text is in a field; `title` is its name.

        Raises:
            ApiError: It has no text, or is one too many.
        """
        return self._document(body.path(name), text.encode(), title)

    def _document(self, path: str, data: bytes, title: str) -> Attachment:
        """Return the text in the contents of a document, a text or a PDF; `path` is the field's."""
        self._documents += 1
        if self._documents > MOST_DOCUMENTS:
            raise bad_request(f"{path} is one document too many: a request can have at most {MOST_DOCUMENTS}.")
        name = shown_name(Path(title))
        while not _READERS.acquire(timeout=_POLL_SECONDS):
            if self._stopped():
                raise stopped_error()
        try:
            text = text_in(data, name, self._stopped)
        except (DocumentError, PdfError) as error:
            raise UnreadableError(f"{path}: {error.message}") from error
        except CancelledError as error:
            raise stopped_error() from error
        finally:
            _READERS.release()
        return Attachment(name, text, len(data), 0, len(text))

    def _image(self, path: str, data: bytes) -> ImagePart:
        self._images += 1
        if self._images > MOST_IMAGES:
            raise bad_request(f"{path} is one image too many: a request can have at most {MOST_IMAGES}.")
        kind = image_kind(data)
        if kind in _NO_PIXELS:
            what = MEDIA_TYPES.get(kind, "empty" if not data else "not an image")
            raise UnreadableError(f"{path} is {what}; it must be an image as {_FORMATS}.")
        return ImagePart(data)

    # OpenAI's dialect, in chats and in responses

    def openai_part(self, part: ContentPart) -> Iterator[Given]:
        """Yield what the model is given for a part of a chat's message.

        Raises:
            ApiError: The part is invalid or cannot be read.
        """
        if part.type == "text":
            yield TextPart(part.text)
        elif part.type == "refusal":
            yield TextPart(part.refusal)
        elif part.type == "image_url":
            yield self.image_at(part)
        elif part.type == "file":
            yield self.openai_file(part.file)
        elif part.type == "input_audio":
            raise UnreadableError("this model does not support audio input")
        else:
            raise part.wrong("type", "text, image_url or file")

    def image_at(self, part: Body) -> ImagePart:
        """Return the image at the address in `image_url`, which is a text or an object with `url`.

        Raises:
            ApiError: There is no address, or no image in it.
        """
        given = part.raw("image_url")
        if isinstance(given, str):
            return self.image(part, "image_url", given)
        if not isinstance(given, dict):
            raise part.wrong("image_url", "an object with a data URL as its url")
        address = ImageAddress(given, part.path("image_url"))
        return self.image(address, "url", address.url)

    def openai_file(self, file: FileBody) -> Given:
        """Return what is in a file.

        Raises:
            ApiError: It is not in the request, or cannot be read.
        """
        if file.file_data:
            return self.file(file, "file_data", file.file_data, file.filename)
        if file.file_url:
            raise not_fetched(file.path("file_url"))
        if file.file_id:
            raise not_stored(file.path("file_id"), "file_data")
        raise file.wrong("file_data", "a file in base64, or a data URL")


def _decoded(body: Body, name: str, text: str, what: str) -> bytes:
    """Return the bytes of a field, which are in base64 or in a data URL; `what` they should be."""
    scheme = _SCHEME.match(text)
    kind = scheme[1].lower() if scheme else ""
    if kind in ("http", "https"):
        raise not_fetched(body.path(name))
    head, comma, payload = text.partition(",") if kind == "data" else ("data:;base64", ",", text)
    if not comma or kind not in ("", "data"):
        raise UnreadableError(body.wrong(name, f"{what} in base64, or a data URL", text).message)
    if not head.lower().rstrip().endswith(";base64"):
        return unquote_to_bytes(payload)
    if any(space in payload for space in "\r\n"):
        payload = payload.replace("\r", "").replace("\n", "")
    try:
        return binascii.a2b_base64(payload, strict_mode=True)
    except ValueError as error:
        shown = body.wrong(name, f"{what} in base64, or a data URL", text)
        raise UnreadableError(shown.message) from error


def not_stored(path: str, right: str) -> UnreadableError:
    """Return the error for a field that names a file of an earlier request; `right` is the field for its contents."""
    return UnreadableError(f"{path} names a stored file, and Sotto stores none: send its contents in {right}.")


def not_fetched(path: str) -> UnreadableError:
    """Return the error for a field with a web address."""
    return UnreadableError(
        f"{path} is a web address, and Sotto does not fetch what is there: send the data itself in base64."
    )


def _spaced(pieces: Iterable[Given]) -> Iterator[Part]:
    """Yield parts, with documents as texts and an empty line around each of these."""
    last: Given | None = None
    for piece in pieces:
        if isinstance(piece, TextPart) and not piece.text:
            continue
        if last is not None and (isinstance(piece, Attachment) or isinstance(last, Attachment)):
            yield TextPart("\n\n")
        yield TextPart(piece.shown) if isinstance(piece, Attachment) else piece
        last = piece
