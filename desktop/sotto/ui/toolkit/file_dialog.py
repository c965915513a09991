"""Dialogs in which the user chooses files or folders."""

from collections.abc import Iterable

from PySide6.QtCore import QDir, Qt
from PySide6.QtWidgets import QFileDialog, QWidget


class FileDialog(QFileDialog):
    """A file dialog that opens where the last one was left, and is deleted when it closes.

    The first one opens in the home folder. Qt would choose the folder that the app was started from, which may be any.
    """

    _last_folder = ""

    def __init__(self, parent: QWidget, title: str, kinds: Iterable[tuple[str, str]] = ()) -> None:
        """Create the dialog, hidden.

        Args:
            parent: The window that it opens over.
            title: Its title.
            kinds: The kinds of files that can be chosen, each with its patterns: `("Models", "*.gguf *.json")`. None
                for all files.
        """
        filters = ";;".join(f"{name} ({patterns})" for name, patterns in kinds)
        super().__init__(parent, title, FileDialog._last_folder or QDir.homePath(), filters)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.accepted.connect(self._keep_folder)

    def _keep_folder(self) -> None:
        FileDialog._last_folder = self.directory().absolutePath()
