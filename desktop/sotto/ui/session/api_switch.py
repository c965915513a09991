"""Starts and stops the API server as the preferences say."""

import logging
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QThreadPool, Signal, Slot

from sotto.errors import SottoError
from sotto.ui.preferences.preferences import Preferences, PreferenceStore
from sotto.ui.session.api_host import ApiHost
from sotto.ui.session.request_feed import RequestFeed
from sotto.ui.toolkit.translation import tr

if TYPE_CHECKING:
    from sotto.api.server import ApiServer

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ApiState:
    """The state of the API; with neither an address nor a problem, it is off or about to start.

    Attributes:
        address: Where it listens, for example `http://127.0.0.1:11535`.
        problem: Why it could not be started, in a sentence.
    """

    address: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class _Config:
    """How the API should run; by default, not at all."""

    enabled: bool = False
    host: str = ""
    port: int = 0
    key: str = ""
    origins: str = ""


class ApiSwitch(QObject):
    """Runs the API server as the preferences say, from `begin` to `close`.

    Signals:
        changed: `state` has changed.

    Attributes:
        state: The current state of the API.
        feed: The requests to the API.
    """

    changed = Signal()
    _switched = Signal(object)

    def __init__(self, host: ApiHost, preferences: PreferenceStore, parent: QObject | None = None) -> None:
        """Serve the models of `host`; nothing listens before `begin`."""
        super().__init__(parent)
        self.state = ApiState()
        self.feed = RequestFeed(self)
        self._host = host
        self._preferences = preferences
        self._config = _Config()
        self._closing = threading.Event()
        self._server: ApiServer | None = None  # used only by the worker
        # Imports, name look-ups and stopping a server take too long for the window's thread.
        self._worker = QThreadPool()
        self._worker.setMaxThreadCount(1)
        self._switched.connect(self._take, Qt.ConnectionType.QueuedConnection)

    def begin(self) -> None:
        """Start the API if it is enabled, and follow the preferences from now on."""
        self._preferences.changed.connect(self._follow)
        self._follow(self._preferences.values)

    def close(self) -> None:
        """End all connections, and wait until the server has stopped."""
        self._closing.set()
        self._request(_Config())
        self._worker.waitForDone()

    @Slot(object)
    def _follow(self, values: Preferences) -> None:
        if values.api_enabled:
            self._request(_Config(True, values.api_host, values.api_port, values.api_key, values.api_origins))
        else:
            self._request(_Config())

    def _request(self, config: _Config) -> None:
        if config != self._config:
            self._config = config
            self._worker.start(lambda: self._switch(config))

    @Slot(object)
    def _take(self, result: tuple[_Config, ApiState]) -> None:
        config, state = result
        if config == self._config and state != self.state:  # otherwise another switch is under way
            self.state = state
            self.changed.emit()

    # The worker's thread

    def _switch(self, config: _Config) -> None:
        if self._server is not None:
            if not self._server.stop():
                _log.error("The API server did not stop in time.")
            self._server = None
        state = ApiState()
        if config.enabled and not self._closing.is_set():
            state = self._start(config)
        self._switched.emit((config, state))

    def _start(self, config: _Config) -> ApiState:
        from sotto.api.server import Address, ApiServer

        address = Address(config.host, config.port, config.key, config.origins)
        server = ApiServer(self._host, address, self.feed.log)
        try:
            server.start()
        except SottoError as error:
            return ApiState(problem=error.message)
        except Exception as error:
            _log.exception("The API could not be started.")
            problem = tr("The API could not be started ({error}).").format(error=f"{type(error).__name__}: {error}")
            return ApiState(problem=problem)
        self._server = server
        return ApiState(address=server.url)
