"""The card of the local server: its switch, address and key, and the requests to it."""

from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QGuiApplication, QHideEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from sotto.ui.models.side_card import SideCard
from sotto.ui.preferences.preferences import PreferenceStore
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.form_rows import Switch
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import ElidedLabel, IconButton, Label, TextButton
from sotto.ui.window.request_list import RequestList
from sotto.ui.window.server_status import ServerStatus

if TYPE_CHECKING:
    from sotto.ui.session.api_switch import ApiSwitch

_WIDTH = 440
_TICK_MS = 1000
_HIDDEN_KEY = "•" * 12
_Box = TypeVar("_Box", bound=QBoxLayout)


class ServerCard(SideCard):
    """Opened by the line at the foot of the sidebar, from the menu or by the palette.

    Signals:
        settings_wanted: The user wants to see the settings of the server.
    """

    settings_wanted = Signal()

    def __init__(self, preferences: PreferenceStore, status: ServerStatus) -> None:
        """Create the card, hidden.

        Args:
            preferences: Turn the server on and off, and hold its key.
            status: The line that opens the card; hidden until there is a server.
        """
        super().__init__("serverCard", tr("Local server"), _WIDTH)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._preferences, self.status = preferences, status
        self._api: ApiSwitch | None = None
        status.hide()
        status.clicked.connect(self.toggle)
        self.enabled = Switch(tr("Local server"))
        self.enabled.toggled.connect(lambda on: preferences.change(api_enabled=on))
        self.close_button = IconButton("close", tr("Close"))
        self.close_button.clicked.connect(self.close_card)
        self.hint = Label("", "caption", wrap=True)
        self.problem = Label("", "error", wrap=True)
        self._address_title, self._key_title = Label(tr("Address"), "caption"), Label(tr("Key"), "caption")
        self.address = ElidedLabel()
        self.copy_address = IconButton("copy", tr("Copy the address"))
        self.copy_address.clicked.connect(lambda: _copy(self.copy_address, self.address.text()))
        self.key = ElidedLabel()
        self.reveal = IconButton("eye", tr("Show the key"))
        self.reveal.setCheckable(True)
        self.reveal.toggled.connect(self._show_key)
        self.copy_key = IconButton("copy", tr("Copy the key"))
        self.copy_key.clicked.connect(lambda: _copy(self.copy_key, preferences.values.api_key))
        self.clear = TextButton(tr("Clear"), "quiet", tr("Clear the requests"))
        self.requests = RequestList()
        self.empty = Label(tr("No requests yet"), "caption")
        self.settings = TextButton(tr("Settings…"), "quiet", tr("Settings of the local server"))
        self.settings.clicked.connect(self.settings_wanted)
        self._arrange()
        self._clock = QTimer(self, interval=_TICK_MS)
        self._clock.timeout.connect(self.requests.rows.show_time)

    def _arrange(self) -> None:
        top = _inset(QHBoxLayout())
        top.addWidget(Label(tr("Local server"), "strong"), 1)
        top.addWidget(self.enabled)
        top.addWidget(self.close_button)
        texts = _inset(QVBoxLayout())
        texts.addWidget(self.hint)
        texts.addWidget(self.problem)
        access = QGridLayout()
        access.setContentsMargins(theme.margins(theme.GAP_8, 0, 0, 0))
        access.setHorizontalSpacing(theme.GAP_8)
        access.setVerticalSpacing(0)
        access.setColumnStretch(1, 1)
        for row, (title, value) in enumerate(((self._address_title, self.address), (self._key_title, self.key))):
            access.addWidget(title, row, 0)
            access.addWidget(value, row, 1)
        access.addWidget(self.copy_address, 0, 3)
        access.addWidget(self.reveal, 1, 2)
        access.addWidget(self.copy_key, 1, 3)
        line = QFrame()
        line.setObjectName("rule")
        line.setFixedHeight(1)
        heading = QHBoxLayout()
        heading.setContentsMargins(theme.margins(theme.GAP_8, 0, 0, 0))
        heading.addWidget(Label(tr("Requests"), "section"), 1)
        heading.addWidget(self.clear)
        nothing = _inset(QHBoxLayout())
        nothing.addWidget(self.empty)
        self._log = QWidget()
        log = QVBoxLayout(self._log)
        log.setContentsMargins(0, theme.GAP_4, 0, 0)
        log.setSpacing(theme.GAP_4)
        log.addWidget(line)
        log.addLayout(heading)
        log.addLayout(nothing)
        log.addWidget(self.requests, 1)
        foot = QHBoxLayout()
        foot.addWidget(self.settings)
        foot.addStretch(1)
        layout = QVBoxLayout(self)
        # The texts are inset, so that they are in line with those of buttons and rows, which have a ground.
        layout.setContentsMargins(theme.GAP_4, theme.GAP_8, theme.GAP_4, theme.GAP_8)
        layout.setSpacing(theme.GAP_8)
        layout.addLayout(top)
        layout.addLayout(texts)
        layout.addLayout(access)
        layout.addWidget(self._log, 1)
        layout.addLayout(foot)

    def attach(self, api: "ApiSwitch") -> None:
        """Show the state of `api` from now on."""
        self._api = api
        self.status.show()
        self.clear.clicked.connect(api.feed.clear)
        api.changed.connect(self._show)
        api.feed.changed.connect(self._show)
        self._preferences.changed.connect(self._show)
        self._show()

    @Slot()
    def toggle(self) -> None:
        """Open the card, or close it if it is open."""
        if self.isVisible():
            self.close_card()
        elif self._api is not None:
            self.reveal.setChecked(False)
            self.show_card()
            self.setFocus(Qt.FocusReason.PopupFocusReason)

    @Slot()
    def _show(self) -> None:
        assert self._api is not None
        values, state, feed = self._preferences.values, self._api.state, self._api.feed
        on = values.api_enabled
        self.status.show_state(state, enabled=on, requests=feed.under_way)
        blocked = self.enabled.blockSignals(True)
        self.enabled.setChecked(on)
        self.enabled.blockSignals(blocked)
        starting = on and not state.address and not state.problem
        what_for = tr("Other programs can use your models while it is on.")
        self.hint.setText(tr("Starting…") if starting else what_for)
        self.hint.setVisible(starting or not on)
        self.problem.setText(state.problem)
        self.problem.setVisible(on and bool(state.problem))
        self.enabled.setAccessibleDescription(state.problem if on else "")
        self.address.setText(state.address)
        listens = on and bool(state.address)
        for part in (self._address_title, self.address, self.copy_address):
            part.setVisible(listens)
        for part in (self._key_title, self.key, self.reveal, self.copy_key):
            part.setVisible(listens and bool(values.api_key))
        self._show_key()
        self._log.setVisible(listens or bool(feed.requests))
        self.empty.setVisible(not feed.requests)
        self.clear.setVisible(any(request.ended for request in feed.requests))
        self.requests.setVisible(bool(feed.requests))
        self.requests.show_requests(feed.requests)
        self._run_clock()

    def _show_key(self) -> None:
        shown = self.reveal.isChecked()
        self.key.setText(self._preferences.values.api_key if shown else _HIDDEN_KEY)
        self.key.setAccessibleName("" if shown else tr("Hidden"))
        self.reveal.set_icon("eye", tr("Hide the key") if shown else tr("Show the key"))

    def _run_clock(self) -> None:
        """Let the seconds of requests run while they can be seen."""
        if self._api is not None and self._api.feed.under_way and self.isVisible():
            self._clock.start()
        else:
            self._clock.stop()

    def showEvent(self, event: QShowEvent) -> None:
        """Let the seconds run."""
        super().showEvent(event)
        self._run_clock()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop the seconds."""
        super().hideEvent(event)
        self._run_clock()


def _inset(layout: _Box) -> _Box:
    layout.setContentsMargins(theme.GAP_8, 0, theme.GAP_8, 0)
    layout.setSpacing(theme.GAP_8)
    return layout


def _copy(button: IconButton, text: str) -> None:
    QGuiApplication.clipboard().setText(text)
    button.confirm("check", tr("Copied"))
