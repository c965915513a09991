"""The local server in the window: its state, address and key, and its requests, of which only the outside is shown."""

import socket
import threading
import time

import httpx
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication

from clipping import assert_unclipped
from sotto.api.request_log import RequestRecord, Stage
from sotto.runner.host import THREAD
from sotto.ui.session.api_host import ApiHost
from sotto.ui.session.api_switch import ApiState, ApiSwitch
from sotto.ui.session.engine_hosts import make_host
from sotto.ui.window.request_list import DETAILS, OUTCOME, ROW, details, outcome, title
from window_checks import nameless, stretch

pytestmark = pytest.mark.slow
KEY, WRONG, QUERY = "key-of-my-server", "some-other-key", "query-value"
PROMPT = "Describe xylophones"
_READ = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole)
ROLES = (*_READ, ROW, OUTCOME, DETAILS)
CHAT = {"model": "sotto", "messages": [{"role": "user", "content": PROMPT}]}
SHORT = {"options": {"num_predict": 12, "temperature": 0}}
# The temperature is so high that the answer never ends by itself, and a full context is shifted.
MOST = 1_000_000
ENDLESS = {"options": {"num_predict": MOST, "temperature": 5.0, "top_k": 0, "top_p": 1.0, "seed": 4}, "shift": True}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Streaming:
    """A streamed request on a thread of its own, which can be broken off."""

    def __init__(self, url, body, key=KEY):
        self.lines = []
        self.status = 0
        self.enough = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(url, body, {"Authorization": f"Bearer {key}"}))
        self._thread.start()

    def _run(self, url, body, headers):
        address = f"{url}/api/chat?session={QUERY}"
        with httpx.stream("POST", address, json=body, headers=headers, timeout=60) as answer:
            self.status = answer.status_code
            for line in answer.iter_lines():
                self.lines.append(line)
                if self.enough.is_set():
                    return

    @property
    def done(self):
        return not self._thread.is_alive()


@pytest.fixture
def window(real_window):
    return real_window(make_host(THREAD))


@pytest.fixture
def api(window, preferences, loop, destroyed):
    """Yield the switch of the API, which is off."""
    host = ApiHost(window.session)
    made = ApiSwitch(host, preferences)
    window.show_api(made)
    loop.starts.append(made.begin)
    yield made
    made.close()
    destroyed(made, host)


def rows(card):
    """Return what is read of each row: the request, its outcome, and its model."""
    return [(title(request), outcome(request), request.model) for request in card.requests.rows.rows]


def test_the_server_is_watched_from_the_window(api, window, preferences, qtbot, loop):
    card, status, draft = window.server, window.sidebar.server, window.chat.composer.draft
    assert (status.text(), status.isVisible(), card.isVisible()) == ("Server off", True, False)
    window.commands.open()
    palette = window.commands.palette
    qtbot.keyClicks(palette.field, "local server")
    assert palette.results[0].title == "Local Server"
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert card.isVisible()
    qtbot.waitUntil(card.hasFocus)
    qtbot.keyClick(card, Qt.Key.Key_Tab)
    assert card.enabled.hasFocus()

    # Another program has the port.
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        preferences.change(api_port=port)
        qtbot.keyClick(card.enabled, Qt.Key.Key_Space)
        qtbot.waitUntil(lambda: status.text() == "Server could not start")
        assert card.problem.text() == f"Port {port} is in use by another program; choose another port."
        assert card.enabled.accessibleDescription() == card.problem.text()
        assert card.address.isHidden()
        assert card.requests.isHidden()
        card.settings.click()
        settings = window.dialogs.settings
        qtbot.waitUntil(settings.isActiveWindow)
        assert settings.names[settings.list.currentRow()] == "programs"
        settings.close()
        qtbot.waitUntil(lambda: QApplication.activeWindow() is None)
        window.activateWindow()
        qtbot.waitUntil(window.isActiveWindow)
    port = free_port()
    preferences.change(api_port=port, api_key=KEY)
    qtbot.waitUntil(lambda: status.text() == f"Server on :{port}")
    assert card.problem.isHidden()
    assert card.address.text() == f"http://127.0.0.1:{port}"
    card.copy_address.click()
    assert QApplication.clipboard().text() == card.address.text()
    assert KEY not in card.key.text() + card.key.accessibleName()
    card.copy_key.click()
    assert QApplication.clipboard().text() == KEY
    card.reveal.click()
    assert card.key.text() == KEY
    window.server.close_card()
    window.menus.local_server.trigger()
    assert KEY not in card.key.text()
    assert card.empty.isVisible()

    # Requests
    told = []
    api.feed.changed.connect(lambda: told.append(time.monotonic()))
    began = time.monotonic()
    url = card.address.text()
    streamed = Streaming(url, CHAT | SHORT)
    qtbot.waitUntil(lambda: streamed.done and rows(card) == [("POST /api/chat", "200 OK", "sotto:latest")])
    endless = Streaming(url, CHAT | ENDLESS)
    qtbot.waitUntil(lambda: ("POST /api/chat", "Writing", "sotto:latest") in rows(card))
    assert status.accessibleName() == f"Server on :{port}, 1 request"
    (at_once, *_) = card.requests.rows.rows
    assert not at_once.ended
    before = details(at_once)
    qtbot.waitUntil(lambda: details(at_once) != before)
    taken = card.requests.rows.index(0).data(DETAILS)
    qtbot.waitUntil(lambda: card.requests.rows.index(0).data(DETAILS) != taken)
    endless.enough.set()
    qtbot.waitUntil(lambda: rows(card)[0] == ("POST /api/chat", "Cancelled", "sotto:latest"))
    assert status.accessibleName() == f"Server on :{port}"
    refused = Streaming(url, CHAT | SHORT, key=WRONG)
    qtbot.waitUntil(lambda: refused.done and rows(card)[0] == ("POST /api/chat", "401 Unauthorized", ""))
    assert refused.status == 401
    # A few times a second at most, although there are hundreds of tokens.
    assert sum(len(answer.lines) for answer in (streamed, endless)) > 12
    assert len(told) <= 4 * (time.monotonic() - began) + 1
    cancelled, finished = card.requests.rows.rows[1:]
    assert 0 < cancelled.answer_tokens < MOST
    assert (finished.answer_tokens, finished.prompt_tokens > 0) == (12, True)
    assert f"{finished.prompt_tokens} → 12 tokens · sotto" in details(finished)

    # Nothing of what was said or sent is shown, read aloud or kept.
    model = card.requests.rows
    shown = [str(model.index(row).data(role)) for row in range(model.rowCount()) for role in ROLES]
    read = QAccessible.queryAccessibleInterface(card.requests)
    shown += [read.child(row).text(QAccessible.Text.Name) for row in range(read.childCount())]
    shown += [repr(api.feed.requests), repr(api.feed.log.read())]
    assert "POST /api/chat, 401 Unauthorized" in shown[2]
    for hidden in (*PROMPT.split(), KEY, WRONG, QUERY, *streamed.lines):
        assert not [text for text in shown if hidden in text]

    # The row that the keyboard is at stays when another request comes.
    card.requests.setFocus()
    card.requests.setCurrentIndex(model.index(1))
    httpx.get(f"{url}/api/version", headers={"Authorization": f"Bearer {KEY}"})
    qtbot.waitUntil(lambda: len(model.rows) == 4)
    assert card.requests.currentIndex().data(ROW) == cancelled
    card.clear.setFocus()
    qtbot.keyClick(card.clear, Qt.Key.Key_Space)
    assert (model.rowCount(), api.feed.log.read(), card.empty.isVisible()) == (0, (), True)
    qtbot.waitUntil(card.settings.hasFocus)
    qtbot.keyClick(card.settings, Qt.Key.Key_Escape)
    assert card.isHidden()
    qtbot.waitUntil(draft.hasFocus)
    qtbot.mouseClick(status, Qt.MouseButton.LeftButton)
    assert card.isVisible()
    draft.setFocus()
    assert card.isHidden()
    status.click()
    card.enabled.click()
    qtbot.waitUntil(lambda: api.state == ApiState())
    assert status.text() == "Server off"
    with pytest.raises(httpx.ConnectError):
        httpx.get(url)


def test_escape_closes_the_card_and_not_the_answer(stage_api, ready, qtbot, loop):
    ready.script.hold_answer = threading.Event()
    ready.window.send("Hello")
    qtbot.waitUntil(lambda: ready.chat_session.busy)
    ready.window.server.toggle()
    qtbot.waitUntil(ready.window.server.hasFocus)
    qtbot.keyClick(ready.window.server, Qt.Key.Key_Escape)
    assert ready.window.server.isHidden()
    assert ready.chat_session.busy
    ready.script.hold_answer.set()
    qtbot.waitUntil(lambda: not ready.chat_session.busy)


@pytest.fixture
def stage_api(stage, preferences, destroyed):
    """Yield a switch that never listens, for a window over a scripted engine."""
    host = ApiHost(stage.session)
    made = ApiSwitch(host, preferences)
    stage.window.show_api(made)
    yield made
    made.close()
    destroyed(made, host)


@pytest.mark.parametrize("zoom", [1.0, 2.0])
@pytest.mark.parametrize("direction", list(Qt.LayoutDirection)[:2])
def test_the_card_has_room_in_the_smallest_window(
    stage_api, stage, preferences, directed, qtbot, loop, zoom, direction
):
    directed(direction)
    preferences.change(zoom=zoom, api_enabled=True, api_key=KEY)
    stage.window.resize(720, 480)
    log = stage_api.feed.log
    for number in range(9):
        log.begin("POST", f"/v1/chat/completions/{number}").end(200, whole=True)
    log.begin("POST", "/v1/chat/completions").enter(Stage.READING)
    stage_api.state = ApiState(address="http://127.0.0.1:11535")
    stage_api.changed.emit()
    qtbot.waitUntil(stage.window.chat.sidebar_button.isVisible)
    stage.window.panes.show_sidebar()
    stage.window.server.toggle()
    card = stage.window.server
    qtbot.waitUntil(lambda: len(card.requests.rows.rows) == 10)
    assert nameless(stage.window) == []
    stretch(card)
    qtbot.waitUntil(lambda: assert_unclipped(card))
    assert stage.window.centralWidget().rect().contains(card.geometry())
    assert card.requests.height() >= card.requests.sizeHintForRow(0)
    # With the sidebar hidden, the card is at the edge of the window.
    stage.window.panes.toggle_sidebar()
    qtbot.waitUntil(card.isHidden)
    stage.window.menus.local_server.trigger()
    qtbot.waitUntil(lambda: card.x() < 10 or card.geometry().right() > stage.window.width() - 10)
    stage_api.state = ApiState(problem="Port 11535 is in use by another program; choose another port.")
    stage_api.changed.emit()
    qtbot.waitUntil(lambda: assert_unclipped(card))


def test_rows_say_what_is_known():
    def made(**known):
        return RequestRecord(1, "GET", "/v1/models", 0.0, time.monotonic() - 3, **known)

    assert [outcome(made(stage=stage)) for stage in Stage] == ["Working", "Queued", "Reading", "Writing"]
    assert details(made()).endswith(" · 3 s")
    assert outcome(made(status=599)) == "599"
    known = made(status=200, seconds=0.42, prompt_tokens=1234, model="hub.example/me/tiny:latest")
    assert details(known).endswith(" · 0.4 s · 1,234 tokens · tiny")
