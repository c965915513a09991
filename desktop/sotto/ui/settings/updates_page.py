"""The settings page for new versions: whether Sotto looks for them, and what is new in them."""

import os
import time

from PySide6.QtCore import QDate, Signal

from sotto.ui.preferences.preferences import PreferenceStore
from sotto.ui.state import wording
from sotto.ui.toolkit.form_rows import FormPage, FormRow, Switch
from sotto.ui.toolkit.translation import QT_TR_NOOP, app_locale, tr
from sotto.ui.toolkit.widgets import TextButton
from sotto.ui.updating.release_advice import advice, download
from sotto.ui.updating.update_checker import Agreement, UpdateChecker
from sotto.updates.feed import Release
from sotto.updates.installation import installation


class UpdatesPage(FormPage):
    """The switch, what is known, and how to get what is new.

    Signals:
        link_asked: The user wants to open a web page (its address).
    """

    name, title, icon = "updates", QT_TR_NOOP("Updates"), "refresh"
    link_asked = Signal(str)

    def __init__(self, updates: UpdateChecker, preferences: PreferenceStore) -> None:
        """Show and change `updates`, of which `preferences` know when they were last looked for."""
        super().__init__()
        self._updates, self._preferences = updates, preferences
        self.daily = Switch(tr("Look for new versions"))
        self.daily.clicked.connect(lambda on: updates.agree(agreed=on))
        self.check = TextButton(tr("Check now"))
        self.check.clicked.connect(updates.check)
        self.state = FormRow("Sotto " + updates.version, "", self.check)
        group = self.add_group()
        if updates.source is not None:
            hint = tr(
                "Once a day, Sotto reads a signed list from {address}, which learns your network address and nothing "
                "else; it downloads and installs nothing."
            )
            group.add(FormRow(tr("Look for new versions"), hint.format(address=updates.source.url), self.daily))
        group.add(self.state)
        self.found = self.add_group()
        self._listed: tuple[Release, ...] = ()
        self._list(())
        updates.changed.connect(self._show)
        self._show()

    def refresh(self) -> None:
        """Say anew how long ago the last look was."""
        self._show()

    def _show(self) -> None:
        updates = self._updates
        self.daily.setChecked(updates.agreement is Agreement.YES)
        self.check.setEnabled(updates.source is not None and not updates.checking)
        self.state.set_hint(self._state_line())
        self.state.show_error(updates.problem)
        if updates.releases != self._listed:
            self._list(updates.releases)

    def _list(self, releases: tuple[Release, ...]) -> None:
        """List what is new in these versions, and how to get the newest."""
        self._listed = releases
        self.found.clear()
        self.found.setVisible(bool(releases))
        if not releases:
            return
        for release in releases:
            self.found.add(FormRow(_title(release), "\n".join(f"• {change}" for change in release.changes)))
        kind, get = installation(), TextButton(tr("Open download page"), "primary")
        get.clicked.connect(lambda: self.link_asked.emit(download(releases[0], kind)))
        how = advice(releases[0], kind, os.environ.get("FLATPAK_ID", ""))
        self.found.add(FormRow(tr("How to get it"), how, get))

    def _state_line(self) -> str:
        updates, checked = self._updates, self._preferences.values.updates_checked
        if updates.source is None:
            return tr("This build cannot look for new versions, because it has no key to check them with.")
        if updates.checking:
            return tr("Looking…")
        if updates.releases:
            return tr("Version {version} is available.").format(version=updates.releases[0].version)
        if updates.looked:
            return tr("This is the newest version.")
        if not checked:
            return tr("Not looked for yet.")
        return tr("Last looked for {ago}.").format(ago=wording.ago(time.time() - checked))


def _title(release: Release) -> str:
    locale, day = app_locale(), QDate(release.day.year, release.day.month, release.day.day)
    return f"{release.version} · {locale.toString(day, locale.dateFormat())}"
