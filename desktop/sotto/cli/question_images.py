"""Images that a question shows: those of `--image`, and in a conversation those whose paths are in it, as in Ollama."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sotto.engine.contract.events import ModelInfo
from sotto.engine.contract.message_content import Content, ImagePart, TextPart, content_of
from sotto.errors import InvalidRequestError
from sotto.images.image_decoding import FORMATS, MOST_BYTES
from sotto.images.image_kinds import image_kind
from sotto.store.printable import printable_path

# A word that may be a path, as shells write it: in quotes, or with a backslash before each blank.
_WORD = re.compile(
    r"""(?<![^\s(])(?:'(?P<single>[^'\n]+)'|"(?P<double>[^"\n]+)"|(?P<plain>(?:\\.|[^\s\\'"(])(?:\\.|[^\s\\])*))"""
)
_ENDS = ".,;:!?)'\""
_ESCAPED = re.compile(r"\\(.)")
_BEGINNING = 4096


@dataclass(frozen=True, slots=True)
class FoundImage:
    """An image whose path is in a text.

    Attributes:
        path: The file.
        begins: Where the path begins in the text, with any quote.
        ends: Where it ends, exclusive.
    """

    path: Path
    begins: int
    ends: int


def read_image(given: str) -> ImagePart:
    """Return the image that `--image` names.

    Raises:
        InvalidRequestError: It is not a file that can be read, or has no image in it.
    """
    if given == "-":
        raise InvalidRequestError("--image - cannot be read, as stdin holds the prompt: give the path of a file.")
    return _read(Path(given).expanduser())


def check_sees(info: ModelInfo, images: Sequence[ImagePart]) -> None:
    """Raise InvalidRequestError if there are images for a model that does not see."""
    if images and not info.sees:
        raise InvalidRequestError(f"{info.name} does not see images: choose a model that does, or leave --image out.")


def find_images(text: str) -> list[FoundImage]:
    """Return the images whose paths are in a text. Only paths with a slash count, and only files that are images."""
    found = []
    for word in _WORD.finditer(text):
        quoted, plain = word["single"] or word["double"], word["plain"]
        # A sentence may go on right after a path, or end there.
        for written in (quoted,) if quoted else dict.fromkeys((plain, plain.rstrip(_ENDS))):
            path = Path(quoted or _ESCAPED.sub(r"\1", written))
            if "/" in written and _is_image(path := _expanded(path)):
                found.append(FoundImage(path, word.start(), word.end() if quoted else word.start() + len(written)))
                break
    return found


def with_images(text: str, found: Sequence[FoundImage], images: Sequence[ImagePart] = ()) -> Content:
    """Return a question with images before its text, without the paths of those that were found in it.

    Raises:
        InvalidRequestError: An image cannot be read.
    """
    for image in reversed(found):
        before, after = text[: image.begins], text[image.ends :]
        text = before + (after.removeprefix(" ") if before.endswith(" ") or not before else after)
    return content_of((*images, *(_read(image.path) for image in found), TextPart(text.strip() if found else text)))


def _expanded(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError:  # there is no such user
        return path


def _is_image(path: Path) -> bool:
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return bool(image_kind(file.read(_BEGINNING)))
    except (OSError, ValueError):
        return False


def _read(path: Path) -> ImagePart:
    name = printable_path(path)
    try:
        if path.exists() and not path.is_file():
            raise InvalidRequestError(f"{name} is not a file: give the path of an image.")
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InvalidRequestError(f"{name} cannot be read: {error.strerror or error}.") from error
    if len(data) > MOST_BYTES:
        raise InvalidRequestError(
            f"{name} is larger than {MOST_BYTES / 1e6:.0f} MB: make it smaller, or save it as JPEG."
        )
    if not image_kind(data):
        raise InvalidRequestError(f"{name} is not an image: give {FORMATS}.")
    return ImagePart(data)
