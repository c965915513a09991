"""The switch between the versions of a message."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from sotto.chats.chat_records import Turn
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import IconButton, Label


class VersionSwitch(QWidget):
    """Shows which version of a message is displayed, with buttons for the others; hidden if there is only one.

    Signals:
        wanted: The user wants to see the version with this id.
    """

    wanted = Signal(int)

    def __init__(self) -> None:
        """Create the switch, hidden."""
        super().__init__()
        self._turn: Turn | None = None
        self.older = IconButton("left", tr("Previous version"))
        self.newer = IconButton("right", tr("Next version"))
        self.place = Label("", "caption")
        self.older.clicked.connect(lambda: self._step(-1))
        self.newer.clicked.connect(lambda: self._step(1))
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        for widget in (self.older, self.place, self.newer):
            layout.addWidget(widget)
        self.hide()

    def show_versions(self, turn: Turn) -> None:
        """Show the number of `turn` among its versions."""
        self._turn = turn
        index = turn.versions.index(turn.id) if turn.id in turn.versions else 0
        self.place.setText(f"{index + 1} / {len(turn.versions)}")
        # As wide as for the last version, so that the buttons stay under the pointer.
        self.place.setFixedWidth(self.place.fontMetrics().horizontalAdvance("0" * len(self.place.text())))
        self.place.setAlignment(Qt.AlignmentFlag.AlignCenter)
        place = tr("Version {number} of {count}").format(number=index + 1, count=len(turn.versions))
        self.place.setAccessibleName(place)
        self.older.setEnabled(index > 0)
        self.newer.setEnabled(index + 1 < len(turn.versions))
        self.setVisible(len(turn.versions) > 1)

    def take_focus(self, focus: QWidget | None, before: "VersionSwitch") -> bool:
        """Focus the button that stands for the focused one of the switch `before`; return whether there was one.

        At the first and last version, the other button gets the focus.
        """
        if focus is None or focus not in (before.older, before.newer):
            return False
        wanted, other = (self.older, self.newer) if focus is before.older else (self.newer, self.older)
        (wanted if wanted.isEnabled() else other).setFocus()
        return True

    def _step(self, by: int) -> None:
        if self._turn is not None and self._turn.id in self._turn.versions:
            self.wanted.emit(self._turn.versions[self._turn.versions.index(self._turn.id) + by])
