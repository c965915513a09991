"""The settings window, in which every change applies at once."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QCloseEvent, QShowEvent
from PySide6.QtWidgets import QListWidgetItem, QStackedWidget, QWidget

from sotto.ui.preferences.preferences import PreferenceStore
from sotto.ui.session.session import Session
from sotto.ui.settings.answers_page import AnswersPage
from sotto.ui.settings.api_page import ApiPage
from sotto.ui.settings.appearance_page import AppearancePage
from sotto.ui.settings.data_page import DataPage
from sotto.ui.settings.engine_choices import EngineChoices
from sotto.ui.settings.engine_page import EnginePage
from sotto.ui.settings.folders_page import FoldersPage
from sotto.ui.settings.memory_page import MemoryPage
from sotto.ui.settings.model_folders import ModelFolders
from sotto.ui.settings.quick_page import QuickPage
from sotto.ui.settings.updates_page import UpdatesPage
from sotto.ui.settings.user_data import UserData
from sotto.ui.toolkit import icons, theme
from sotto.ui.toolkit.form_rows import FormPage
from sotto.ui.toolkit.paged_window import PagedWindow
from sotto.ui.toolkit.translation import tr

if TYPE_CHECKING:
    from sotto.ui.platform.global_shortcut import GlobalShortcut
    from sotto.ui.session.api_switch import ApiSwitch
    from sotto.ui.timing.async_tasks import AsyncTasks
    from sotto.ui.updating.update_checker import UpdateChecker

_P = TypeVar("_P", bound=FormPage)
_SIZE = (780, 600)
_MIN_WIDTH = 580


class SettingsWindow(PagedWindow):
    """The pages of settings, each of which is created when it is first shown.

    Signals:
        link_asked: The user wants to open a web page (its address).
    """

    link_asked = Signal(str)

    def __init__(
        self,
        session: Session,
        preferences: PreferenceStore,
        data: UserData,
        tasks: "AsyncTasks",
        parent: QWidget,
        api: "ApiSwitch | None" = None,
        shortcut: "GlobalShortcut | None" = None,
        updates: "UpdateChecker | None" = None,
    ) -> None:
        """Create the window, hidden.

        Args:
            session: Has the library of models.
            preferences: The preferences to show and change.
            data: What is kept on this machine.
            tasks: Runs slow calls.
            parent: Owner of the window.
            api: Knows the state of the API; None if it cannot run.
            shortcut: Knows whether the global shortcut is available; None without global shortcuts.
            updates: Looks for new versions; None if nothing does.
        """
        factories: dict[type[FormPage], Callable[[], FormPage]] = {
            FoldersPage: lambda: FoldersPage(ModelFolders(session, preferences, tasks, self), preferences),
            AnswersPage: lambda: AnswersPage(preferences),
            MemoryPage: lambda: MemoryPage(EngineChoices(tasks, self), preferences),
            EnginePage: lambda: EnginePage(preferences, EngineChoices(tasks, self)),
            QuickPage: lambda: QuickPage(preferences, tasks, shortcut),
            ApiPage: lambda: ApiPage(preferences, api),
            AppearancePage: lambda: AppearancePage(preferences),
            DataPage: lambda: DataPage(data),
        }
        if updates is not None:
            factories[UpdatesPage] = lambda: self._updates_page(updates, preferences)
        names = tuple(kind.name for kind in factories)
        super().__init__(parent, tr("Settings"), names, _SIZE, _MIN_WIDTH)
        self._factories, self._kinds = factories, tuple(factories)
        self._pages: dict[type[FormPage], FormPage] = {}
        for kind in self._kinds:
            self.list.addItem(QListWidgetItem(tr(kind.title)))
        self.stack = QStackedWidget()
        self.set_content(self.stack)

    def _updates_page(self, updates: "UpdateChecker", preferences: PreferenceStore) -> UpdatesPage:
        page = UpdatesPage(updates, preferences)
        page.link_asked.connect(self.link_asked)
        return page

    def page(self, kind: type[_P]) -> _P:
        """Return a page, which is created on first use."""
        if kind not in self._pages:
            self._pages[kind] = self._factories[kind]()
            self.stack.addWidget(self._pages[kind])
        page = self._pages[kind]
        assert isinstance(page, kind)
        return page

    def show_page(self, row: int) -> None:
        """Show the page in a row of the list."""
        page = self.page(self._kinds[row])
        self.stack.setCurrentWidget(page)
        if self.isVisible():
            page.refresh()

    def fit_to_text_size(self) -> None:
        """Draw the icons beside the titles, and make the list as wide as both."""
        look = theme.current()
        edge = look.scaled(16)
        self.list.setIconSize(QSize(edge, edge))
        for row, kind in enumerate(self._kinds):
            self.list.item(row).setIcon(icons.icon(kind.icon, look.tokens.muted, edge=edge))
        super().fit_to_text_size()

    def showEvent(self, event: QShowEvent) -> None:
        """Refresh the current page, whose values may have changed meanwhile."""
        super().showEvent(event)
        self.page(self._kinds[self.list.currentRow()]).refresh()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Apply what is being typed."""
        for page in self._pages.values():
            page.commit()
        super().closeEvent(event)
