"""Asks once whether Sotto may look for new versions, and tells of one: both in a notice, when nothing else goes on."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from sotto.ui.preferences.preferences import PreferenceStore
from sotto.ui.timing.delayed_call import DelayedCall
from sotto.ui.toolkit.translation import tr
from sotto.ui.updating.update_checker import Agreement, UpdateChecker
from sotto.updates.feed import Release

if TYPE_CHECKING:
    from sotto.ui.window.main_window import MainWindow

_PAUSE = 30.0


class UpdateNotices(QObject):
    """Shows the two notices in the window, if the user has it open."""

    def __init__(
        self, updates: UpdateChecker, preferences: PreferenceStore, quiet_window: Callable[[], "MainWindow | None"]
    ) -> None:
        """Prepare the notices.

        Args:
            updates: Looks for new versions.
            preferences: Store what has been asked and told.
            quiet_window: Returns the window while it is visible and nothing goes on in it; else None.
        """
        super().__init__(updates)
        self._updates, self._preferences, self._quiet_window = updates, preferences, quiet_window
        self._release: Release | None = None
        self._timer = DelayedCall(self._show, self)
        updates.found.connect(self._keep)

    def begin(self) -> None:
        """Ask after a while, unless this is the first time that Sotto is used."""
        values = self._preferences.values
        if self._updates.source is not None and not values.updates and values.last_used:
            self._timer.schedule(_PAUSE)

    @Slot(object)
    def _keep(self, release: Release) -> None:
        if release.version != self._preferences.values.updates_told:
            self._release = release
            self._timer.schedule(0)

    def _show(self) -> None:
        window = self._quiet_window()
        if window is None:
            self._timer.schedule(_PAUSE)
        elif self._release is not None:
            release, self._release = self._release, None
            self._preferences.change(updates_told=release.version)
            title = tr("Sotto {version} is available").format(version=release.version)
            news = release.changes[0] if release.changes else ""
            window.notices.show_question(title, news, tr("What is new"), window.dialogs.show_updates, icon="refresh")
        elif self._updates.agreement is Agreement.NOT_ASKED:
            # Asked only once, whatever becomes of the notice.
            self._updates.agree(agreed=False)
            window.notices.show_question(
                tr("Look for new versions once a day?"),
                tr("Sotto then reads a list from one address; nothing about you is sent, and nothing is installed."),
                tr("Turn on"),
                lambda: self._updates.agree(agreed=True),
                icon="refresh",
            )
