"""What a person keeps about models: favourites, an order, which stay loaded, and how long a context is for each."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Signal

from sotto.store.records import ModelRecord
from sotto.ui.preferences.preferences import PreferenceStore
from sotto.ui.state.memory_estimate import Fit
from sotto.ui.state.names import short_name

_BEST_FIRST = tuple(Fit)


class ModelNotes(QObject):
    """Reads and writes the preferences that are about models; each model is known by its digest.

    Signals:
        changed: The order, or a mark on a model, is another one.
        contexts_changed: Another length of context is chosen, for a model or for all.
    """

    changed = Signal()
    contexts_changed = Signal()

    def __init__(self, preferences: PreferenceStore, parent: QObject | None = None) -> None:
        """Keep everything in `preferences`."""
        super().__init__(parent)
        self._preferences = preferences
        self._before, self._contexts_before = self._marks(), self._contexts()
        preferences.changed.connect(self._compare)

    @property
    def order(self) -> str:
        """What models are sorted by."""
        return self._preferences.values.model_order

    def sort_by(self, order: str) -> None:
        """Sort by something else, one of `MODEL_ORDERS`."""
        self._preferences.change(model_order=order)

    def is_favourite(self, record: ModelRecord) -> bool:
        """Whether a model stands before the others."""
        return record.digest in self._preferences.values.favourites

    def mark_favourite(self, record: ModelRecord, *, favourite: bool) -> None:
        """Put a model before the others, or back among them."""
        self._preferences.change(favourites=_marked(self._preferences.values.favourites, record.digest, favourite))

    def is_pinned(self, record: ModelRecord) -> bool:
        """Whether a model stays in memory once it is loaded."""
        return self._preferences.values.is_pinned(record.digest)

    def pin(self, record: ModelRecord, *, pinned: bool) -> None:
        """Keep a model in memory, or let it go when it is idle."""
        self._preferences.change(pinned_models=_marked(self._preferences.values.pinned_models, record.digest, pinned))

    def context_of(self, record: ModelRecord) -> int | None:
        """Return the tokens of context that were chosen for a model; None where none were."""
        return self._preferences.values.chosen_context(record.digest)

    def choose_context(self, record: ModelRecord, tokens: int | None) -> None:
        """Choose how long a context a model is loaded with; None for as many as fit well."""
        others = tuple(one for one in self._preferences.values.contexts if one.rpartition(":")[0] != record.digest)
        chosen = () if tokens is None else (f"{record.digest}:{tokens}",)
        self._preferences.change(contexts=others + chosen)

    def ordered(self, records: Sequence[ModelRecord], fit: Callable[[ModelRecord], Fit]) -> list[ModelRecord]:
        """Return models in the order that was chosen, favourites first; what is equal stays as it was."""
        used = self._preferences.values.recent_models

        def place(record: ModelRecord) -> tuple[object, ...]:
            if self.order == "name":
                return (short_name(record.name).casefold(),)
            if self.order == "size":
                return (record.size,)
            if self.order == "fit":
                return (_BEST_FIRST.index(fit(record)), -record.size)
            return (used.index(record.name) if record.name in used else len(used),)

        return sorted(records, key=lambda record: (not self.is_favourite(record), place(record)))

    def _marks(self) -> tuple[object, ...]:
        values = self._preferences.values
        return values.model_order, values.favourites, values.pinned_models

    def _contexts(self) -> tuple[object, ...]:
        values = self._preferences.values
        return values.num_ctx, values.contexts

    def _compare(self) -> None:
        before, self._before = self._before, self._marks()
        if before != self._before:
            self.changed.emit()
        contexts_before, self._contexts_before = self._contexts_before, self._contexts()
        if contexts_before != self._contexts_before:
            self.contexts_changed.emit()


def _marked(digests: tuple[str, ...], digest: str, wanted: bool) -> tuple[str, ...]:
    others = tuple(one for one in digests if one != digest)
    return (*others, digest) if wanted else others
