"""Switches the API on and off, as was chosen."""

import logging
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QThreadPool, Signal, Slot

from sotto.errors import SottoError
from sotto.ui.preferences.preferences import Preferences, PreferenceStore
from sotto.ui.session.api_host import ApiHost

if TYPE_CHECKING:
    from sotto.api.server import ApiServer

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ApiState:
    """How the API stands; with neither address nor problem it is off, or on its way.

    Attributes:
        address: Where it listens, for example `http://127.0.0.1:11535`.
        problem: Why it does not, in a sentence.
    """

    address: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Where to listen; nowhere while it is off."""

    enabled: bool = False
    host: str = ""
    port: int = 0
    key: str = ""
    origins: str = ""


class ApiSwitch(QObject):
    """Lets the API listen where the preferences say, from `begin` to `close`.

    Signals:
        changed: `state` is another one.
    """

    changed = Signal()
    _came = Signal(object)

    def __init__(self, host: ApiHost, preferences: PreferenceStore, parent: QObject | None = None) -> None:
        """Serve what `host` has; nothing listens yet."""
        super().__init__(parent)
        self.state = ApiState()
        self._host = host
        self._preferences = preferences
        self._wanted = _Wanted()
        self._closing = threading.Event()
        self._server: ApiServer | None = None  # touched by the one worker alone
        # Imports, name look-ups and the end of a server take time that the window's thread does not have.
        self._worker = QThreadPool()
        self._worker.setMaxThreadCount(1)
        self._came.connect(self._take, Qt.ConnectionType.QueuedConnection)

    def begin(self) -> None:
        """Listen, if that was chosen, and follow what is chosen later."""
        self._preferences.changed.connect(self._follow)
        self._follow(self._preferences.values)

    def close(self) -> None:
        """Send everybody away, and wait until nothing listens."""
        self._closing.set()
        self._want(_Wanted())
        self._worker.waitForDone()

    @Slot(object)
    def _follow(self, values: Preferences) -> None:
        if values.api_enabled:
            self._want(_Wanted(True, values.api_host, values.api_port, values.api_key, values.api_origins))
        else:
            self._want(_Wanted())

    def _want(self, wanted: _Wanted) -> None:
        if wanted != self._wanted:
            self._wanted = wanted
            self._worker.start(lambda: self._switch(wanted))

    @Slot(object)
    def _take(self, came: tuple[_Wanted, ApiState]) -> None:
        wanted, state = came
        if wanted == self._wanted and state != self.state:  # else it is on its way to another one
            self.state = state
            self.changed.emit()

    # The worker's thread

    def _switch(self, wanted: _Wanted) -> None:
        if self._server is not None:
            if not self._server.stop():
                _log.error("The API server did not stop in time.")
            self._server = None
        state = ApiState()
        if wanted.enabled and not self._closing.is_set():
            state = self._started(wanted)
        self._came.emit((wanted, state))

    def _started(self, wanted: _Wanted) -> ApiState:
        from sotto.api.server import Address, ApiServer

        server = ApiServer(self._host, Address(wanted.host, wanted.port, wanted.key, wanted.origins))
        try:
            server.start()
        except SottoError as error:
            return ApiState(problem=error.message)
        except Exception as error:
            _log.exception("The API could not be started.")
            return ApiState(problem=f"The API could not be started ({type(error).__name__}: {error}).")
        self._server = server
        return ApiState(address=server.url)
