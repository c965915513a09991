"""The base class of what is beside the sidebar: the chat, or a page in its place."""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from sotto.ui.toolkit import theme
from sotto.ui.toolkit.notice import Notice
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import IconButton


class Pane(QWidget):
    """A widget with a place for notices and a button that brings the sidebar back.

    Attributes:
        notice: Shows notices while the pane is in view.
        sidebar_button: Shows the sidebar; visible only while that is not beside the pane.
    """

    def __init__(self) -> None:
        """Create the parts that each pane arranges by itself."""
        super().__init__()
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.notice = Notice()
        self.sidebar_button = IconButton("sidebar", tr("Show sidebar"), color="text")

    def _lay_out(self, header: QWidget, main: QWidget, card: QWidget) -> None:
        """Put the header on top, notices below it, and below these the main part with a card beside it."""
        row = FollowingRow()
        inside = QVBoxLayout(row)
        inside.setContentsMargins(theme.GAP_16, theme.GAP_12, theme.GAP_16, theme.GAP_12)
        inside.addWidget(self.notice)
        row.follow(self.notice)
        across = QHBoxLayout()
        across.setSpacing(0)
        across.addWidget(main, 1)
        across.addWidget(card)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(header)
        layout.addWidget(row)
        layout.addLayout(across, 1)

    def take_focus(self) -> None:
        """Focus what the user works with."""
        raise NotImplementedError

    def step_back(self) -> bool:
        """Close what the user opened last in the pane, or leave the pane; return whether there was anything."""
        raise NotImplementedError


class FollowingRow(QWidget):
    """A row that can follow a widget in it, so that it takes no room while that is hidden."""

    def follow(self, widget: QWidget) -> None:
        """Be shown and hidden together with `widget`, which is hidden now."""
        self.hide()
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the widget; these events come whether or not the row itself is in view."""
        if event.type() in (QEvent.Type.ShowToParent, QEvent.Type.HideToParent):
            self.setVisible(event.type() == QEvent.Type.ShowToParent)
        return super().eventFilter(watched, event)
