"""A window of its own with a list of pages at the left and the current page at the right."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QHBoxLayout, QListWidget, QWidget

from sotto.ui.toolkit import theme
from sotto.ui.toolkit.screens import centre, fit
from sotto.ui.toolkit.translation import tr

# No window needs to be wider than this, in pixels, however large the text is.
_WIDEST_MINIMUM = 900


class PagedWindow(QWidget):
    """The settings or the help; it opens over the main window and closes with Escape.

    Attributes:
        names: The identifiers of the pages, in order.
        list: The titles of the pages.
    """

    def __init__(self, parent: QWidget, title: str, names: Sequence[str], size: tuple[int, int], least: int) -> None:
        """Create the window, hidden and without pages.

        Args:
            parent: Owner of the window.
            title: Its title.
            names: The identifiers of the pages.
            size: Its first size in pixels, at 13 px text.
            least: Its minimum width, likewise.
        """
        super().__init__(parent, Qt.WindowType.Window)
        self.setObjectName("settings")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self.names = tuple(names)
        self._least = least
        self.list = QListWidget()
        self.list.setObjectName("pages")
        self.list.setAccessibleName(tr("{title} pages").format(title=title))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.list.setTabKeyNavigation(False)
        self.list.currentRowChanged.connect(self.show_page)
        self._layout = QHBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(0)
        self._layout.addWidget(self.list)
        theme.current().changed.connect(self.fit_to_text_size)
        self.resize(theme.current().scaled(size[0]), theme.current().scaled(size[1]))
        # The width that was chosen, and the one that large text made of it.
        self._chosen = self._made = self.width()

    def set_content(self, content: QWidget) -> None:
        """Put the widget that shows the pages beside the list, and show the first page; the list must be filled."""
        self._layout.addWidget(content, 1)
        self.fit_to_text_size()
        self.list.setCurrentRow(0)

    def open(self, page: str = "") -> None:
        """Show the window in front, at the page with this identifier if one is given."""
        if page:
            self.list.setCurrentRow(self.names.index(page))
        if not self.isVisible():
            parent = self.parentWidget()
            centre(self, parent.geometry() if parent is not None else None)
            fit(self, self.minimumSize())
        self.show()
        self.raise_()
        self.activateWindow()
        self.list.setFocus()

    def show_page(self, row: int) -> None:
        """Show the page in a row of the list."""
        raise NotImplementedError

    def fit_to_text_size(self) -> None:
        """Make the list as wide as its titles."""
        # The margins of the style sheet, and a border.
        self.list.setFixedWidth(self.list.sizeHintForColumn(0) + 2 * theme.GAP_8 + 2)
        least = min(theme.current().scaled(self._least), _WIDEST_MINIMUM)
        if self.width() != self._made:
            self._chosen = self.width()
        self.setMinimumSize(least, 360)
        self._made = max(self._chosen, least)
        self.resize(self._made, self.height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close on Escape or the platform's shortcut for closing windows."""
        if event.key() == Qt.Key.Key_Escape or event.matches(QKeySequence.StandardKey.Close):
            self.close()
            return
        super().keyPressEvent(event)
