"""Gives models of Sotto's own other names, and keeps copies of other programs' models."""

import threading
from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from sotto.errors import CancelledError, SottoError
from sotto.store.records import ModelRecord, Place, Source
from sotto.ui.models.keeping.name_form import NameForm
from sotto.ui.models.model_description import source_name
from sotto.ui.session.session import Session
from sotto.ui.state import wording
from sotto.ui.state.model_state import Problem
from sotto.ui.state.names import join_facts, model_name
from sotto.ui.toolkit.translation import tr

if TYPE_CHECKING:
    from sotto.store.sources.model_names import ModelName
    from sotto.store.upkeep.adopting import Adopted
    from sotto.ui.timing.async_tasks import AsyncTasks

_OFFER_SECONDS = 60.0

Act = Callable[["ModelName"], "Adopted | None"]


class ModelKeeper(QObject):
    """Asks for a name with the form, and carries out what the user wants.

    Signals:
        left: The user is done; the conversation should take the focus.
        load_wanted: A copy should be loaded (`ModelRecord`).
        offered: An action is offered for a while: title, message, label of the action, the action, and for how many
            seconds.
    """

    left = Signal()
    load_wanted = Signal(object)
    offered = Signal(str, str, str, object, float)
    _progressed = Signal(object, object)

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        """Serve the window that `install` is told."""
        super().__init__(parent)
        self._session = session
        self._where: tuple[QWidget, QWidget, QWidget] | None = None
        self._tasks: AsyncTasks | None = None
        self._act: Callable[[str], None] | None = None
        self._stopping = threading.Event()
        self._running = False

    def install(self, centre: QWidget, sidebar: QWidget, foot: QWidget) -> None:
        """Show the form over `centre`, beside `sidebar`, at the height of `foot`."""
        self._where = (centre, sidebar, foot)

    @cached_property
    def form(self) -> NameForm:
        """The form, created on first use, as a window's first paint need not wait for it."""
        assert self._where is not None
        form = NameForm()
        form.install(*self._where)
        form.submitted.connect(self._submit)
        form.stopped.connect(self._stopping.set)
        form.left.connect(self.left)
        # From a worker thread.
        self._progressed.connect(form.show_progress)
        return form

    def begin(self, tasks: "AsyncTasks") -> None:
        """Carry out what is asked for from now on."""
        self._tasks = tasks

    def close(self) -> None:
        """Stop what is under way."""
        self._stopping.set()

    # What can be asked for

    def rename(self, record: ModelRecord) -> None:
        """Ask for another name of a model, and rename it."""
        place = _own_place(record)
        title = tr("Rename {name}").format(name=model_name(place.name))
        self._ask(title, model_name(place.name), tr("Rename"), "", partial(self._rename, place))

    def duplicate(self, record: ModelRecord) -> None:
        """Ask for a second name of a model, and copy it."""
        place = _own_place(record)
        title = tr("Duplicate {name}").format(name=model_name(place.name))
        hint = tr("Both share their files, so that the copy takes up no space.")
        self._ask(title, f"{model_name(place.name)}-copy", tr("Duplicate"), hint, partial(self._duplicate, place))

    def keep(self, record: ModelRecord) -> None:
        """Ask for the name of a copy of another program's model, and adopt it."""
        from sotto.store.upkeep.adopting import suggested_name

        place = record.places[0]
        title = tr("Keep a copy of {name}").format(name=model_name(place.name))
        hint = tr(
            "The copy stays when {program} deletes the model. Where the disk can share files, it takes up no space: "
            "either as a clone, or as a link, which is one file with two names."
        ).format(program=source_name(place.source))
        suggested = model_name(suggested_name(place))
        self._ask(title, suggested, tr("Keep", "keep a copy of a model"), hint, partial(self._keep, record, place))

    def _ask(self, title: str, name: str, button: str, hint: str, act: Callable[[str], None]) -> None:
        if self._running:
            self.form.show_card()
            return
        self._act = act
        self.form.ask(title, name, button, hint)

    @Slot(str)
    def _submit(self, text: str) -> None:
        if self._act is not None and not self._running:
            self._act(text)

    def _rename(self, place: Place, text: str) -> None:
        def act(name: "ModelName") -> None:
            from sotto.store.copying import rename

            rename(place, name)

        self._start(text, act, lambda name, _: self._offer_undo(place, name))

    def _duplicate(self, place: Place, text: str) -> None:
        def act(name: "ModelName") -> None:
            from sotto.store.copying import copy

            copy(place, name)

        title = tr("{name} was duplicated").format(name=model_name(place.name))
        self._start(text, act, lambda name, _: self._offer_load(title, "", name))

    def _keep(self, record: ModelRecord, place: Place, text: str) -> None:
        def act(name: "ModelName") -> "Adopted":
            from sotto.store.upkeep.adopting import adopt

            return adopt(record, place, name, self._progressed.emit, self._stopping.is_set)

        def end(name: str, adopted: "Adopted | None") -> None:
            assert adopted is not None
            title = tr("{name} is kept").format(name=model_name(name))
            self._offer_load(title, _sharing(adopted, source_name(place.source)), name)

        self.form.show_running(True)
        self._start(text, act, end)

    # Carrying it out

    def _start(self, text: str, act: Act, end: Callable[[str, "Adopted | None"], None]) -> None:
        if self._tasks is not None:
            self._stopping.clear()
            self._running = True
            self._tasks.start(self._run(self._tasks, text, act, end))

    async def _run(
        self, tasks: "AsyncTasks", text: str, act: Act, end: Callable[[str, "Adopted | None"], None]
    ) -> None:
        from sotto.store.sources.model_names import parse_name

        try:
            name = parse_name(text)
            adopted = await tasks.call(act, name)
        except CancelledError:
            self.form.show_running(False)
            self.form.hide()
            return
        except SottoError as error:
            if self.form.isVisible():
                self.form.show_error(error.message)
            else:
                self._session.problem.emit(Problem(self.form.title.text(), error.message))
            return
        finally:
            self._running = False
        if self.form.isVisible():
            self.form.close_card()
        self._session.library.rescan()
        end(name.short, adopted)

    def _offer_undo(self, place: Place, name: str) -> None:
        """Offer to give a renamed model its old name again."""
        from sotto.store.removal import own_store
        from sotto.store.sources.model_names import parse_name

        renamed = Place(name, place.source, own_store().joinpath("manifests", *parse_name(name).parts))
        title = tr("{name} was renamed").format(name=model_name(place.name))
        undo = partial(self._rename, renamed, place.name)
        self.offered.emit(title, model_name(name), tr("Undo"), undo, _OFFER_SECONDS)

    def _offer_load(self, title: str, message: str, name: str) -> None:
        self.offered.emit(title, message, tr("Load"), partial(self._load, name), _OFFER_SECONDS)

    def _load(self, name: str) -> None:
        for record in self._session.library.models:
            if any(place.source is Source.SOTTO and place.name == name for place in record.places):
                self.load_wanted.emit(record)
                return


def _own_place(record: ModelRecord) -> Place:
    return next(place for place in record.places if place.source is Source.SOTTO)


def _sharing(adopted: "Adopted", program: str) -> str:
    """Return in a few words how the files of a model became ours."""
    from sotto.store.upkeep.linking import Sharing

    shared = adopted.bytes_by.get(Sharing.CLONED, 0) + adopted.bytes_by.get(Sharing.LINKED, 0)
    copied = adopted.bytes_by.get(Sharing.COPIED, 0)
    return join_facts(
        (
            tr("{size} shared with {program}").format(size=wording.size(shared), program=program) if shared else "",
            tr("{size} copied").format(size=wording.size(copied)) if copied else "",
        )
    )
