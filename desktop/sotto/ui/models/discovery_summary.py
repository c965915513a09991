"""The frame under the greeting: how many models were found, where Sotto looked, and how to add more."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from sotto.store.records import ModelRecord
from sotto.ui.state import wording
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.widgets import ElidedLabel, IconButton, IconLabel, Label

# Estimate for suggestions: 4-bit weights take about 0.6 bytes per parameter, scales included. A quarter of the memory
# and another 3 GB are left to contexts and other programs.
_BYTES_PER_PARAMETER = 0.6
_RESERVED_BYTES, _USABLE_SHARE = 3e9, 0.75
_BILLIONS_OF_PARAMETERS = (1, 3, 8, 14, 32, 70, 120)


@dataclass(frozen=True, slots=True)
class SearchedPlace:
    """A place that was searched for models.

    Attributes:
        title: Name of the program or person that it belongs to.
        path: Where it is, as displayed.
        variable: Environment variable that sets the path; may be empty.
        exists: Whether the folder exists now.
        models: Number of models found in it.
    """

    title: str
    path: str
    variable: str
    exists: bool
    models: int


class DiscoverySummary(QFrame):
    """What was found, with buttons to add a folder and to search again.

    Signals:
        unfolded: The list of places was unfolded.
        add_wanted: The user wants to add a folder.
        rescan_wanted: The user wants all stores to be searched again.
    """

    unfolded = Signal()
    add_wanted = Signal()
    rescan_wanted = Signal()

    def __init__(self) -> None:
        """Create the frame, with nothing found."""
        super().__init__()
        self.setObjectName("finds")
        self._unfolded: bool | None = None
        self._icon = IconLabel("folder", "muted", 18)
        self.headline = Label("", "strong", wrap=True)
        self.hint = Label("", "caption", wrap=True)
        self.toggle = IconButton("down", "Searched folders", "Searched folders")
        self.toggle.clicked.connect(self._toggle)
        self.add = IconButton("folder", "Add a model folder", "Add folder…", role="outlined", color="text")
        self.add.clicked.connect(self.add_wanted)
        self.rescan = IconButton("refresh", "Rescan models", "Rescan", role="outlined", color="text")
        self.rescan.clicked.connect(self.rescan_wanted)
        self.places = QWidget()
        self.grid = QGridLayout(self.places)
        self.grid.setContentsMargins(0, theme.GAP_4, 0, 0)
        self.grid.setHorizontalSpacing(theme.GAP_12)
        self.grid.setVerticalSpacing(theme.GAP_4)
        self.grid.setColumnStretch(1, 1)
        self._arrange()
        self.show_found((), (), 0)

    def _arrange(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(theme.GAP_8)
        top.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(self.headline)
        texts.addWidget(self.hint)
        top.addLayout(texts, 1)
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

    def show_found(self, records: Sequence[ModelRecord], places: Sequence[SearchedPlace], memory: int) -> None:
        """Display what was found.

        Args:
            records: All models in the list.
            places: Places that were searched.
            memory: The machine's memory in bytes; 0 if unknown.
        """
        found = [record for record in records if not record.builtin and record.present]
        many = "1 model" if len(found) == 1 else f"{wording.count(len(found))} models"
        total = wording.size(sum(record.size for record in found))
        self.headline.setText(f"Found {many} you already have ({total})" if found else "No other models found yet")
        self.hint.setText(
            "Sotto reads them in place and never changes them. Drop a model here to add it."
            if found
            else " ".join(
                part
                for part in (
                    "Models that you download with Ollama, Hugging Face tools or LM Studio appear here.",
                    "You can also download one by name below the list, or drop a model’s folder or manifest on "
                    "this window.",
                    suggest_size(memory),
                )
                if part
            )
        )
        self._show_places(places)
        shown = not found if self._unfolded is None else self._unfolded
        self.places.setVisible(shown and bool(places))
        self.toggle.set_icon("up" if shown else "down", "Searched folders")
        self.setAccessibleName(f"{self.headline.text()}. {self.hint.text()}")

    def _show_places(self, places: Sequence[SearchedPlace]) -> None:
        while self.grid.count():
            item = self.grid.takeAt(0)
            if item is not None and (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        for row, place in enumerate(places):
            state = "not there"
            if place.exists:
                state = {0: "no models", 1: "1 model"}.get(place.models, f"{wording.count(place.models)} models")
            where = f"{place.path} ({place.variable})" if place.variable else place.path
            path = ElidedLabel(where, "caption")
            path.setAccessibleName(f"{place.title}, {where}, {state}")
            for column, label in enumerate((Label(place.title, "caption"), path, Label(state, "caption"))):
                self.grid.addWidget(label, row, column)
                label.show()

    def _toggle(self) -> None:
        self._unfolded = self.places.isHidden()
        self.places.setVisible(self._unfolded)
        self.toggle.set_icon("up" if self._unfolded else "down", "Searched folders")
        if self._unfolded:
            self.unfolded.emit()


def suggest_size(memory: int) -> str:
    """Return a sentence that suggests a size of models for a machine with `memory` bytes; empty if 0 (unknown)."""
    room = _USABLE_SHARE * memory - _RESERVED_BYTES
    fitting = [size for size in _BILLIONS_OF_PARAMETERS if size * 1e9 * _BYTES_PER_PARAMETER <= room]
    if memory <= 0:
        return ""
    best = fitting[-1] if fitting else _BILLIONS_OF_PARAMETERS[0]
    return f"With {wording.size(memory)} of memory, models of up to about {best}B in 4 bits suit this machine."
