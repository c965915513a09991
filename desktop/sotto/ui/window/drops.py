"""What is dragged over the window and dropped on it: models, chats, documents and images."""

from pathlib import Path

from PySide6.QtGui import QDragEnterEvent, QDropEvent

from sotto.ui.composer.composer_controller import ComposerController
from sotto.ui.composer.drop_overlay import DropOverlay, split_drop
from sotto.ui.composer.pasted_images import has_image
from sotto.ui.models.models_controller import ModelsController
from sotto.ui.state.drop_contents import DropContents, read_drop
from sotto.ui.window.panes import Panes


class Drops:
    """Shows what a drop will do, and does it."""

    def __init__(
        self, overlay: DropOverlay, panes: Panes, composing: ComposerController, models: ModelsController
    ) -> None:
        """Show it in `overlay`, which lies on `panes`."""
        self._overlay, self._panes = overlay, panes
        self._composing, self._models = composing, models

    def enter(self, event: QDragEnterEvent) -> None:
        """Accept files, folders and images, and show what dropping them will do."""
        self.accept(event)
        if has_image(event.mimeData()):
            self._overlay.show_image()
        elif event.mimeData().hasUrls():
            dropped = read_drop(event.mimeData())
            self._overlay.show_drop(dropped, self._importable(dropped))

    def accept(self, event: QDropEvent) -> None:
        """Accept files, folders and images."""
        if event.mimeData().hasUrls() or has_image(event.mimeData()):
            event.acceptProposedAction()

    def drop(self, event: QDropEvent) -> None:
        """Load the models and attach the files and images that were dropped."""
        self._overlay.hide()
        self.accept(event)
        if has_image(event.mimeData()):
            self._panes.show_chat()
            self._composing.paste(event.mimeData())
        elif event.mimeData().hasUrls():
            dropped = read_drop(event.mimeData())
            if (source := self._importable(dropped)) is not None:
                self._models.importing.open(source)
                return
            if split_drop(dropped).documents:
                self._panes.show_chat()
            self._composing.drop(dropped)

    def _importable(self, dropped: DropContents) -> Path | None:
        """Return what a drop imports; None if it does something else."""
        split = split_drop(dropped)
        return None if split.documents or split.exports else self._models.importable(split.models)
