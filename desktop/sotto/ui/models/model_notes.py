"""The user's choices about models: favourites, sort order, pinned models, and a context length for each."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Signal

from sotto.store.records import ModelRecord
from sotto.ui.preferences.preferences import PreferenceStore
from sotto.ui.state.memory_estimate import Fit
from sotto.ui.state.names import short_name

_BEST_FIRST = tuple(Fit)


class ModelNotes(QObject):
    """Reads and writes the preferences about models, which are identified by their digests.

    Signals:
        changed: The sort order, the favourites or the pinned models changed.
        contexts_changed: The context length of one or all models changed.
    """

    changed = Signal()
    contexts_changed = Signal()

    def __init__(self, preferences: PreferenceStore, parent: QObject | None = None) -> None:
        """Store everything in `preferences`."""
        super().__init__(parent)
        self._preferences = preferences
        self._before, self._contexts_before = self._marks(), self._contexts()
        preferences.changed.connect(self._report_changes)

    @property
    def order(self) -> str:
        """The sort order, one of `MODEL_ORDERS`."""
        return self._preferences.values.model_order

    def sort_by(self, order: str) -> None:
        """Set the sort order, one of `MODEL_ORDERS`."""
        self._preferences.change(model_order=order)

    def is_favourite(self, record: ModelRecord) -> bool:
        """Return whether a model is a favourite."""
        return record.digest in self._preferences.values.favourites

    def mark_favourite(self, record: ModelRecord, *, favourite: bool) -> None:
        """Make a model a favourite, or an ordinary one again."""
        self._preferences.change(favourites=_with_mark(self._preferences.values.favourites, record.digest, favourite))

    def is_pinned(self, record: ModelRecord) -> bool:
        """Return whether a model stays loaded when it is idle."""
        return self._preferences.values.is_pinned(record.digest)

    def pin(self, record: ModelRecord, *, pinned: bool) -> None:
        """Keep a model loaded when it is idle, or no longer."""
        self._preferences.change(
            pinned_models=_with_mark(self._preferences.values.pinned_models, record.digest, pinned)
        )

    def context_of(self, record: ModelRecord) -> int | None:
        """Return the context length in tokens that was chosen for a model; None if none was."""
        return self._preferences.values.chosen_context(record.digest)

    def choose_context(self, record: ModelRecord, tokens: int | None) -> None:
        """Choose the context length in tokens that a model is loaded with; None for as long as fits well."""
        others = tuple(
            entry for entry in self._preferences.values.contexts if entry.rpartition(":")[0] != record.digest
        )
        chosen = () if tokens is None else (f"{record.digest}:{tokens}",)
        self._preferences.change(contexts=others + chosen)

    def sort(self, records: Sequence[ModelRecord], fit: Callable[[ModelRecord], Fit]) -> list[ModelRecord]:
        """Return models in the chosen order, favourites first; the sort is stable."""
        used = self._preferences.values.recent_models

        def sort_key(record: ModelRecord) -> tuple[object, ...]:
            if self.order == "name":
                return (short_name(record.name).casefold(),)
            if self.order == "size":
                return (record.size,)
            if self.order == "fit":
                return (_BEST_FIRST.index(fit(record)), -record.size)
            return (used.index(record.name) if record.name in used else len(used),)

        return sorted(records, key=lambda record: (not self.is_favourite(record), sort_key(record)))

    def _marks(self) -> tuple[object, ...]:
        values = self._preferences.values
        return values.model_order, values.favourites, values.pinned_models

    def _contexts(self) -> tuple[object, ...]:
        values = self._preferences.values
        return values.num_ctx, values.contexts

    def _report_changes(self) -> None:
        before, self._before = self._before, self._marks()
        if before != self._before:
            self.changed.emit()
        contexts_before, self._contexts_before = self._contexts_before, self._contexts()
        if contexts_before != self._contexts_before:
            self.contexts_changed.emit()


def _with_mark(digests: tuple[str, ...], digest: str, marked: bool) -> tuple[str, ...]:
    others = tuple(other for other in digests if other != digest)
    return (*others, digest) if marked else others
