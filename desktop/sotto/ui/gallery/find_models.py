"""The way to the page to find models, which is created on first use.

A window's first paint must not wait for its modules, so that they are imported here only then.
"""

from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from sotto.ui.models.models_controller import ModelsController
from sotto.ui.session.model_library import ModelLibrary

if TYPE_CHECKING:
    from sotto.ui.gallery.finding_controller import FindingController
    from sotto.ui.gallery.finding_page import FindingPage
    from sotto.ui.timing.async_tasks import AsyncTasks


class FindModels(QObject):
    """Brings the page to find models into view.

    Signals:
        page_wanted: The page should come into view (`FindingPage`).
        left: The user wants to return from it to the chat.
        link_asked: The user wants to see a page on the web (its address).
    """

    page_wanted = Signal(object)
    left = Signal()
    link_asked = Signal(str)

    def __init__(self, models: ModelsController, library: ModelLibrary, parent: QObject | None = None) -> None:
        """Offer models to download with `models`, and mark those that are in the library."""
        super().__init__(parent)
        self._models, self._library = models, library
        self._tasks: AsyncTasks | None = None
        models.finding_wanted.connect(self.open)

    def begin(self, tasks: "AsyncTasks") -> None:
        """Start what needs the event loop."""
        self._tasks = tasks
        if self._used:
            self._controller.begin(tasks)

    def close(self) -> None:
        """End the search."""
        if self._used:
            self._controller.close()

    @property
    def page(self) -> "FindingPage":
        """The page, created on first use."""
        return self._controller.page

    @Slot()
    def open(self) -> None:
        """Bring the page into view."""
        self._controller.show_status()
        self.page_wanted.emit(self.page)

    @property
    def _used(self) -> bool:
        """Whether the page has been created."""
        return "_controller" in self.__dict__

    @cached_property
    def _controller(self) -> "FindingController":
        from sotto.ui.gallery.finding_controller import FindingController

        controller = FindingController(self._models, self._library, self)
        controller.page.left.connect(self.left)
        controller.link_asked.connect(self.link_asked)
        if self._tasks is not None:
            controller.begin(self._tasks)
        return controller
