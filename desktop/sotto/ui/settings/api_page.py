"""The settings page for the API: whether other programs may use the models, at which address, and with which key."""

import secrets
from typing import TYPE_CHECKING

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from sotto import api
from sotto.api.access import KEY_RULE, OriginError, can_be_sent, read_origins
from sotto.errors import InvalidRequestError
from sotto.ui.preferences.preferences import Preferences, PreferenceStore
from sotto.ui.state import wording
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.form_rows import FormPage, FormRow, Switch, ValueField
from sotto.ui.toolkit.number import Number
from sotto.ui.toolkit.number_field import NumberField
from sotto.ui.toolkit.translation import QT_TR_NOOP, tr
from sotto.ui.toolkit.widgets import IconButton

if TYPE_CHECKING:
    from sotto.ui.session.api_switch import ApiSwitch

_PORT = Number(
    "api_port",
    QT_TR_NOOP("Port"),
    1,
    (1 << 16) - 1,
    1,
    0,
    QT_TR_NOOP("The port that programs connect to"),
    str(api.PORT),
    grouped=False,
)
_MAX_HOST_LENGTH, _MAX_ORIGINS_LENGTH = 255, 4000
_KEY_BYTES = 24


class ApiPage(FormPage):
    """The switch of the API with its state, address, port, key and allowed origins."""

    name, title, icon = "programs", QT_TR_NOOP("Local server"), "plug"

    def __init__(self, preferences: PreferenceStore, switch: "ApiSwitch | None") -> None:
        """Show and change `preferences`.

        Args:
            preferences: The preferences.
            switch: Knows the state of the API; None if it cannot run.
        """
        super().__init__()
        self._preferences, self._switch = preferences, switch
        self.enabled = Switch(tr("Let other programs use the models"))
        self.enabled.toggled.connect(lambda on: preferences.change(api_enabled=on))
        self.host = ValueField(tr("Address"), _parse_host)
        self.host.setPlaceholderText(api.HOST)
        self.host.chosen.connect(lambda host: preferences.change(api_host=host))
        self.port = NumberField(_PORT)
        self.port.chosen.connect(lambda: preferences.change(api_port=self.port.number or api.PORT))
        self.key = ValueField(tr("Key"), _parse_key)
        self.key.setEchoMode(QLineEdit.EchoMode.PasswordEchoOnEdit)
        self.key.chosen.connect(lambda key: preferences.change(api_key=key))
        self.origins = ValueField(tr("Web pages"), _parse_origins)
        self.origins.setPlaceholderText(tr("None", "web pages"))
        self.origins.chosen.connect(lambda origins: preferences.change(api_origins=origins))
        self.make_key = IconButton("refresh", tr("Generate a new key"))
        self.make_key.clicked.connect(lambda: preferences.change(api_key=secrets.token_urlsafe(_KEY_BYTES)))
        self.copy_key = IconButton("copy", tr("Copy the key"))
        self.copy_key.clicked.connect(lambda: self._copy(self.copy_key, preferences.values.api_key))
        self.copy_address = IconButton("copy", tr("Copy the address"))
        self.copy_address.clicked.connect(lambda: self._copy(self.copy_address, self._address))
        self.state = FormRow(
            tr("Let other programs use the models"),
            "",
            _side_by_side(self.copy_address, self.enabled),
        )
        host = FormRow(
            tr("Address"),
            tr("{address} accepts only programs on this computer; any other address needs a key.").format(
                address=api.HOST
            ),
            self.host,
        )
        self.host.refused.connect(host.show_error)
        port = FormRow(tr("Port"), "", self.port)
        self.port.refused.connect(port.show_error)
        key = FormRow(
            tr("Key"),
            tr("Programs must send it. It can be empty if only this computer can connect."),
            _side_by_side(self.key, self.make_key, self.copy_key),
        )
        self.key.refused.connect(key.show_error)
        origins = FormRow(
            tr("Web pages"),
            tr("Pages that may use the models, such as http://localhost:3000; others are refused."),
            self.origins,
        )
        self.origins.refused.connect(origins.show_error)
        self.add_group().add(self.state)
        group = self.add_group(tr("Access"))
        for row in (host, port, key, origins):
            group.add(row)
        self.add_note(
            tr(
                "Compatible with the Ollama, OpenAI and Anthropic APIs. Programs share the model in the window; their "
                "requests are not saved in your chats."
            )
        )
        preferences.changed.connect(self._show)
        if switch is not None:
            switch.changed.connect(self._show_state)
        self._show(preferences.values)

    @property
    def _address(self) -> str:
        return self._switch.state.address if self._switch is not None else ""

    def _show(self, values: Preferences) -> None:
        blocked = self.enabled.blockSignals(True)
        self.enabled.setChecked(values.api_enabled)
        self.enabled.blockSignals(blocked)
        self.host.show_text("" if values.api_host == api.HOST else values.api_host)
        self.key.show_text(values.api_key)
        self.origins.show_text(values.api_origins)
        port = None if values.api_port == api.PORT else values.api_port
        if self.port.number != port:
            self.port.show_number(port)
        self.copy_key.setEnabled(bool(values.api_key))
        self._show_state()

    def _show_state(self) -> None:
        on, problem = self._preferences.values.api_enabled, ""
        hint = tr("One moment…") if on else tr("Off: no program can connect.")
        if self._switch is not None and on:
            problem = self._switch.state.problem
            if self._address:
                hint = tr("Listening at {address}").format(address=self._address)
            elif problem:
                hint = ""
        self.state.set_hint(hint)
        self.state.show_error(problem)
        self.enabled.setAccessibleDescription(problem or hint)
        self.copy_address.setVisible(on and bool(self._address))

    def _copy(self, button: IconButton, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        button.confirm("check", tr("Copied"))


def _side_by_side(*widgets: QWidget) -> QWidget:
    """Return a widget with controls side by side."""
    container = QWidget()
    layout = QHBoxLayout(container)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(theme.GAP_4)
    for widget in widgets:
        layout.addWidget(widget)
    return container


def _parse_host(text: str) -> str:
    """Return the address in `text`, or the default if it is empty.

    Raises:
        InvalidRequestError: The text cannot be an address.
    """
    if len(text) > _MAX_HOST_LENGTH or not text.isprintable() or any(letter in " /" for letter in text):
        sentence = tr("An address is a name or number of this machine, such as {example}, not {typed}.")
        raise InvalidRequestError(sentence.format(example=api.HOST, typed=repr(text[:40])))
    return text or api.HOST


def _parse_key(text: str) -> str:
    """Return the key in `text`.

    Raises:
        InvalidRequestError: The key cannot be sent in an HTTP header.
    """
    if not can_be_sent(text):
        raise InvalidRequestError(KEY_RULE)
    return text


def _parse_origins(text: str) -> str:
    """Return the allowed origins in `text`.

    Raises:
        InvalidRequestError: The text contains something else, or is too long.
    """
    try:
        read_origins(text)
    except OriginError as error:
        raise InvalidRequestError(error.message) from error
    if len(text) > _MAX_ORIGINS_LENGTH:
        sentence = tr("The pages can have at most {most} characters in total.")
        raise InvalidRequestError(sentence.format(most=wording.count(_MAX_ORIGINS_LENGTH)))
    return text
