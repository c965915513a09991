"""The settings window, in which every change applies at once."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QCloseEvent, QKeyEvent, QKeySequence, QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QHBoxLayout, QListWidget, QListWidgetItem, QStackedWidget, QWidget

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
from sotto.ui.settings.user_data import UserData
from sotto.ui.toolkit import icons, theme
from sotto.ui.toolkit.form_rows import FormPage
from sotto.ui.toolkit.screens import centre, fit

if TYPE_CHECKING:
    from sotto.ui.platform.global_shortcut import GlobalShortcut
    from sotto.ui.session.api_switch import ApiSwitch
    from sotto.ui.toolkit.async_tasks import AsyncTasks

_P = TypeVar("_P", bound=FormPage)
_SIZE = (780, 600)
_MIN_WIDTH = 580


class SettingsWindow(QWidget):
    """A non-modal window with a list of pages at the left and the current page at the right."""

    def __init__(
        self,
        session: Session,
        preferences: PreferenceStore,
        data: UserData,
        tasks: "AsyncTasks",
        parent: QWidget,
        api: "ApiSwitch | None" = None,
        shortcut: "GlobalShortcut | None" = None,
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
        """
        super().__init__(parent, Qt.WindowType.Window)
        self.setObjectName("settings")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setWindowTitle("Settings")
        self.setAccessibleName("Settings")
        self._factories: dict[type[FormPage], Callable[[], FormPage]] = {
            FoldersPage: lambda: FoldersPage(ModelFolders(session, preferences, tasks, self), preferences),
            AnswersPage: lambda: AnswersPage(preferences),
            MemoryPage: lambda: MemoryPage(EngineChoices(tasks, self), preferences),
            EnginePage: lambda: EnginePage(preferences, EngineChoices(tasks, self)),
            QuickPage: lambda: QuickPage(preferences, tasks, shortcut),
            ApiPage: lambda: ApiPage(preferences, api),
            AppearancePage: lambda: AppearancePage(preferences),
            DataPage: lambda: DataPage(data),
        }
        self._kinds = tuple(self._factories)
        self._pages: dict[type[FormPage], FormPage] = {}
        self.list = QListWidget()
        self.list.setObjectName("pages")
        self.list.setAccessibleName("Settings pages")
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.list.setTabKeyNavigation(False)
        self.stack = QStackedWidget()
        for kind in self._kinds:
            self.list.addItem(QListWidgetItem(kind.title))
        self.list.currentRowChanged.connect(self._show_page)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.list)
        layout.addWidget(self.stack, 1)
        theme.current().changed.connect(self._update_style)
        self._update_style()
        self.resize(theme.current().scaled(_SIZE[0]), theme.current().scaled(_SIZE[1]))
        self.list.setCurrentRow(0)

    @property
    def names(self) -> tuple[str, ...]:
        """The identifiers of all pages, in order."""
        return tuple(kind.name for kind in self._kinds)

    def open(self, page: str = "") -> None:
        """Show the window in front, at the page with this identifier if one is given."""
        if page:
            self.list.setCurrentRow(self.names.index(page))
        if not self.isVisible():
            parent = self.parentWidget()
            centre(self, parent.geometry() if parent is not None else None)
            fit(self, self.minimumSize())
        self.show()
        self.raise_()
        self.activateWindow()
        self.list.setFocus()

    def page(self, kind: type[_P]) -> _P:
        """Return a page, which is created on first use."""
        if kind not in self._pages:
            self._pages[kind] = self._factories[kind]()
            self.stack.addWidget(self._pages[kind])
        page = self._pages[kind]
        assert isinstance(page, kind)
        return page

    def _show_page(self, row: int) -> None:
        page = self.page(self._kinds[row])
        self.stack.setCurrentWidget(page)
        if self.isVisible():
            page.refresh()

    def _update_style(self) -> None:
        look = theme.current()
        edge = look.scaled(16)
        self.list.setIconSize(QSize(edge, edge))
        for row, kind in enumerate(self._kinds):
            self.list.item(row).setIcon(icons.icon(kind.icon, look.tokens.muted, edge=edge))
        # The margins of the style sheet, and a border.
        self.list.setFixedWidth(self.list.sizeHintForColumn(0) + 2 * theme.GAP_8 + 2)
        self.setMinimumSize(min(look.scaled(_MIN_WIDTH), 900), 360)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close on Escape or the platform's shortcut for closing windows."""
        if event.key() == Qt.Key.Key_Escape or event.matches(QKeySequence.StandardKey.Close):
            self.close()
            return
        super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        """Refresh the current page, whose values may have changed meanwhile."""
        super().showEvent(event)
        self.page(self._kinds[self.list.currentRow()]).refresh()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Apply what is being typed."""
        for page in self._pages.values():
            page.commit()
        super().closeEvent(event)
