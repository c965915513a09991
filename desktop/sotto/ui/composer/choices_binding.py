"""Fills the panel with a chat's settings, and keeps it up to date."""

from PySide6.QtCore import QObject, Slot

from sotto.ui.composer.chat_settings_panel import ChatSettingsPanel
from sotto.ui.conversation.chat_session import ChatSession
from sotto.ui.conversation.current_chat import CurrentChat
from sotto.ui.preferences.preferences import PreferenceStore
from sotto.ui.preferences.presets import PresetStore
from sotto.ui.session.session import Session


class ChoicesBinding(QObject):
    """Shows the settings of the chat in view, and what applies without them, for as long as there is the panel."""

    def __init__(
        self,
        panel: ChatSettingsPanel,
        session: Session,
        current: CurrentChat,
        preferences: PreferenceStore,
        presets: PresetStore,
    ) -> None:
        """Begin with the chat that is in view now; `panel` becomes the parent."""
        super().__init__(panel)
        self._panel, self._session = panel, session
        panel.presets.attach(presets)
        self._show_settings()
        self._show_chat(current.session)
        panel.show_state(session.state)
        current.changed.connect(self._show_chat)
        preferences.changed.connect(self._show_settings)
        session.state_changed.connect(panel.show_state)

    @Slot()
    def _show_settings(self) -> None:
        self._panel.show_settings(self._session.settings)

    @Slot(object)
    def _show_chat(self, chat: ChatSession) -> None:
        self._panel.show_choices(chat.draft.system, chat.draft.options)
