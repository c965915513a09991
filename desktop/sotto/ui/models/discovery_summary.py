"""The frame on the first page: how many models were found, where Sotto looked, and how to get more."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from sotto.store.records import ModelRecord
from sotto.ui.state import wording
from sotto.ui.state.names import join_sentences
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.flow_layout import FlowLayout
from sotto.ui.toolkit.translation import tr
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
    """What was found, with buttons to get a model and to add a folder.

    Signals:
        unfolded: The list of places was unfolded.
        add_wanted: The user wants to add a folder.
        get_wanted: The user wants to download a model.
    """

    unfolded = Signal()
    add_wanted = Signal()
    get_wanted = Signal()

    def __init__(self) -> None:
        """Create the frame, with nothing found."""
        super().__init__()
        self.setObjectName("finds")
        self._icon = IconLabel("folder", "muted", 18)
        self.headline = Label("", "strong", wrap=True)
        self.hint = Label("", "caption", wrap=True)
        self.toggle = IconButton("down", tr("Searched folders"), tr("Searched folders"))
        self.toggle.clicked.connect(self._toggle)
        self.add = IconButton("folder", tr("Add a model folder"), tr("Add folder…"), role="outlined", color="text")
        self.add.clicked.connect(self.add_wanted)
        self.get = IconButton("drop", tr("Get a model"), tr("Get a model…"), role="outlined", color="text")
        self.get.clicked.connect(self.get_wanted)
        self.places = QWidget()
        self.grid = QGridLayout(self.places)
        self.grid.setContentsMargins(0, theme.GAP_4, 0, 0)
        self.grid.setHorizontalSpacing(theme.GAP_12)
        self.grid.setVerticalSpacing(theme.GAP_4)
        self.grid.setColumnStretch(1, 1)
        self._arrange()
        self.places.hide()
        self.headline.setText(tr("Looking for models…"))

    def _arrange(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(theme.GAP_8)
        top.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(self.headline)
        texts.addWidget(self.hint)
        top.addLayout(texts, 1)
        buttons = FlowLayout(None, theme.GAP_8)
        for button in (self.get, self.add, self.toggle):
            buttons.addWidget(button)
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
        if found:
            headline = _found_line(len(found), sum(record.size for record in found))
            hint = tr("Sotto reads them in place and never changes them. Drop a model here to add it.")
        else:
            headline = tr("No other models found yet")
            hint = tr(
                "Models of Ollama, LM Studio and Hugging Face tools appear by themselves. Drop a model here to add it."
            )
            hint = join_sentences((hint, suggest_size(memory)))
        self.headline.setText(headline)
        self.hint.setText(hint)
        self._show_places(places)
        self.setAccessibleName(f"{headline}. {hint}")

    def _show_places(self, places: Sequence[SearchedPlace]) -> None:
        while self.grid.count():
            item = self.grid.takeAt(0)
            if item is not None and (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        for row, place in enumerate(places):
            state = _count_models(place.models) if place.exists else tr("not found")
            where = f"{place.path} ({place.variable})" if place.variable else place.path
            path = ElidedLabel(where, "caption")
            path.setAccessibleName(f"{place.title}, {where}, {state}")
            for column, label in enumerate((Label(place.title, "caption"), path, Label(state, "caption"))):
                self.grid.addWidget(label, row, column)
                label.show()

    def _toggle(self) -> None:
        unfolded = self.places.isHidden()
        self.places.setVisible(unfolded)
        self.toggle.set_icon("up" if unfolded else "down", tr("Searched folders"))
        if unfolded:
            self.unfolded.emit()


def _found_line(number: int, size: int) -> str:
    line = tr("Found 1 model you already have ({size})|Found {count} models you already have ({size})", "", number)
    return line.format(count=wording.count(number), size=wording.size(size))


def _count_models(number: int) -> str:
    return tr("1 model|{count} models", "", number).format(count=wording.count(number)) if number else tr("no models")


def suggest_size(memory: int) -> str:
    """Return a sentence that suggests a size of models for a machine with `memory` bytes; empty if 0 (unknown)."""
    room = _USABLE_SHARE * memory - _RESERVED_BYTES
    fitting = [size for size in _BILLIONS_OF_PARAMETERS if size * 1e9 * _BYTES_PER_PARAMETER <= room]
    if memory <= 0:
        return ""
    best = fitting[-1] if fitting else _BILLIONS_OF_PARAMETERS[0]
    suggestion = tr("4-bit models of up to about {billions}B suit this machine ({size} of memory).")
    return suggestion.format(billions=best, size=wording.size(memory))
