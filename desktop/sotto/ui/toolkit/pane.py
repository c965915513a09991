"""The base class of what is beside the sidebar: the chat, or a page in its place."""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from sotto.ui.toolkit import theme
from sotto.ui.toolkit.notice import Notice
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import IconButton


class Pane(QWidget):
    """A widget with a place for notices and a button that brings the sidebar back.

    Attributes:
        notice: Shows notices while the pane is in view.
        notice_row: Contains the notice, and takes up no room without one.
        sidebar_button: Shows the sidebar; visible only while that is not beside the pane.
    """

    def __init__(self) -> None:
        """Create the parts that each pane arranges by itself."""
        super().__init__()
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.notice = Notice()
        self.notice_row = _NoticeRow(self.notice)
        self.sidebar_button = IconButton("sidebar", tr("Show sidebar"), color="text")

    def take_focus(self) -> None:
        """Focus what the user works with."""
        raise NotImplementedError

    def step_back(self) -> bool:
        """Close what the user opened last in the pane, or leave the pane; return whether there was anything."""
        raise NotImplementedError


class _NoticeRow(QWidget):
    """Margins around a notice that are hidden together with it."""

    def __init__(self, notice: Notice) -> None:
        super().__init__()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.GAP_16, theme.GAP_12, theme.GAP_16, theme.GAP_12)
        layout.addWidget(notice)
        notice.installEventFilter(self)
        self.hide()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.ShowToParent, QEvent.Type.HideToParent):
            self.setVisible(event.type() == QEvent.Type.ShowToParent)
        return super().eventFilter(watched, event)
