"""The chats above the models in the sidebar: how they share its height, and which of them are folded."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtWidgets import QSplitter

from sotto.ui.models.model_panel import ModelPanel
from sotto.ui.preferences.preferences import SECTIONS, Preferences, PreferenceStore
from sotto.ui.window.chat_list import ChatList

# The division is saved when the splitter has not moved for this time.
_SAVE_MS = 250
_ANY_HEIGHT = (1 << 24) - 1


class SidebarSections(QSplitter):
    """Divides the height by itself until the user moves the splitter. A folded section is as high as its title."""

    def __init__(self, chats: ChatList, models: ModelPanel, preferences: PreferenceStore) -> None:
        """Arrange the lists as the preferences say."""
        super().__init__(Qt.Orientation.Vertical)
        self.setObjectName("lists")
        self.setChildrenCollapsible(False)
        self._chats, self._models, self._preferences = chats, models, preferences
        self._sections: dict[str, ChatList | ModelPanel] = dict(zip(SECTIONS, (chats, models), strict=True))
        self._searching = False
        self._save_timer = QTimer(self, singleShot=True, interval=_SAVE_MS)
        self._save_timer.timeout.connect(self._save_share)
        for name, section in self._sections.items():
            self.addWidget(section)
            section.title.clicked.connect(self._toggler(name))
            section.installEventFilter(self)
        # A scroll area keeps from its parents that its content has another height.
        models.area.widget().installEventFilter(self)  # type: ignore[union-attr]
        self.installEventFilter(self)
        self.splitterMoved.connect(self._save_timer.start)
        preferences.changed.connect(self._apply)
        self._apply(preferences.values)

    def _toggler(self, name: str) -> Callable[[], None]:
        def toggle() -> None:
            others = [other for other in self._preferences.values.folded_sections if other != name]
            folded = () if self._sections[name].title.folded else (name,)
            self._preferences.change(folded_sections=(*others, *folded))

        return toggle

    def unfold(self, name: str) -> None:
        """Unfold a section, one of `SECTIONS`."""
        if self._sections[name].title.folded:
            self._toggler(name)()

    def show_searching(self, searching: bool) -> None:
        """Show both sections during a search, because either may have results."""
        self._searching = searching
        self._apply(self._preferences.values)

    def _apply(self, values: Preferences) -> None:
        for name, section in self._sections.items():
            section.set_folded(name in values.folded_sections and not self._searching)
        self.divide()

    @property
    def _folded(self) -> list[bool]:
        return [section.title.folded for section in self._sections.values()]

    def divide(self) -> None:
        """Divide the height as the user did, or else give the chats what they need.

        That is up to half of the height, or more if the models leave it.
        """
        for section in self._sections.values():
            section.setMaximumHeight(section.minimumSizeHint().height() if section.title.folded else _ANY_HEIGHT)
        room = self.height()
        # Heights are not known while nothing is visible. A drag that has not been saved yet must not be undone.
        if not self.isVisible() or self._chats.isHidden() or room <= 0 or self._save_timer.isActive():
            return
        self._chats.ensurePolished()
        share = self._preferences.values.sidebar_share
        most = max(room // 2, room - self._models.whole_height)
        needed = round(share * room) if share else min(self._chats.sizeHint().height(), most)
        chats, models = self._folded
        if chats or models:
            needed = self._chats.maximumHeight() if chats else room
        self.setSizes([needed, room - needed])
        self.handle(1).setEnabled(not (chats or models))

    def _save_share(self) -> None:
        first, second = self.sizes()
        if first and second:
            self._preferences.change(sidebar_share=round(first / (first + second), 4))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Divide the height again when it comes into view or changes, or when the lists need another one."""
        wants = watched is not self and event.type() == QEvent.Type.LayoutRequest
        if wants or (watched is self and event.type() in (QEvent.Type.Show, QEvent.Type.Resize)):
            QTimer.singleShot(0, self, self.divide)
        return super().eventFilter(watched, event)
