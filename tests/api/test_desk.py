"""When requests reach the engine, tested step by step with a host that does nothing on its own."""

import asyncio
import functools
from contextlib import aclosing
from dataclasses import replace

import pytest

from scripted_loop import record
from sotto.api.desk import Desk
from sotto.api.error_bodies import ApiError, NotFoundError, answer_error
from sotto.engine.contract.events import (
    DoneReason,
    Failed,
    Finished,
    Loaded,
    ModelInfo,
    PrefillProgress,
    TextChunk,
    Unloaded,
)
from sotto.engine.contract.requests import GenerateRequest
from sotto.errors import UnsupportedModelError
from sotto.runner.commands import Generate, Unload
from sotto.runner.host import not_loaded, resident_models
from sotto.runner.keeper import Keeper
from sotto.runner.residents import FOREVER, Residents

ONE, TWO, THREE = record("one:latest"), record("two:latest"), record("three:latest")


class StillHost:
    """A host that records the commands to its loop; the test decides when they end."""

    slots = 2

    def __init__(self, room=1, **options):
        self.commands = []
        self.callbacks = {}
        self.cancelled = []
        self.later = None
        self.now = 0.0
        self._room = room
        self._ends = []
        self.residents = Residents(lambda: self.now, **options)
        self._keeper = Keeper(self.residents, lambda: self, lambda seconds: setattr(self, "later", seconds))
        self.want, self.leave = self._keeper.want, self._keeper.leave

    @property
    def resident_models(self):
        return resident_models(self.residents, None)

    @property
    def visitors(self):
        return sum(len(resident.visits) for resident in self.residents.all)

    def models(self):
        return (ONE, TWO, THREE)

    def dismiss(self, record, callback):
        resident = self.residents.of(record)
        self._keeper.dismiss(resident.seat if resident else "", callback)

    def pass_time(self, seconds):
        self.now += seconds
        self._keeper.tick()

    # The interface of the loop

    def send(self, command):
        if isinstance(command, Unload):
            self.commands.append("unload")
            self._ends.append((None, command.seat))
        elif command.roomy and len(self.resident_models) >= self._room:
            self._keeper.receive(Failed("", "It does not fit.", seat=command.seat, shortage=True))
        else:
            self.commands.append(command.record.name)
            self._ends.append((command.record, command.seat))

    def ask(self, command, callback):
        assert self.residents.resident(command.seat).visits
        self.callbacks[command.request.id] = callback

    def cancel(self, request_id):
        self.cancelled.append(request_id)

    def end(self, event=None):
        """End the running load or unload."""
        record, seat = self._ends.pop(0)
        if record is not None and event is None:
            info = ModelInfo(record.digest, record.name, "llama", 4096, 1, 1, "float32", "cpu", True, 1)
            event = Loaded(info, seat)
        self._keeper.receive(replace(event or Unloaded(), seat=seat))


def stepped(test):
    """Run a test on a new event loop."""

    @functools.wraps(test)
    def run(**arguments):
        asyncio.run(asyncio.wait_for(test(**arguments), 20))

    return run


async def settle():
    for _ in range(20):
        await asyncio.sleep(0)


class Guest:
    """A visit that lasts until `leave` is called."""

    def __init__(self, desk, record, **options):
        self.inside = False
        self._leave = asyncio.Event()
        self.task = asyncio.create_task(self._stay(desk, record, options))

    async def _stay(self, desk, record, options):
        async with desk.visit(record, **options):
            self.inside = True
            await self._leave.wait()
        self.inside = False

    async def leave(self):
        self._leave.set()
        await self.task
        await settle()


@stepped
async def test_concurrent_requests_for_a_model_share_one_load():
    host = StillHost()
    desk = Desk(host)
    guests = [Guest(desk, ONE) for _ in range(3)]
    await settle()
    assert host.commands == ["one:latest"]
    assert not any(guest.inside for guest in guests)
    host.end()
    await settle()
    assert all(guest.inside for guest in guests)
    late = Guest(desk, ONE)
    await settle()
    assert late.inside
    assert host.commands == ["one:latest"]
    for guest in (*guests, late):
        await guest.leave()


@stepped
async def test_requests_for_another_model_wait_in_order():
    host = StillHost()
    desk = Desk(host)
    first = Guest(desk, ONE)
    await settle()
    host.end()
    await settle()
    second, third = Guest(desk, TWO), Guest(desk, ONE)
    await settle()
    assert (second.inside, third.inside) == (False, False)
    assert host.commands == ["one:latest"]
    await first.leave()
    assert host.commands == ["one:latest", "unload"]
    host.end()
    host.end()
    await settle()
    assert host.commands[2:] == ["two:latest"]
    assert (second.inside, third.inside) == (True, False)
    await second.leave()
    assert host.commands[3:] == ["unload"]
    host.end()
    host.end()
    await settle()
    assert third.inside
    await third.leave()


@stepped
async def test_a_cancelled_wait_leaves_the_queue():
    host = StillHost()
    desk = Desk(host)
    first = Guest(desk, ONE)
    await settle()
    host.end()
    await settle()
    second, third = Guest(desk, TWO), Guest(desk, ONE)
    await settle()
    second.task.cancel()
    await settle()
    assert third.inside
    assert host.commands == ["one:latest"]
    await first.leave()
    await third.leave()


@stepped
async def test_with_enough_memory_another_model_is_loaded_alongside():
    host = StillHost(room=2)
    desk = Desk(host)
    first = Guest(desk, ONE)
    await settle()
    host.end()
    await settle()
    second, third = Guest(desk, TWO), Guest(desk, ONE)
    await settle()
    assert (first.inside, second.inside, third.inside) == (True, False, True)
    host.end()
    await settle()
    assert second.inside
    assert host.commands == ["one:latest", "two:latest"]
    assert [resident.record for resident in host.resident_models] == [ONE, TWO]
    for guest in (first, second, third):
        await guest.leave()


@stepped
async def test_a_load_whose_request_is_cancelled_finishes_and_the_model_expires():
    host = StillHost()
    desk = Desk(host)
    guest = Guest(desk, ONE, keep_alive=5)
    await settle()
    guest.task.cancel()
    await settle()
    host.end()
    await settle()
    assert host.commands == ["one:latest"]
    assert host.later == 5
    host.pass_time(5)
    assert host.commands == ["one:latest", "unload"]


@stepped
async def test_a_failed_load_fails_all_requests_that_waited_for_it():
    host = StillHost()
    desk = Desk(host)
    first, second, other = Guest(desk, ONE), Guest(desk, ONE), Guest(desk, TWO)
    await settle()
    host.end(Failed("", "The weights are damaged."))
    await settle()
    for guest in (first, second):
        with pytest.raises(ApiError, match=r"The weights are damaged\.") as raised:
            await guest.task
        assert raised.value.status == 500
    assert host.commands == ["one:latest", "two:latest"]
    host.end()
    await settle()
    assert other.inside
    await other.leave()


@stepped
async def test_a_load_stopped_by_the_user_is_reported():
    host = StillHost()
    desk = Desk(host)
    guest = Guest(desk, ONE)
    await settle()
    host.end(Unloaded())
    with pytest.raises(ApiError, match=r"Loading the model was cancelled\.") as raised:
        await guest.task
    assert raised.value.status == 503


@stepped
async def test_too_many_requests_are_refused():
    host = StillHost(max_requests=2)
    desk = Desk(host)
    guests = [Guest(desk, ONE), Guest(desk, ONE)]
    await settle()
    with pytest.raises(ApiError, match="server busy, please try again") as raised:
        await Guest(desk, ONE).task
    assert raised.value.status == 503
    host.end()
    await settle()
    with pytest.raises(ApiError):
        await Guest(desk, ONE).task
    await guests[0].leave()
    late = Guest(desk, ONE)
    await settle()
    assert late.inside
    for guest in (guests[1], late):
        await guest.leave()


@stepped
async def test_a_model_that_cannot_run_is_not_loaded():
    host = StillHost()
    refused = record("gguf:latest", runnable=False, reason="GGUF models cannot run yet.")
    with pytest.raises(UnsupportedModelError, match="GGUF"):
        await Guest(Desk(host), refused).task
    assert host.commands == []


@stepped
async def test_another_context_length_needs_another_load():
    host = StillHost()
    desk = Desk(host)
    first = Guest(desk, ONE)
    await settle()
    host.end()
    await settle()
    await first.leave()
    second = Guest(desk, ONE, num_ctx=512)
    await settle()
    assert host.commands == ["one:latest", "one:latest"]
    assert [resident.seat for resident in host.residents.all] == [host._ends[0][1]]
    host.end()
    await settle()
    assert second.inside
    await second.leave()


async def visited(desk, host, record=ONE, **options):
    guest = Guest(desk, record, **options)
    await settle()
    if host._ends:
        host.end()
        await settle()
    await guest.leave()


@stepped
async def test_an_idle_model_is_unloaded_and_each_visit_restarts_its_timer():
    host = StillHost(keep_alive=20)
    desk = Desk(host)
    await visited(desk, host)
    assert host.resident_models[0].stays == 20
    host.pass_time(10)
    await visited(desk, host)
    host.pass_time(15)
    assert host.commands == ["one:latest"]
    host.pass_time(5)
    assert host.commands == ["one:latest", "unload"]
    host.end()


@stepped
async def test_keep_alive_of_a_request():
    host = StillHost()
    desk = Desk(host)
    await visited(desk, host, keep_alive=0)
    assert host.commands == ["one:latest", "unload"]
    host.end()
    await settle()
    await visited(desk, host, keep_alive=FOREVER)
    assert host.resident_models[0].stays == FOREVER
    assert host.residents.due == FOREVER
    await visited(desk, host, keep_alive=10)
    assert host.resident_models[0].stays == 10
    desk.close()


@stepped
async def test_a_model_open_in_the_window_stays_loaded():
    host = StillHost()
    desk = Desk(host)
    guest = Guest(desk, ONE, keep_alive=0)
    await settle()
    host.end()
    await settle()
    host._keeper.choose(host.residents.all[0].seat)
    await guest.leave()
    assert host.commands == ["one:latest"]
    assert host.resident_models[0].stays == FOREVER
    # An explicit request still unloads it.
    ended = asyncio.create_task(desk.unload(ONE))
    await settle()
    assert host.commands == ["one:latest", "unload"]
    assert not ended.done()
    host.end()
    await ended


@stepped
async def test_unloading_waits_for_running_answers_but_not_for_later_requests():
    host = StillHost()
    desk = Desk(host)
    guest = Guest(desk, ONE)
    await settle()
    host.end()
    await settle()
    await desk.unload(TWO)
    await desk.unload(ONE)
    assert host.commands == ["one:latest"]
    late = Guest(desk, ONE)
    await settle()
    assert not late.inside
    await guest.leave()
    assert len(host.commands) == 2
    host.end()
    host.end()
    await settle()
    assert late.inside
    await late.leave()


def request(name="r"):
    return GenerateRequest(id=name, prompt="a")


def finished(reason=DoneReason.STOP):
    return Finished("r", "ab", (1, 2), reason, 1, 0, 1, 1, 1)


async def answering(desk, host):
    """Return a task that reads an answer in progress."""
    guest = asyncio.create_task(_answer(desk))
    await settle()
    host.end()
    await settle()
    return guest


async def _answer(desk):
    received = []
    async with desk.visit(ONE) as visit, aclosing(desk.answer(visit, request())) as events:
        async for event in events:
            received.append(event)
            await asyncio.sleep(0)
    return received


@stepped
async def test_an_answer_arrives_complete_and_in_order():
    host = StillHost()
    guest = await answering(Desk(host), host)
    for event in (PrefillProgress("r", 1, 1, 0), TextChunk("r", "a", (1,)), TextChunk("r", "b", (2,)), finished()):
        host.callbacks["r"](event)
    received = await guest
    assert received == [PrefillProgress("r", 1, 1, 0), TextChunk("r", "ab", (1, 2)), finished()]
    assert host.cancelled == []


@stepped
@pytest.mark.parametrize(
    ("event", "status", "message"),
    [
        (Failed("r", "The prompt is empty."), 400, "The prompt is empty."),
        (Failed("r", "Sotto made a mistake.", bug=True), 500, "Sotto made a mistake."),
        (finished(DoneReason.CANCELLED), 503, "The model was unloaded during the answer."),
    ],
)
async def test_a_failed_answer_gives_its_reason(event, status, message):
    host = StillHost()
    guest = await answering(Desk(host), host)
    host.callbacks["r"](event)
    with pytest.raises(ApiError) as raised:
        await guest
    assert (raised.value.status, raised.value.message) == (status, message)


@stepped
async def test_closing_the_generator_cancels_the_answer():
    host = StillHost()
    desk = Desk(host)
    guest = await answering(desk, host)
    host.callbacks["r"](TextChunk("r", "a", (1,)))
    await settle()
    guest.cancel()
    await settle()
    assert host.cancelled == ["r"]
    assert host.visitors == 0


@stepped
async def test_an_answer_that_nobody_reads_fails():
    host = StillHost()
    desk = Desk(host)
    guest = await answering(desk, host)
    for _ in range(200):
        host.callbacks["r"](TextChunk("r", "a" * 10_000, (1,)))
    with pytest.raises(ApiError, match="too slowly") as raised:
        await guest
    assert raised.value.status == 408
    assert host.cancelled == ["r"]


@stepped
async def test_closing_fails_all_requests_and_ignores_later_events():
    host = StillHost()
    desk = Desk(host)
    guest = await answering(desk, host)
    waiting = Guest(desk, TWO)
    await settle()
    desk.close()
    for task in (guest, waiting.task, Guest(desk, ONE).task):
        with pytest.raises(ApiError, match=r"The server is stopping\."):
            await task
    host.callbacks["r"](finished())
    assert host.cancelled == ["r"]


@stepped
async def test_only_listed_names_are_found():
    desk = Desk(StillHost())
    assert await desk.model("ONE") == ONE
    assert await desk.model("one:latest") == ONE
    for name in ("", "on", "/models/one:latest", "one:other"):
        with pytest.raises(NotFoundError):
            await desk.model(name)


@stepped
async def test_answers_in_progress_are_limited_to_the_slots():
    host = StillHost()
    desk = Desk(host)

    async def ask(name):
        async with desk.visit(ONE) as visit, aclosing(desk.answer(visit, request(name))) as events:
            return [event async for event in events]

    asking = [asyncio.create_task(ask(name)) for name in "abcd"]
    await settle()
    host.end()
    await settle()
    assert list(host.callbacks) == ["a", "b"]
    asking[2].cancel()
    host.callbacks["a"](finished())
    await settle()
    assert list(host.callbacks) == ["a", "b", "d"]
    for name in "bd":
        host.callbacks[name](finished())
    assert [await asking[index] for index in (0, 1, 3)] == [[finished()]] * 3
    assert host.visitors == 0


def test_unloading_before_an_answer_is_not_an_invalid_request():
    error = answer_error(not_loaded(Generate(GenerateRequest("a", prompt="x"))))
    assert (error.status, error.message) == (503, "The model was unloaded before it could answer; ask again.")
