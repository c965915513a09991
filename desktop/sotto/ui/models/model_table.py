"""The models of the library as a table: a Qt model that asks the library's parts for what each cell shows."""

import re
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QDateTime,
    QLocale,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from sotto.runner.residents import is_same_model
from sotto.store.records import ModelRecord
from sotto.ui.models.memory_planner import MemoryPlanner
from sotto.ui.models.model_description import (
    Verdict,
    matches,
    projection_line,
    quantization,
    source_names,
    verdict,
)
from sotto.ui.models.model_notes import ModelNotes
from sotto.ui.models.state_line import loading_line
from sotto.ui.preferences.preferences import MODEL_COLUMNS, PreferenceStore
from sotto.ui.state import wording
from sotto.ui.state.memory_estimate import Fit
from sotto.ui.state.model_state import ModelState, Phase
from sotto.ui.state.names import join_names, model_name, short_name
from sotto.ui.toolkit.widgets import plain_tip

if TYPE_CHECKING:
    from sotto.store.disk_use import DiskUse

Index = QModelIndex | QPersistentModelIndex
TITLES = {
    "name": "Name",
    "parameters": "Parameters",
    "bits": "Bits",
    "fit": "Fit",
    "context": "Context",
    "source": "Source",
    "used": "Last used",
    "disk": "Disk use",
}
# Columns of numbers, which are sorted from the largest at the first click.
NUMBERS = frozenset(("parameters", "context", "used", "disk"))
RIGHT_ALIGNED = frozenset(("parameters", "context", "disk"))
_NUMBER = re.compile(r"\d+")
_BEST_FIRST = tuple(Fit)


class ModelTable(QAbstractTableModel):
    """One row per model, one column per entry of `MODEL_COLUMNS`, sorted and filtered.

    Signals:
        arranged: Rows were added, removed or moved.

    Attributes:
        records: The models in the rows.
    """

    arranged = Signal()

    def __init__(
        self,
        notes: ModelNotes,
        planner: MemoryPlanner,
        state_of: Callable[[ModelRecord], ModelState],
        preferences: PreferenceStore,
        parent: QObject | None = None,
    ) -> None:
        """Begin without models.

        Args:
            notes: The user's choices about models.
            planner: Plans how each model would fit into memory.
            state_of: Returns the state of a model.
            preferences: Contain the order, and when models were last used.
            parent: The Qt parent.
        """
        super().__init__(parent)
        self._notes, self._planner, self._state_of, self._preferences = notes, planner, state_of, preferences
        self._all: tuple[ModelRecord, ...] = ()
        self._filter = ""
        self._disk: DiskUse | None = None
        self.records: tuple[ModelRecord, ...] = ()
        self._texts: dict[str, Callable[[ModelRecord], str]] = {
            "name": lambda record: short_name(record.name),
            "parameters": lambda record: wording.parameters(record.parameters),
            "bits": quantization,
            "fit": self._fit_text,
            "context": lambda record: wording.count(record.context_length) if record.context_length else "",
            "source": lambda record: ", ".join(source_names(record)),
            "used": self._used_text,
            "disk": lambda record: wording.size(self.disk_bytes(record)) if record.present else "",
        }
        # None sorts last in both directions.
        self._keys: dict[str, Callable[[ModelRecord], Any]] = {
            "name": _by_name,
            "parameters": lambda record: record.parameters,
            "bits": _bits,
            "fit": self._fit_key,
            "context": lambda record: record.context_length,
            "source": lambda record: [name.casefold() for name in source_names(record)],
            "used": lambda record: preferences.values.last_used.get(record.name),
            "disk": lambda record: self.disk_bytes(record) if record.present else None,
        }

    # Contents

    def show_models(self, records: Sequence[ModelRecord]) -> None:
        """Replace the models."""
        self._all = tuple(records)
        self.refresh()

    def show_disk_use(self, use: "DiskUse") -> None:
        """Show the disk space of the models, which was the size of one copy of each before."""
        self._disk = use
        self.refresh()

    def filter(self, text: str) -> None:
        """Show only models whose properties contain every word of `text`."""
        self._filter = text
        self.refresh()

    def refresh(self) -> None:
        """Show what is known now, in the chosen order."""
        column, descending = self.order
        shown = sorted((record for record in self._all if matches(record, self._filter)), key=_by_name)
        keyed = [(self._keys[column](record), record) for record in shown]
        known = sorted((pair for pair in keyed if pair[0] is not None), key=lambda pair: pair[0], reverse=descending)
        self._arrange((*(record for _, record in known), *(record for key, record in keyed if key is None)))

    def _arrange(self, records: tuple[ModelRecord, ...]) -> None:
        before = [_identity(record) for record in self.records]
        rows = {_identity(record): row for row, record in enumerate(records)}
        if before == list(rows):
            self.records = records
            if records:
                self.dataChanged.emit(self.index(0, 0), self.index(len(records) - 1, len(MODEL_COLUMNS) - 1))
            return
        if set(before) == set(rows):
            self.layoutAboutToBeChanged.emit()
            self.records = records
            for index in self.persistentIndexList():
                self.changePersistentIndex(index, self.index(rows[before[index.row()]], index.column()))
            self.layoutChanged.emit()
        else:
            self.beginResetModel()
            self.records = records
            self.endResetModel()
        self.arranged.emit()

    @property
    def order(self) -> tuple[str, bool]:
        """The column that the rows are sorted by, and whether descending."""
        chosen = self._preferences.values.models_sort
        return chosen.removeprefix("-"), chosen.startswith("-")

    def row_of(self, record: ModelRecord) -> int | None:
        """Return the row of a model; None if it is not shown."""
        return next((row for row, other in enumerate(self.records) if is_same_model(other, record)), None)

    def disk_bytes(self, record: ModelRecord) -> int:
        """Return the disk space of a model with all its copies, or that of one copy before they were counted."""
        return self._disk.models.get(record.digest, record.size) if self._disk else record.size

    @property
    def summary(self) -> str:
        """The number of models that are shown, and the disk space that they take up."""
        shown, all_ = len(self.records), len(self._all)
        models = "1 model" if all_ == 1 else f"{wording.count(all_)} models"
        if not shown and all_:
            return f"0 of {models}"
        if shown < all_:
            size = sum(self.disk_bytes(record) for record in self.records if record.present)
            # What they share is counted for each of them.
            known = min(size, self._disk.total) if self._disk else size
            return f"{wording.count(shown)} of {models} · {wording.size(known)} on disk"
        return f"{models} · {wording.size(self._disk.total)} on disk" if self._disk else models

    # Cells

    def state(self, record: ModelRecord) -> ModelState:
        """Return the state of a model."""
        return self._state_of(record)

    def text(self, record: ModelRecord, column: str) -> str:
        """Return the text of a cell; empty if nothing is known."""
        return self._texts[column](record)

    def verdict(self, record: ModelRecord) -> Verdict | None:
        """Return whether a model is loaded or fits; None while something is under way, or nothing is known."""
        state = self._state_of(record)
        if state.phase in (Phase.LOADING, Phase.UNLOADING):
            return None
        measured = self._planner.measured(record) is not None
        return verdict(record, state, self._planner.projection(record).fit if measured else None)

    def number(self, record: ModelRecord) -> str:
        """Return the memory that a loaded model uses, or that another one would; empty if unknown."""
        state, plan = self._state_of(record), self._planner.projection(record).plan
        if state.loaded:
            return wording.size(state.actual) if state.actual else ""
        needed = plan.needed if plan is not None and record.runnable and record.present else None
        return wording.size(needed) if needed is not None else ""

    def marks(self, record: ModelRecord) -> list[tuple[str, str, str]]:
        """Return icon, meaning and colour token of what the user chose for a model."""
        marks = [("star-full", "favourite", "warn")] if self._notes.is_favourite(record) else []
        return [*marks, ("pin", "stays loaded", "muted")] if self._notes.is_pinned(record) else marks

    def _fit_text(self, record: ModelRecord) -> str:
        state, shown = self._state_of(record), self.verdict(record)
        if state.phase is Phase.LOADING:
            return loading_line(state) or "Loading…"
        if state.phase is Phase.UNLOADING:
            return "Ejecting…"
        return " · ".join(filter(None, (shown.word, self.number(record)))) if shown is not None else ""

    def _fit_key(self, record: ModelRecord) -> tuple[int, int] | None:
        if not (record.runnable and record.present):
            return None
        if self._state_of(record).loaded:
            return (-1, 0)
        projection = self._planner.projection(record)
        needed = projection.plan.needed if projection.plan is not None else None
        return (_BEST_FIRST.index(projection.fit), needed or 0)

    def _used_text(self, record: ModelRecord) -> str:
        used = self._preferences.values.last_used.get(record.name)
        return wording.ago(time.time() - used) if used else ""

    def _tip(self, record: ModelRecord, column: str) -> str:
        if column == "name":
            return record.name
        if column == "fit" and record.runnable and record.present:
            projection = self._planner.projection(record)
            context = projection.plan.context if projection.plan is not None else 0
            with_context = f"With a context of {wording.count(context)} tokens." if context else ""
            return "\n".join(filter(None, (projection_line(projection, self._planner.memory), with_context)))
        if column == "fit":
            return record.reason
        if column == "used" and (used := self._preferences.values.last_used.get(record.name)):
            return QLocale().toString(QDateTime.fromSecsSinceEpoch(int(used)), QLocale.FormatType.ShortFormat)
        if column == "disk" and record.also:
            return f"All copies together, in {join_names(source_names(record))}"
        return self._texts[column](record)

    # Qt

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of models that are shown."""
        return 0 if parent.isValid() else len(self.records)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of columns."""
        return 0 if parent.isValid() else len(MODEL_COLUMNS)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the text of a cell, its tip or its accessible text."""
        if not index.isValid():
            return None
        record, column = self.records[index.row()], MODEL_COLUMNS[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return self._texts[column](record)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(self._tip(record, column))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            if column == "name":
                return ", ".join((model_name(record.name), *(meaning for _, meaning, _ in self.marks(record))))
            return self._texts[column](record) or ("never" if column == "used" else "unknown")
        if role == Qt.ItemDataRole.AccessibleDescriptionRole and column == "name":
            return self._texts["fit"](record)
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the title of a column, or the order in which a first click sorts by it."""
        if orientation is not Qt.Orientation.Horizontal:
            return None
        column = MODEL_COLUMNS[section]
        if role == Qt.ItemDataRole.InitialSortOrderRole:
            return Qt.SortOrder.DescendingOrder if column in NUMBERS else Qt.SortOrder.AscendingOrder
        if role == Qt.ItemDataRole.AccessibleTextRole and column == self.order[0]:
            return f"{TITLES[column]}, sorted {'down' if self.order[1] else 'up'}"
        shown = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole)
        return TITLES[column] if role in shown else None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column, and remember that."""
        descending = "-" if order is Qt.SortOrder.DescendingOrder else ""
        self._preferences.change(models_sort=f"{descending}{MODEL_COLUMNS[column]}")
        self.refresh()


def _identity(record: ModelRecord) -> str:
    return record.digest or str(record.path)


def _by_name(record: ModelRecord) -> str:
    return short_name(record.name).casefold()


def _bits(record: ModelRecord) -> int | None:
    number = _NUMBER.search(record.quantization)
    return int(number[0]) if number else None
