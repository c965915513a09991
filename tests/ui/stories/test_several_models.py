"""Several models in memory: the window's current one, previous ones, and those that other programs use."""

import math
import socket
import threading

import httpx
import pytest

from sotto.runner.residents import ModelRequest
from sotto.ui.session.api_host import ApiHost
from sotto.ui.session.api_switch import ApiSwitch
from sotto.ui.state.model_state import Phase

OTHER = "other:latest"


@pytest.fixture
def roomy(ready):
    """Return the stage with its first model loaded, and memory for another one."""
    ready.script.room = 2
    return ready


def row_of(stage, name):
    return next(row for row in stage.window.models.panel.rows if row.record.name == name)


def phases(stage):
    return {row.record.name: row.state.phase for row in stage.window.models.panel.rows}


def use(stage, qtbot, record):
    stage.session.load(record)
    qtbot.waitUntil(lambda: stage.session.state.record == record and stage.session.state.phase is Phase.READY)


def test_the_previous_model_stays_if_there_is_room_and_is_reused_at_once(roomy, qtbot, loop):
    session = roomy.session
    first, other = session.library.models
    use(roomy, qtbot, other)
    assert phases(roomy) == {first.name: Phase.READY, OTHER: Phase.READY}
    assert [resident.record for resident in session.keeper.residents.all] == [first, other]
    # The gauge counts the weights of both.
    qtbot.waitUntil(lambda: session.figures.weights == first.size + other.size)
    assert [resident.weights for resident in session.figures.models] == [first.size, other.size]
    # Both stay until their memory is needed, because the settings have no idle time.
    assert [session.keeper.residents.stays(resident) for resident in session.keeper.residents.all] == [math.inf] * 2
    roomy.chat_session.send("Tell me")
    qtbot.waitUntil(lambda: session.state.phase is Phase.READY and bool(roomy.chat_session.conversation.messages))
    loads = list(roomy.script.loads)
    row_of(roomy, first.name).load_wanted.emit(first)
    assert session.state.record == first
    assert session.state.phase is Phase.READY
    assert roomy.script.loads == loads


def test_without_room_the_previous_model_is_unloaded_first(ready, qtbot, loop):
    first, other = ready.session.library.models
    use(ready, qtbot, other)
    assert phases(ready) == {first.name: Phase.FOUND, OTHER: Phase.READY}
    assert [resident.record for resident in ready.session.keeper.residents.all] == [other]


def test_a_model_not_in_use_is_ejected_from_its_row(roomy, qtbot, loop):
    first, other = roomy.session.library.models
    use(roomy, qtbot, other)
    row_of(roomy, first.name).eject.click()
    qtbot.waitUntil(lambda: phases(roomy) == {first.name: Phase.FOUND, OTHER: Phase.READY})
    assert roomy.session.state.record == other
    assert roomy.session.state.phase is Phase.READY


def test_a_pinned_model_is_never_unloaded_automatically(ready, qtbot, loop):
    session, (first, other) = ready.session, ready.session.library.models
    ready.window.models.notes.pin(first, pinned=True)
    session.load(other)
    qtbot.waitUntil(lambda: session.state.phase is not Phase.LOADING)
    # Nothing else can be unloaded, so the model is loaded into the memory that is left.
    assert session.state.phase is Phase.READY
    assert phases(ready)[first.name] is Phase.READY
    assert session.keeper.residents.stays(session.keeper.residents.of(first)) == float("inf")


def test_choosing_another_model_during_a_load_cancels_it(roomy, qtbot, loop):
    first, other = roomy.session.library.models
    roomy.script.hold_load = threading.Event()
    roomy.session.load(other)
    qtbot.waitUntil(lambda: phases(roomy)[OTHER] is Phase.LOADING)
    roomy.session.load(first)
    assert roomy.session.state.phase is Phase.READY
    qtbot.waitUntil(lambda: phases(roomy) == {first.name: Phase.READY, OTHER: Phase.FOUND})


def test_programs_load_models_beside_the_windows(roomy, preferences, qtbot, loop, destroyed):
    first, _ = roomy.session.library.models
    host = ApiHost(roomy.session)
    switch = ApiSwitch(host, preferences)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    preferences.change(api_enabled=True, api_port=port)
    switch.begin()
    qtbot.waitUntil(lambda: switch.state.address != "", timeout=10_000)
    responses = []

    def ask():
        body = {"model": OTHER, "stream": False, "messages": [{"role": "user", "content": "Hi"}], "keep_alive": "1m"}
        responses.append(httpx.post(f"{switch.state.address}/api/chat", json=body, timeout=20).json())
        responses.append(httpx.get(f"{switch.state.address}/api/ps").json()["models"])

    thread = threading.Thread(target=ask)
    thread.start()
    qtbot.waitUntil(lambda: not thread.is_alive(), timeout=20_000)
    answer, listed = responses
    assert answer["message"]["content"] == "Hello there."
    # The window keeps its own model, and shows that there is another one.
    assert roomy.session.state.record == first
    assert phases(roomy) == {first.name: Phase.READY, OTHER: Phase.READY}
    assert [row["name"] for row in listed] == [first.name, OTHER]
    assert all(row["size"] > row["size_vram"] // 2 > 0 for row in listed)
    switch.close()
    destroyed(switch, host)


def test_a_person_can_eject_a_model_that_a_program_uses(roomy, qtbot, loop):
    session, (first, other) = roomy.session, roomy.session.library.models
    host, answers = ApiHost(session), []
    host.want(ModelRequest(other), answers.append)
    qtbot.waitUntil(lambda: bool(answers))
    assert phases(roomy)[OTHER] is Phase.GENERATING
    session.eject(other)
    qtbot.waitUntil(lambda: phases(roomy)[OTHER] is Phase.FOUND)
    assert session.state.record == first
    host.leave(1)
    host.deleteLater()


def test_the_chosen_idle_time_holds_for_models_that_only_programs_use(roomy, preferences, qtbot, loop):
    session, (_, other) = roomy.session, roomy.session.library.models
    host, answers, residents = ApiHost(session), [], roomy.session.keeper.residents
    visit = host.want(ModelRequest(other), answers.append)
    qtbot.waitUntil(lambda: bool(answers))
    host.leave(visit)
    qtbot.waitUntil(lambda: residents.of(other).idle)
    # Never, unless a person chooses a time.
    assert residents.stays(residents.of(other)) == math.inf
    preferences.change(keep_alive_minutes=30)
    assert 1700 < residents.stays(residents.of(other)) <= 1800
    preferences.change(keep_alive_minutes=0)
    assert residents.stays(residents.of(other)) == math.inf


def test_an_idle_time_that_is_chosen_later_unloads_the_models_of_programs(roomy, preferences, qtbot, loop):
    session, (first, other) = roomy.session, roomy.session.library.models
    host, answers, residents = ApiHost(session), [], roomy.session.keeper.residents
    visit = host.want(ModelRequest(other), answers.append)
    qtbot.waitUntil(lambda: bool(answers))
    host.leave(visit)
    qtbot.waitUntil(lambda: residents.of(other).idle)
    clock = residents.clock
    residents.clock = lambda: clock() + 60 * 30 - 0.5
    preferences.change(keep_alive_minutes=30)
    qtbot.waitUntil(lambda: phases(roomy)[OTHER] is Phase.FOUND)
    assert session.state.record == first
