"""What a session takes from the preferences: where models are looked for, and what holds for every chat at first."""

from dataclasses import replace

from PySide6.QtCore import QObject, Slot

from sotto.ui.preferences.preferences import PreferenceKeeper, Preferences
from sotto.ui.session.session import Session


class ChatDefaults(QObject):
    """Lets a session look and answer as the preferences say, now and later. Several of them do no harm."""

    def __init__(self, session: Session, preferences: PreferenceKeeper, parent: QObject | None = None) -> None:
        """Begin with what is chosen now."""
        super().__init__(parent)
        self._session = session
        session.folders = lambda: preferences.values.folders
        preferences.changed.connect(self._take)
        self._take(preferences.values)

    @Slot(object)
    def _take(self, values: Preferences) -> None:
        self._session.settings = replace(
            self._session.settings, num_ctx=values.num_ctx or None, system=values.system, options=values.options
        )
