"""The images of chats that are exported: as files beside Markdown, and made small for pages."""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from sotto.chats.chat_records import Attachment, Picture
from sotto.chats.image_store import MissingImageError
from sotto.errors import CancelledError, SottoError
from sotto.images.image_decoding import thumbnail
from sotto.images.image_kinds import image_kind
from sotto.store.atomic_writing import replace_atomically
from sotto.ui.conversation.pictures.chat_images import ChatImages
from sotto.ui.toolkit.translation import tr
from sotto.ui.transfer.file_names import UniqueNames, file_name

_PAGE_PIXELS = 720
_SUFFIXES = {"image/jpeg": ".jpg", "image/tiff": ".tif"}


class ImageFolder:
    """A folder beside a file of Markdown, which links to the images in it."""

    def __init__(self, path: Path, images: ChatImages) -> None:
        """Prepare the folder of the file `path`; it is created if there are images."""
        self._folder = path.with_name(tr("{name} images").format(name=path.stem))
        self._images = images
        self._names, self._files = UniqueNames(), dict[str, str]()

    def link(self, picture: Picture) -> str:
        """Return Markdown that shows an image, which `write` then writes."""
        if picture.digest not in self._files:
            stem, dot, suffix = picture.name.rpartition(".")
            try:
                kind = image_kind(self._images.data(picture.digest))
            except MissingImageError:
                return picture.name
            suffix = f".{suffix}" if dot and len(suffix) <= 4 else _SUFFIXES.get(kind, f".{kind.partition('/')[2]}")
            self._files[picture.digest] = f"{self._names.of(file_name(stem or picture.name))}{suffix}"
        place = quote(f"{self._folder.name}/{self._files[picture.digest]}")
        return f"![{_escaped(picture.name)}]({place})"

    def write(self, stopped: Callable[[], bool]) -> None:
        """Write the files of all images that were linked to.

        Raises:
            SottoError: One is no longer there.
            OSError: One cannot be written.
        """
        if self._files:
            self._folder.mkdir(exist_ok=True)
        for digest, name in self._files.items():
            if stopped():
                return
            replace_atomically(self._folder / name, self._images.data(digest))


class PagePictures:
    """Makes the images of pages small."""

    def __init__(self, images: ChatImages, stopped: Callable[[], bool]) -> None:
        """Read `images`; `stopped` is polled and returns whether to give up."""
        self._images, self._stopped = images, stopped

    def of(self, attachment: Attachment) -> bytes:
        """Return an image as PNG; empty if there is none that can be shown."""
        try:
            return thumbnail(self._images.data(attachment.image), _PAGE_PIXELS, stopped=self._stopped)
        except (CancelledError, SottoError):
            # What is no longer there is named, like a document.
            return b""


def _escaped(text: str) -> str:
    return "".join(f"\\{letter}" if letter in "\\[]*_`" else letter for letter in text)
