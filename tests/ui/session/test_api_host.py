"""The API of the window: it is switched by the preferences, and shares the window's engine without disturbing it."""

import socket
import threading

import httpx
import pytest

from sotto.runner.commands import Cancel
from sotto.ui.session.api_host import ApiHost
from sotto.ui.session.api_switch import ApiState, ApiSwitch
from sotto.ui.state.model_state import Phase

FIRST, OTHER = "one:latest", "other:latest"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Call:
    """A request that runs on its own thread."""

    def __init__(self, url, path, body=None, timeout=20):
        self.answer = None
        self.error = None
        self._thread = threading.Thread(target=self._run, args=(url + path, body, timeout))
        self._thread.start()

    def _run(self, url, body, timeout):
        try:
            method = "GET" if body is None else "POST"
            self.answer = httpx.request(method, url, json=body, timeout=timeout)
        except httpx.HTTPError as error:
            self.error = error

    @property
    def done(self):
        return not self._thread.is_alive()

    def join(self):
        self._thread.join(20)
        assert self.done

    def json(self):
        assert self.error is None
        return self.answer.json()


@pytest.fixture
def switch(stage, preferences, loop, destroyed):
    """Yield a switch that is on."""
    host = ApiHost(stage.session)
    made = ApiSwitch(host, preferences)
    preferences.change(api_enabled=True, api_port=free_port())
    loop.starts.append(made.begin)
    yield made
    made.close()
    destroyed(made, host)


@pytest.fixture
def ask(switch, qtbot, loop):
    """Return a function that makes requests once the server is running."""

    def made(path, body=None, **more):
        qtbot.waitUntil(lambda: switch.state.address != "", timeout=10_000)
        return Call(switch.state.address, path, body, **more)

    return made


def ended(qtbot, call):
    qtbot.waitUntil(lambda: call.done, timeout=20_000)
    return call


def chat(model, **more):
    return {"model": model, "stream": False, "messages": [{"role": "user", "content": "Hello"}], **more}


def test_a_fresh_profile_does_not_listen(stage, preferences, qtbot, loop, destroyed):
    host = ApiHost(stage.session)
    made = ApiSwitch(host, preferences)
    made.begin()
    qtbot.wait(100)
    assert made.state == ApiState()
    assert not [thread for thread in threading.enumerate() if thread.name == "api"]
    made.close()
    destroyed(made, host)


def test_changed_preferences_apply_at_once(switch, preferences, qtbot, loop):
    qtbot.waitUntil(lambda: switch.state.address != "", timeout=10_000)
    first = switch.state.address
    assert first == f"http://127.0.0.1:{preferences.values.api_port}"
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with qtbot.waitSignal(switch.changed, timeout=10_000):
            preferences.change(api_port=port)
        assert switch.state == ApiState(problem=f"Port {port} is in use by another program; choose another port.")
    with qtbot.waitSignal(switch.changed, timeout=10_000):
        preferences.change(api_host="0.0.0.0")
    assert "set an API key first" in switch.state.problem
    with qtbot.waitSignal(switch.changed, timeout=10_000):
        preferences.change(api_host="127.0.0.1", api_port=free_port())
    assert httpx.get(switch.state.address).text == "Ollama is running"
    with pytest.raises(httpx.ConnectError):
        httpx.get(first)
    address = switch.state.address
    with qtbot.waitSignal(switch.changed, timeout=10_000):
        preferences.change(api_enabled=False)
    assert switch.state == ApiState()
    with pytest.raises(httpx.ConnectError):
        httpx.get(address)


def test_it_lists_what_the_window_lists(ask, stage, qtbot, loop):
    qtbot.waitUntil(lambda: bool(stage.session.library.models))
    listed = ended(qtbot, ask("/v1/models")).json()
    assert [row["id"] for row in listed["data"]] == [model.name for model in stage.session.library.models]


def test_a_request_for_another_model_loads_it_and_the_window_shows_that(ask, ready, qtbot, loop):
    session, shown = ready.session, []
    session.state_changed.connect(lambda state: shown.append((state.phase, state.record.name)))
    answer = ended(qtbot, ask("/api/chat", chat(OTHER))).json()
    assert answer["message"]["content"] == "Hello there."
    assert (Phase.LOADING, OTHER) in shown
    assert session.state.record.name == OTHER
    assert session.state.phase is Phase.READY
    # The request is not part of the conversation in view.
    assert ready.chat_session.conversation.messages == ()


def test_counting_tokens_for_programs_does_not_reach_the_window(ask, ready, qtbot, loop, preferences):
    events = []
    ready.session.request_event.connect(events.append)
    name, messages = ready.session.state.record.name, [{"role": "user", "content": "Hello"}]
    counted = ended(qtbot, ask("/v1/messages/count_tokens", {"model": name, "messages": messages}))
    assert counted.json() == {"input_tokens": len("Hello") + 4}
    assert events == []
    assert preferences.values.recent_models == ()


def test_a_request_does_not_raise_the_window(ask, ready, qtbot, loop):
    ready.window.hide()
    ended(qtbot, ask("/api/chat", chat(OTHER)))
    assert ready.session.state.record.name == OTHER
    assert not ready.window.isVisible()
    ready.window.showMinimized()
    ended(qtbot, ask("/api/chat", chat(ready.session.library.models[0].name)))
    assert ready.window.isMinimized()


def test_a_loaded_model_answers_programs_too(ask, ready, qtbot, loop, preferences):
    call = ended(qtbot, ask("/v1/chat/completions", chat(ready.session.state.record.name)))
    assert call.json()["choices"][0]["message"]["content"] == "Hello there."
    assert ready.session.state.phase is Phase.READY
    # A model that only programs use counts as used, too; that is saved at most once a minute.
    (used,) = preferences.values.last_used.items()
    assert used[0] == ready.session.state.record.name
    ended(qtbot, ask("/v1/chat/completions", chat(used[0])))
    assert preferences.values.last_used == dict([used])


def test_a_person_is_not_interrupted(ask, ready, qtbot, loop):
    name = ready.session.state.record.name
    ready.script.hold_answer = threading.Event()
    ready.chat_session.send("Tell me")
    qtbot.waitUntil(lambda: ready.session.state.phase is Phase.GENERATING)
    call = ask("/api/chat", chat(OTHER))
    qtbot.wait(200)
    assert ready.session.state.record.name == name
    assert not call.done
    ready.script.hold_answer.set()
    assert ended(qtbot, call).json()["message"]["content"] == "Hello there."
    assert ready.chat_session.conversation.messages[-1].content == "Hello there."
    assert ready.session.state.record.name == OTHER


def test_unloading_the_model_ends_the_request_with_an_error(ask, ready, qtbot, loop):
    ready.script.hold_answer = threading.Event()
    before = len(ready.script.requests)
    call = ask("/api/chat", chat(ready.session.state.record.name))
    qtbot.waitUntil(lambda: len(ready.script.requests) > before)
    ready.thread.send(Cancel(ready.script.requests[-1].id))
    ready.script.hold_answer.set()
    ended(qtbot, call)
    assert call.answer.status_code == 503
    assert call.json() == {"error": "The model was unloaded during the answer."}


def test_a_failed_load_is_reported_to_both(ask, ready, qtbot, loop):
    ready.script.fail_load = "The weights are damaged."
    call = ended(qtbot, ask("/api/chat", chat(OTHER)))
    assert call.answer.status_code == 500
    assert call.json() == {"error": "The weights are damaged."}
    assert ready.session.state.phase is Phase.FAILED
    assert "The weights are damaged." in ready.window.chat.notice.message.text()


def test_a_crash_of_the_engine_is_reported(ask, ready, qtbot, loop):
    ready.script.crash = "out of order"
    call = ended(qtbot, ask("/api/chat", chat(ready.session.state.record.name)))
    assert call.answer.status_code == 500
    assert "out of order" in call.json()["error"]


def test_a_model_loaded_by_a_person_stays(ask, ready, qtbot, loop):
    name = ready.session.state.record.name
    ended(qtbot, ask("/api/chat", chat(name, keep_alive=0)))
    qtbot.wait(200)
    assert ready.session.state.phase is Phase.READY
    # A model that was loaded only for other programs is unloaded when they ask for it.
    ended(qtbot, ask("/api/chat", chat(OTHER, keep_alive=0)))
    qtbot.waitUntil(lambda: ready.session.state.phase is Phase.FOUND)
    # An explicit request to unload is always followed.
    ready.session.load(ready.session.library.models[0])
    qtbot.waitUntil(lambda: ready.session.state.phase is Phase.READY)
    assert ended(qtbot, ask("/api/generate", {"model": name, "keep_alive": 0})).json()["done_reason"] == "unload"
    qtbot.waitUntil(lambda: ready.session.state.phase is Phase.FOUND)


def test_disconnecting_ends_the_answer(ask, ready, qtbot, loop):
    ready.script.hold_prefill = threading.Event()
    call = ask("/api/chat", chat(ready.session.state.record.name), timeout=0.5)
    qtbot.waitUntil(lambda: ready.thread.answering)
    # The script ends a held request only if it is cancelled.
    qtbot.waitUntil(lambda: not ready.thread.answering)
    ended(qtbot, call)
    assert isinstance(call.error, httpx.ReadTimeout)


def test_closing_ends_all_requests(ask, switch, ready, qtbot, loop):
    ready.script.hold_answer = threading.Event()
    call = ask("/api/chat", chat(ready.session.state.record.name))
    qtbot.waitUntil(lambda: ready.thread.answering)
    switch.close()
    ended(qtbot, call)
    assert call.answer.status_code == 503
    assert call.json() == {"error": "The server is stopping."}


def test_a_busy_window_does_not_delay_answers(ask, ready, qtbot, loop):
    ready.script.hold_answer = threading.Event()
    call = ask("/api/chat", chat(ready.session.state.record.name))
    qtbot.waitUntil(lambda: ready.thread.answering)
    ready.script.hold_answer.set()
    call.join()  # blocks the window's thread meanwhile
    assert call.json()["message"]["content"] == "Hello there."


def test_vectors_come_from_the_model_of_the_window(ask, ready, qtbot, loop):
    call = ended(qtbot, ask("/api/embed", {"model": OTHER, "input": ["one", "three"]}))
    assert call.json()["embeddings"] == [[3.0], [5.0]]
    assert ready.session.state.record.name == OTHER
    assert not ready.session.host.answering
