"""Connects the page to find models with the suggestions, the search, the memory of this machine and the downloads."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from sotto.errors import InvalidNameError
from sotto.store.finding.finder import Finder, Found, LookedAt
from sotto.store.finding.hub_address import shown_host
from sotto.store.finding.hub_records import FoundModel
from sotto.store.finding.suggestions import Suggestion, suggestions
from sotto.store.sources.hugging_face_names import parse_wanted, wanted_name
from sotto.ui.gallery import offer_words
from sotto.ui.gallery.finding_page import FindingPage
from sotto.ui.gallery.offers import Machine, Offer, Section, found_offer, named_offer, suggested_offers
from sotto.ui.models.models_controller import ModelsController
from sotto.ui.session.model_library import ModelLibrary
from sotto.ui.state.names import join_sentences, model_name
from sotto.ui.toolkit.translation import tr

if TYPE_CHECKING:
    from sotto.ui.timing.async_tasks import AsyncTasks

# A search begins when nothing has been typed for so long.
_DELAY_MS = 350
_FEWEST_LETTERS = 2


class FindingController(QObject):
    """Fills the page. Nothing is sent before something is typed there.

    Signals:
        link_asked: The user wants to see a page on the web (its address).

    Attributes:
        page: The page.
    """

    link_asked = Signal(str)
    _reported = Signal(object)

    def __init__(self, models: ModelsController, library: ModelLibrary, parent: QObject | None = None) -> None:
        """Offer models to download with `models`, and mark those that are in the library."""
        super().__init__(parent)
        self._models, self._library = models, library
        self._tasks: AsyncTasks | None = None
        self._suggested: Sequence[Offer] = ()
        self._found: tuple[FoundModel, ...] = ()
        # What the models that were looked at are, by their names; and why that failed, in English.
        self._looked: dict[str, FoundModel] = {}
        self._failed: dict[str, str] = {}
        # The model that is being looked at, by its name.
        self._looking = ""
        self._searching, self._problem = False, ""
        self._round = 0
        self._timer = QTimer(self, singleShot=True, interval=_DELAY_MS)
        self._timer.timeout.connect(self._search)
        self._reported.connect(self._take, Qt.ConnectionType.QueuedConnection)
        self.page = self._make_page()

    def begin(self, tasks: "AsyncTasks") -> None:
        """Start what needs the event loop."""
        self._tasks = tasks

    def close(self) -> None:
        """End the search."""
        self._timer.stop()
        if "_finder" in self.__dict__:
            self._finder.close()

    @cached_property
    def _finder(self) -> Finder:
        """What searches, created with the first search."""
        return Finder(self._reported.emit)

    def _make_page(self) -> FindingPage:
        page, downloads = FindingPage(), self._models.downloading.downloads
        page.searched.connect(self._change_search)
        page.chosen.connect(self._choose)
        page.shown.connect(self._renew)
        page.card.get_wanted.connect(self._get)
        page.card.page_wanted.connect(lambda name: self.link_asked.emit(f"https://{shown_host()}/{name}"))
        self._models.planner.planned.connect(self._renew)
        downloads.changed.connect(self._show_presence)
        self._library.changed.connect(self._show_presence)
        return page

    # The list

    @Slot()
    def _renew(self) -> None:
        """Work out again how everything fits, while it can be seen."""
        if self._tasks is not None and self.page.isVisible():
            self._tasks.start(self._offer(self._tasks))

    async def _offer(self, tasks: "AsyncTasks") -> None:
        self._round += 1
        started, text = self._round, self.page.field.text().strip()
        machine = Machine(self._models.planner.memory, *self._models.planner.device)
        found = [self._looked.get(model.id, model) for model in self._found]
        offers, more = await tasks.call(_offers, suggestions(), found, machine)
        if started == self._round:
            self._suggested = offers
            self._show(text, more)

    def _show(self, text: str, found: Sequence[Offer]) -> None:
        suggested = [
            offer for offer in self._suggested if isinstance(offer.source, Suggestion) and offer.source.matches(text)
        ]
        named = [named_offer(text)] if _is_name(text) else []
        entries: list[Offer | str] = []
        for section, offers in ((Section.NAMED, named), (Section.SUGGESTED, suggested), (Section.FOUND, found)):
            if offers:
                entries += [offer_words.section_title(section, shown_host()), *offers]
        recommended = next((offer for offer in suggested if offer.recommended), None)
        self.page.show_entries(entries, recommended)
        self._show_card(self.page.list.current)

    def _choose(self, offer: Offer | None) -> None:
        source = offer.source if offer is not None else None
        if isinstance(source, FoundModel) and not source.complete and source.id not in {self._looking, *self._failed}:
            self._looking = source.id
            self._finder.look_at(source)
        self._show_card(offer)

    def _show_card(self, offer: Offer | None) -> None:
        if offer is None:
            return
        note, source = "", offer.source
        if isinstance(source, FoundModel):
            failed = self._failed.get(source.id, "")
            looking = "" if source.complete or failed else tr("Looking at its files…")
            gated = tr("Its owner must allow the download first.") if source.gated else ""
            note = join_sentences((gated, failed or looking))
        elif offer.section is Section.NAMED:
            note = self._models.downloading.origin(offer.title)
        self.page.card.show_offer(offer, note)
        self._show_presence()

    def _show_presence(self) -> None:
        card = self.page.card
        if card.offer is None:
            return
        shorts = {name: _short(name) for name in (row.offered.version.name for row in card.rows)}
        coming = {_short(progress.name) for progress in self._models.downloading.downloads.all}
        here = {model_name(record.name) for record in self._library.models if record.own and record.present}
        card.show_presence(
            {name for name, short in shorts.items() if short in here},
            {name for name, short in shorts.items() if short in coming},
        )

    @Slot(str)
    def _get(self, name: str) -> None:
        """Download a version; its button, which has the focus, goes."""
        self._models.downloading.get(name)
        self._show_presence()
        self.page.leave_button()

    # The search

    @Slot(str)
    def _change_search(self, text: str) -> None:
        """Show at once what is known already, and search once nothing more is typed."""
        self._found, self._problem = (), ""
        self._failed.clear()
        if "_finder" in self.__dict__:
            self._finder.search("")
        wanted = len(text.strip()) >= _FEWEST_LETTERS and ":" not in text
        self._searching = wanted
        if wanted:
            self._timer.start()
        else:
            self._timer.stop()
        self._show(text.strip(), ())
        self.show_status()
        self._renew()

    @Slot()
    def _search(self) -> None:
        self._finder.search(self.page.field.text().strip())

    @Slot(object)
    def _take(self, outcome: Found | LookedAt) -> None:
        """Take the outcome of a search, unless something else is searched for now."""
        if isinstance(outcome, LookedAt):
            if outcome.model.id == self._looking:
                self._looking = ""
            if outcome.problem:
                self._failed[outcome.model.id] = outcome.problem
            else:
                self._looked[outcome.model.id] = outcome.model
        elif outcome.words == self.page.field.text().strip():
            self._found, self._problem, self._searching = outcome.models, outcome.problem, False
            self.show_status(announced=True)
        self._renew()

    def show_status(self, *, announced: bool = False) -> None:
        """Show where what is typed is sent, and how the search goes; `announced` if screen readers should hear it."""
        where = tr("What you type here is sent to {host}.").format(host=shown_host())
        if self._searching:
            now = tr("Searching…")
        elif self._problem:
            now = self._problem
        elif self.page.field.text().strip() and announced and not self._found:
            now = tr("Nothing was found there.")
        else:
            now = ""
        self.page.show_status(join_sentences((where, now)), announced=announced and bool(now))


def _offers(
    known: Sequence[Suggestion], found: Sequence[FoundModel], machine: Machine
) -> tuple[list[Offer], list[Offer]]:
    """Return the offers of what is suggested and found; for a worker thread."""
    return suggested_offers(known, machine), [found_offer(model, machine) for model in found]


def _is_name(text: str) -> bool:
    """Return whether a text is meant as the whole name of a model, and not as words to search for."""
    if ":" not in text and "/" not in text:
        return False
    try:
        parse_wanted(text)
    except InvalidNameError:
        return False
    return True


def _short(name: str) -> str:
    """Return a name to download as the list of models shows it."""
    return model_name(wanted_name(parse_wanted(name)))
