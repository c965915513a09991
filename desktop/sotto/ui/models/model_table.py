"""The models of the library as a table: a Qt model that asks the library's parts for what each cell shows."""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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
    marks,
    matches,
    projection_line,
    quantization,
    searched_text,
    source_names,
    verdict,
)
from sotto.ui.models.model_notes import ModelNotes
from sotto.ui.models.state_line import loading_line
from sotto.ui.preferences.preferences import MODEL_COLUMNS, PreferenceStore
from sotto.ui.state import wording
from sotto.ui.state.memory_estimate import Fit
from sotto.ui.state.model_state import ModelState, Phase
from sotto.ui.state.names import join_facts, join_names, model_name, short_name
from sotto.ui.toolkit.translation import QT_TR_NOOP, tr
from sotto.ui.toolkit.widgets import plain_tip

if TYPE_CHECKING:
    from sotto.store.disk_use import DiskUse

Index = QModelIndex | QPersistentModelIndex
_TITLES = {
    "name": QT_TR_NOOP("Name"),
    "parameters": QT_TR_NOOP("Parameters"),
    "bits": QT_TR_NOOP("Bits"),
    "fit": QT_TR_NOOP("Fit"),
    "context": QT_TR_NOOP("Context"),
    "source": QT_TR_NOOP("Source"),
    "used": QT_TR_NOOP("Last used"),
    "disk": QT_TR_NOOP("Disk use"),
}
# Columns of numbers, which are sorted from the largest at the first click.
NUMBERS = frozenset(("parameters", "context", "used", "disk"))
RIGHT_ALIGNED = frozenset(("parameters", "context", "disk"))
_NUMBER = re.compile(r"\d+")
_BEST_FIRST = tuple(Fit)


@dataclass(frozen=True, slots=True)
class Row:
    """What the table shows of a model, kept until something changes because cells are painted often.

    Attributes:
        texts: The texts of the cells by column; empty where nothing is known.
        verdict: Whether the model is loaded or fits; None while something is under way, or nothing is known.
        memory: The memory that it uses if it is loaded, or else would; empty if unknown.
        marks: What the user chose for it, as `marks` in `model_description` returns it.
        loaded: Whether it is loaded.
    """

    texts: Mapping[str, str]
    verdict: Verdict | None
    memory: str
    marks: tuple[tuple[str, str, str], ...]
    loaded: bool


class ModelTable(QAbstractTableModel):
    """One row per model, one column per entry of `MODEL_COLUMNS`, sorted and filtered.

    Signals:
        arranged: Rows were added, removed or moved.

    Attributes:
        records: The models in the rows.
        titles: The titles of the columns.
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
        self.titles = {column: tr(title) for column, title in _TITLES.items()}
        # By identity: what is shown of models that somebody has asked for, and what is searched of each.
        self._rows: dict[str, Row] = {}
        self._searched: dict[str, str] = {}
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
        self._searched = {_identity(record): searched_text(record) for record in records}
        self.refresh()

    def show_disk_use(self, use: "DiskUse") -> None:
        """Show the disk space of the models, which was the size of one copy of each before."""
        self._disk = use
        self.refresh()

    def filter(self, text: str) -> None:
        """Show only models whose properties contain every word of `text`."""
        self._filter = text
        self._arrange()

    def refresh(self) -> None:
        """Show what is known now, in the chosen order."""
        self._rows.clear()
        self._arrange()

    def _make_row(self, record: ModelRecord) -> Row:
        texts = {
            "name": short_name(record.name),
            "parameters": wording.parameters(record.parameters),
            "bits": quantization(record),
            "fit": self._fit_text(record),
            "context": wording.count(record.context_length) if record.context_length else "",
            "source": ", ".join(source_names(record)),
            "used": self._used_text(record),
            "disk": wording.size(self.disk_bytes(record)) if record.present else "",
        }
        chosen = marks(record, favourite=self._notes.is_favourite(record), pinned=self._notes.is_pinned(record))
        loaded = self._state_of(record).loaded
        return Row(texts, self._verdict(record), self._memory(record), chosen, loaded)

    def _arrange(self) -> None:
        column, descending = self.order
        found = (record for record in self._all if matches(self._searched[_identity(record)], self._filter))
        shown = sorted(found, key=_by_name)
        keyed = [(self._keys[column](record), record) for record in shown]
        known = sorted((pair for pair in keyed if pair[0] is not None), key=lambda pair: pair[0], reverse=descending)
        self._replace((*(record for _, record in known), *(record for key, record in keyed if key is None)))

    def _replace(self, records: tuple[ModelRecord, ...]) -> None:
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

    @property
    def widths(self) -> Mapping[str, float]:
        """The widths that the user has given to columns, in pixels at 13 px text."""
        return self._preferences.values.models_widths

    def keep_widths(self, changed: Mapping[str, float]) -> None:
        """Remember the widths of some columns."""
        self._preferences.change(models_widths={**self.widths, **changed})

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
        size = self._disk.total if self._disk else None
        if shown < all_:
            models = tr("{shown} of 1 model|{shown} of {count} models", "", all_)
            counted = sum(self.disk_bytes(record) for record in self.records if record.present)
            # What they share is counted for each of them.
            size = min(counted, size) if size is not None else counted
        else:
            models = tr("1 model|{count} models", "", all_)
        models = models.format(shown=wording.count(shown), count=wording.count(all_))
        if size is None or (all_ and not shown):
            return models
        return join_facts((models, tr("{size} on disk").format(size=wording.size(size))))

    # Cells

    def row(self, record: ModelRecord) -> Row:
        """Return what is shown of a model."""
        identity = _identity(record)
        if identity not in self._rows:
            self._rows[identity] = self._make_row(record)
        return self._rows[identity]

    def _verdict(self, record: ModelRecord) -> Verdict | None:
        state = self._state_of(record)
        if state.phase in (Phase.LOADING, Phase.UNLOADING):
            return None
        measured = self._planner.measured(record) is not None
        return verdict(record, state, self._planner.projection(record).fit if measured else None)

    def _memory(self, record: ModelRecord) -> str:
        state, plan = self._state_of(record), self._planner.projection(record).plan
        if state.loaded:
            return wording.size(state.actual) if state.actual else ""
        needed = plan.needed if plan is not None and record.runnable and record.present else None
        return wording.size(needed) if needed is not None else ""

    def _fit_text(self, record: ModelRecord) -> str:
        state, shown = self._state_of(record), self._verdict(record)
        if state.phase is Phase.LOADING:
            return loading_line(state) or tr("Loading…")
        if state.phase is Phase.UNLOADING:
            return tr("Ejecting…")
        return join_facts((shown.word, self._memory(record))) if shown is not None else ""

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
            line = projection_line(projection, self._planner.memory)
            if projection.plan is None:
                return line
            context = projection.plan.context
            with_context = tr("With a context of 1 token.|With a context of {count} tokens.", "", context)
            return f"{line}\n{with_context.format(count=wording.count(context))}"
        if column == "fit":
            return record.reason
        if column == "used" and (used := self._preferences.values.last_used.get(record.name)):
            return QLocale().toString(QDateTime.fromSecsSinceEpoch(int(used)), QLocale.FormatType.ShortFormat)
        if column == "disk" and record.also:
            return tr("All copies together, in {places}").format(places=join_names(source_names(record)))
        return self.row(record).texts[column]

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
        row = self.row(record)
        if role == Qt.ItemDataRole.DisplayRole:
            return row.texts[column]
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(self._tip(record, column))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            if column == "name":
                return ", ".join((model_name(record.name), *(tr(meaning) for _, meaning, _ in row.marks)))
            return row.texts[column] or (tr("never") if column == "used" else tr("unknown"))
        if role == Qt.ItemDataRole.AccessibleDescriptionRole and column == "name":
            return row.texts["fit"]
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the title of a column, or the order in which a first click sorts by it."""
        if orientation is not Qt.Orientation.Horizontal:
            return None
        column = MODEL_COLUMNS[section]
        if role == Qt.ItemDataRole.InitialSortOrderRole:
            return Qt.SortOrder.DescendingOrder if column in NUMBERS else Qt.SortOrder.AscendingOrder
        if role == Qt.ItemDataRole.AccessibleTextRole and column == self.order[0]:
            text = tr("{title}, sorted down") if self.order[1] else tr("{title}, sorted up")
            return text.format(title=self.titles[column])
        shown = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole)
        return self.titles[column] if role in shown else None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column, and remember that."""
        descending = "-" if order is Qt.SortOrder.DescendingOrder else ""
        self._preferences.change(models_sort=f"{descending}{MODEL_COLUMNS[column]}")
        self._arrange()


def _identity(record: ModelRecord) -> str:
    return record.digest or str(record.path)


def _by_name(record: ModelRecord) -> str:
    return short_name(record.name).casefold()


def _bits(record: ModelRecord) -> int | None:
    number = _NUMBER.search(record.quantization)
    return int(number[0]) if number else None
