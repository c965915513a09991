"""The images of conversations: those for a model, those that are shown, and those that are not on the disk yet.

Images are large, so memory holds only those of the last request; all others are read when they are needed. They are
decoded in bounded processes, for which threads of their own wait.
"""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtGui import QImage
from shiboken6 import isValid

from sotto.chats.image_store import ImageStore, MissingImageError
from sotto.engine.contract.message_content import ImagePart
from sotto.errors import CancelledError, SottoError
from sotto.ui.conversation import thumbnails

if TYPE_CHECKING:
    from sotto.chats.attachable import Attachable
    from sotto.chats.chat_store import ChatStore
    from sotto.ui.conversation.chat_thread import ChatThread

_T = TypeVar("_T")


class ChatImages(QObject):
    """Reads and decodes the images of conversations, and has new ones saved."""

    _done = Signal(object)

    def __init__(self, chats: "ChatThread") -> None:
        """Read images of the conversations of `chats`."""
        super().__init__(chats)
        self._chats = chats
        self._files = ImageStore(chats.path)
        # What is not saved yet, or cannot be, by digest.
        self._unsaved: dict[str, bytes] = {}
        self._recent: Mapping[str, ImagePart] = {}
        self._pool: ThreadPoolExecutor | None = None
        self._closed = False
        self._done.connect(self._call, Qt.ConnectionType.QueuedConnection)
        thumbnails.current().wanted.connect(self._make_thumbnail)

    def keep(self, digest: str, data: bytes) -> None:
        """Save an image, to which a draft will refer; until it is saved it stays in memory."""
        self._unsaved[digest] = data
        self._chats.do(lambda store: store.keep_image(data), self._forget)

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

        self._chats.do(read, loaded)

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

            found = decode_image(self.data(digest), name, self._is_closed)
            width, height = found.width, found.height
            # The copy owns its pixels.
            return QImage(found.pixels, width, height, 3 * width, QImage.Format.Format_RGB888).copy()

        self._start(work, then, otherwise, receiver)

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
                raise SottoError(f"{path} could not be written: {error.strerror or error}.") from error

        self._start(work, then, otherwise, receiver)

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
            longest = max(1, round(factor * max(image_size(data, name, self._is_closed))))
            smaller = thumbnail(data, longest, name, self._is_closed)
            return attachable_image(smaller, name, self._is_closed)

        self._start(work, then, otherwise, receiver)

    def close(self) -> None:
        """Give up what is being decoded."""
        self._closed = True
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def _forget(self, digest: str) -> None:
        self._unsaved.pop(digest, None)

    def _is_closed(self) -> bool:
        return self._closed

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

            return thumbnail(self.data(digest), THUMBNAIL_PIXELS, stopped=self._is_closed)

        shown = thumbnails.current()
        self._start(work, lambda png: shown.add(digest, png), lambda why: shown.fail(digest, why), self)

    def _start(
        self,
        work: Callable[[], _T],
        then: Callable[[_T], None],
        otherwise: Callable[[str], None],
        receiver: QObject,
    ) -> None:
        """Do work on a thread of the pool, and report on the window's, as long as `receiver` is there."""

        def run() -> None:
            try:
                result = work()
            except CancelledError:
                pass
            except SottoError as error:
                self._done.emit(partial(_report, receiver, otherwise, error.message))
            except Exception as error:
                # A bug, which is reported from the window's thread.
                self._done.emit(partial(_raise, error))
            else:
                self._done.emit(partial(_report, receiver, then, result))

        if not self._closed:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(2, thread_name_prefix="images")
            self._pool.submit(run)

    @Slot(object)
    def _call(self, callback: Callable[[], None]) -> None:
        callback()


def _report(receiver: QObject, call: Callable[[_T], None], result: _T) -> None:
    if isValid(receiver):
        call(result)


def _raise(error: Exception) -> None:
    raise error
