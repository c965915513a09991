"""The images of conversations: those for a model, those that are shown, and those that are not on the disk yet.

Images are large, so memory holds only those of the last request; all others are read when they are needed. They are
decoded in bounded processes, for which threads of their own wait.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QImage

from sotto.chats.image_store import ImageStore, MissingImageError
from sotto.engine.contract.message_content import ImagePart
from sotto.errors import SottoError
from sotto.ui.conversation.pictures import thumbnails
from sotto.ui.conversation.pictures.image_work import ImageWork
from sotto.ui.toolkit.translation import tr

if TYPE_CHECKING:
    from sotto.chats.attachable import Attachable
    from sotto.chats.chat_store import ChatStore


class StoreWork(Protocol):
    """Has work done on the store of conversations, and calls `then` with its result on the window's thread."""

    def __call__(self, work: "Callable[[ChatStore], Any]", then: Callable[[Any], None]) -> None:
        """Submit work; it is done in the order in which it is submitted."""


class ChatImages(QObject):
    """Reads and decodes the images of conversations, and has new ones saved."""

    def __init__(self, path: Path, do: StoreWork, parent: QObject | None = None) -> None:
        """Read the images of the conversations in the file `path`; `do` has new ones saved."""
        super().__init__(parent)
        self._do = do
        self._files = ImageStore(path)
        # What is not saved yet, or cannot be, by digest.
        self._unsaved: dict[str, bytes] = {}
        self._recent: Mapping[str, ImagePart] = {}
        self._work = ImageWork(self)
        thumbnails.current().wanted.connect(self._make_thumbnail)

    def keep(self, digest: str, data: bytes) -> None:
        """Save an image, to which a draft will refer; until it is saved it stays in memory."""
        self._unsaved[digest] = data
        self._do(lambda store: store.keep_image(data), self._forget)

    def data(self, digest: str) -> bytes:
        """Return the contents of an image's file; for any thread.

        Raises:
            MissingImageError: It is no longer there.
        """
        unsaved = self._unsaved.get(digest)
        return unsaved if unsaved is not None else self._files.read(digest)

    def load(self, digests: Iterable[str], then: Callable[[Mapping[str, ImagePart]], None]) -> None:
        """Call `then` with those of these images that are there, by digest; at once if nothing has to be read."""
        wanted = frozenset(digests)
        self._recent = {digest: part for digest, part in self._recent.items() if digest in wanted}
        if not wanted - self._recent.keys():
            then(self._recent)
            return
        known = self._recent

        def read(_: "ChatStore") -> Mapping[str, ImagePart]:
            return {digest: part for digest in wanted if (part := known.get(digest) or self._part(digest)) is not None}

        def loaded(parts: Mapping[str, ImagePart]) -> None:
            self._recent = parts
            then(parts)

        self._do(read, loaded)

    def decode(
        self,
        digest: str,
        name: str,
        then: Callable[[QImage], None],
        otherwise: Callable[[str], None],
        receiver: QObject,
    ) -> None:
        """Decode an image, and call `then` with its pixels, or `otherwise` with why it cannot be, in a sentence.

        Nothing is called once `receiver` is deleted.
        """

        def work() -> QImage:
            from sotto.images.image_decoding import decode_image

            found = decode_image(self.data(digest), name, self._work.is_closed)
            width, height = found.width, found.height
            # The copy owns its pixels.
            return QImage(found.pixels, width, height, 3 * width, QImage.Format.Format_RGB888).copy()

        self._work.start(work, then, otherwise, receiver)

    def save(
        self,
        digest: str,
        path: Path,
        then: Callable[[None], None],
        otherwise: Callable[[str], None],
        receiver: QObject,
    ) -> None:
        """Write the file of an image, as it came, to a path; see `decode`."""

        def work() -> None:
            data = self.data(digest)
            try:
                path.write_bytes(data)
            except OSError as error:
                why = tr("{file} could not be written: {reason}.").format(file=path, reason=error.strerror or error)
                raise SottoError(why) from error

        self._work.start(work, then, otherwise, receiver)

    def shrink(
        self,
        digest: str,
        name: str,
        factor: float,
        then: Callable[["Attachable"], None],
        otherwise: Callable[[str], None],
        receiver: QObject,
    ) -> None:
        """Make an image whose sides are shorter by a factor, and call `then` with it; see `decode`."""

        def work() -> "Attachable":
            from sotto.chats.attachable import attachable_image
            from sotto.images.image_decoding import image_size, thumbnail

            data = self.data(digest)
            longest = max(1, round(factor * max(image_size(data, name, self._work.is_closed))))
            smaller = thumbnail(data, longest, name, self._work.is_closed)
            return attachable_image(smaller, name, self._work.is_closed)

        self._work.start(work, then, otherwise, receiver)

    def close(self) -> None:
        """Give up what is being decoded."""
        self._work.close()

    def _forget(self, digest: str) -> None:
        self._unsaved.pop(digest, None)

    def _part(self, digest: str) -> ImagePart | None:
        try:
            part = ImagePart(self.data(digest))
        except MissingImageError:
            return None
        return part if part.digest == digest else None

    @Slot(str)
    def _make_thumbnail(self, digest: str) -> None:
        def work() -> bytes:
            from sotto.chats.attachable import THUMBNAIL_PIXELS
            from sotto.images.image_decoding import thumbnail

            return thumbnail(self.data(digest), THUMBNAIL_PIXELS, stopped=self._work.is_closed)

        shown = thumbnails.current()
        self._work.start(work, lambda png: shown.add(digest, png), lambda why: shown.fail(digest, why), self)
