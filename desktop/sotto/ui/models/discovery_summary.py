"""What was found before the first message: how many models, where Sotto looked, and how to add more."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from sotto.store.records import ModelRecord
from sotto.ui.state import wording
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.widgets import ElidedLabel, IconButton, IconLabel, Label

# Weights in 4 bits, with their scales, take about so many bytes for each parameter; contexts want room beside them.
_BYTES_PER_PARAMETER = 0.6
_FOR_OTHERS, _SHARE = 3e9, 0.75
_TIERS = (1, 3, 8, 14, 32, 70, 120)


@dataclass(frozen=True, slots=True)
class SearchedPlace:
    """A place where models were looked for.

    Attributes:
        title: Whose it is.
        path: Where it is, for people.
        said_by: The variable that says so; may be empty.
        there: Whether it is there.
        models: How many models are in it.
    """

    title: str
    path: str
    said_by: str
    there: bool
    models: int


class DiscoverySummary(QFrame):
    """A frame under the greeting.

    Signals:
        unfolded: There is more to see than before.
        add_wanted: Another folder should be looked into.
        rescan_wanted: The stores should be read again.
    """

    unfolded = Signal()
    add_wanted = Signal()
    rescan_wanted = Signal()

    def __init__(self) -> None:
        """Begin with nothing found."""
        super().__init__()
        self.setObjectName("finds")
        self._shows: bool | None = None
        self._sign = IconLabel("folder", "muted", 18)
        self.headline = Label("", "strong", wrap=True)
        self.hint = Label("", "caption", wrap=True)
        self.toggle = IconButton("down", "Where Sotto looked", "Where Sotto looked")
        self.toggle.clicked.connect(self._toggle)
        self.add = IconButton("folder", "Add a folder of models", "Add folder…", role="outlined", color="text")
        self.add.clicked.connect(self.add_wanted)
        self.rescan = IconButton("refresh", "Look for models again", "Rescan", role="outlined", color="text")
        self.rescan.clicked.connect(self.rescan_wanted)
        self.places = QWidget()
        self._grid = QGridLayout(self.places)
        self._grid.setContentsMargins(0, theme.GAP_4, 0, 0)
        self._grid.setHorizontalSpacing(theme.GAP_12)
        self._grid.setVerticalSpacing(theme.GAP_4)
        self._grid.setColumnStretch(1, 1)
        self._arrange()
        self.show_finds((), (), 0)

    def _arrange(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(theme.GAP_8)
        top.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignTop)
        said = QVBoxLayout()
        said.setSpacing(2)
        said.addWidget(self.headline)
        said.addWidget(self.hint)
        top.addLayout(said, 1)
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.GAP_8)
        buttons.addWidget(self.toggle)
        buttons.addStretch(1)
        buttons.addWidget(self.add)
        buttons.addWidget(self.rescan)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.GAP_16, theme.GAP_12, theme.GAP_16, theme.GAP_12)
        layout.setSpacing(theme.GAP_8)
        layout.addLayout(top)
        layout.addWidget(self.places)
        layout.addLayout(buttons)

    def show_finds(self, records: Sequence[ModelRecord], places: Sequence[SearchedPlace], memory: int) -> None:
        """Show what was found.

        Args:
            records: Every model of the list.
            places: Where they were looked for.
            memory: Bytes of memory that the machine has; 0 when that is not known.
        """
        found = [record for record in records if not record.builtin and record.present]
        many = "1 model" if len(found) == 1 else f"{wording.count(len(found))} models"
        total = wording.size(sum(record.size for record in found))
        self.headline.setText(f"Found {many} you already have ({total})" if found else "No other models found yet")
        self.hint.setText(
            "Sotto reads them where they are, and changes nothing there. Or drop one anywhere on this window."
            if found
            else " ".join(
                part
                for part in (
                    "Models that Ollama, Hugging Face tools or LM Studio download appear here by themselves.",
                    "Or get one by its name, below the list; or drop a model’s folder or manifest anywhere on this "
                    "window.",
                    suggestion(memory),
                )
                if part
            )
        )
        self._show_places(places)
        shown = not found if self._shows is None else self._shows
        self.places.setVisible(shown and bool(places))
        self.toggle.set_icon("up" if shown else "down", "Where Sotto looked")
        self.setAccessibleName(f"{self.headline.text()}. {self.hint.text()}")

    def _show_places(self, places: Sequence[SearchedPlace]) -> None:
        while self._grid.count():
            item = self._grid.takeAt(0)
            if item is not None and (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        for row, place in enumerate(places):
            state = "not there"
            if place.there:
                state = {0: "no models", 1: "1 model"}.get(place.models, f"{wording.count(place.models)} models")
            said = f"{place.path} ({place.said_by})" if place.said_by else place.path
            path = ElidedLabel(said, "caption")
            path.setAccessibleName(f"{place.title}, {said}, {state}")
            for column, label in enumerate((Label(place.title, "caption"), path, Label(state, "caption"))):
                self._grid.addWidget(label, row, column)
                label.show()

    def _toggle(self) -> None:
        self._shows = self.places.isHidden()
        self.places.setVisible(self._shows)
        self.toggle.set_icon("up" if self._shows else "down", "Where Sotto looked")
        if self._shows:
            self.unfolded.emit()


def suggestion(memory: int) -> str:
    """Say which models are of a good size for a machine; empty when its memory is not known."""
    room = _SHARE * memory - _FOR_OTHERS
    fitting = [tier for tier in _TIERS if tier * 1e9 * _BYTES_PER_PARAMETER <= room]
    if memory <= 0:
        return ""
    best = fitting[-1] if fitting else _TIERS[0]
    return f"With {wording.size(memory)} of memory, models of up to about {best}B in 4 bits suit this machine."
