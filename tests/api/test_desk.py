"""Who may ask the engine when: driven step by step, with a host that does nothing by itself."""

import asyncio
import functools
from contextlib import aclosing

import pytest

from scripted_loop import record
from sotto.api.desk import Desk
from sotto.api.durations import FOREVER
from sotto.api.errors import ApiError, NotFoundError
from sotto.engine.types import (
    DoneReason,
    Failed,
    Finished,
    GenerateRequest,
    Loaded,
    ModelInfo,
    PrefillProgress,
    TextChunk,
    Unloaded,
)
from sotto.errors import UnsupportedModelError
from sotto.runner.host import Standing, same

ONE, TWO, THREE = record("one:latest"), record("two:latest"), record("three:latest")


class StillHost:
    """Remembers what it is asked for; the test says what comes of it."""

    slots = 2

    def __init__(self, keep_alive=300.0):
        self.keep_alive = keep_alive
        self.standing = Standing()
        self.asked = []
        self.heard = {}
        self.cancelled = []
        self._ends = []

    def models(self):
        return (ONE, TWO, THREE)

    def serves(self, record, num_ctx):
        loaded = self.standing.record
        return loaded is not None and same(loaded, record) and num_ctx == self.standing.num_ctx

    def load(self, record, num_ctx, heard):
        self.standing = Standing()
        self.asked.append(record.name)
        self._ends.append((record, num_ctx, heard))

    def unload(self, heard):
        self.standing = Standing()
        self.asked.append("unload")
        self._ends.append((None, None, heard))

    def generate(self, record, request, heard):
        assert self.standing.record == record
        self.heard[request.id] = heard

    def cancel(self, request_id):
        self.cancelled.append(request_id)

    def end(self, event=None, lent=True):
        """End the load or unload that is under way."""
        record, num_ctx, heard = self._ends.pop(0)
        if record is not None and event is None:
            info = ModelInfo(record.digest, record.name, "llama", 4096, 1, 1, "float32", "cpu", True, 1)
            self.standing = Standing(record, info, None, num_ctx, lent)
            event = Loaded(info)
        heard(event or Unloaded())


def stepped(test):
    """Run a test on an event loop of its own."""

    @functools.wraps(test)
    def run(**arguments):
        asyncio.run(asyncio.wait_for(test(**arguments), 20))

    return run


async def settle():
    for _ in range(20):
        await asyncio.sleep(0)


class Guest:
    """A visit that lasts until it is told to end."""

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
async def test_one_model_is_loaded_once_for_all_who_ask():
    host = StillHost()
    desk = Desk(host)
    guests = [Guest(desk, ONE) for _ in range(3)]
    await settle()
    assert host.asked == ["one:latest"]
    assert not any(guest.inside for guest in guests)
    host.end()
    await settle()
    assert all(guest.inside for guest in guests)
    late = Guest(desk, ONE)
    await settle()
    assert late.inside
    assert host.asked == ["one:latest"]
    for guest in (*guests, late):
        await guest.leave()


@stepped
async def test_another_model_waits_and_whoever_comes_later_waits_behind_it():
    host = StillHost()
    desk = Desk(host)
    first = Guest(desk, ONE)
    await settle()
    host.end()
    await settle()
    second, third = Guest(desk, TWO), Guest(desk, ONE)
    await settle()
    assert (second.inside, third.inside) == (False, False)
    assert host.asked == ["one:latest"]
    await first.leave()
    assert host.asked == ["one:latest", "two:latest"]
    host.end()
    await settle()
    assert (second.inside, third.inside) == (True, False)
    await second.leave()
    assert host.asked[2:] == ["one:latest"]
    host.end()
    await settle()
    assert third.inside
    await third.leave()


@stepped
async def test_whoever_leaves_the_queue_is_forgotten():
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
    assert host.asked == ["one:latest"]
    await first.leave()
    await third.leave()


@stepped
async def test_whoever_leaves_while_a_model_is_loaded_leaves_it_to_its_time():
    host = StillHost()
    desk = Desk(host)
    guest = Guest(desk, ONE, keep_alive=0.05)
    await settle()
    guest.task.cancel()
    await settle()
    host.end()
    await settle()
    assert host.asked == ["one:latest"]
    await asyncio.sleep(0.1)
    assert host.asked == ["one:latest", "unload"]


@stepped
async def test_a_load_that_fails_fails_for_all_who_waited_for_it():
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
    assert host.asked == ["one:latest", "two:latest"]
    host.end()
    await settle()
    assert other.inside
    await other.leave()


@stepped
async def test_a_load_that_a_person_stops_is_said():
    host = StillHost()
    desk = Desk(host)
    guest = Guest(desk, ONE)
    await settle()
    host.end(Unloaded())
    with pytest.raises(ApiError, match=r"Loading the model was stopped\.") as raised:
        await guest.task
    assert raised.value.status == 503


@stepped
async def test_too_many_are_sent_away():
    host = StillHost()
    desk = Desk(host, most=2)
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
async def test_what_cannot_run_is_not_tried():
    host = StillHost()
    refused = record("gguf:latest", runnable=False, reason="GGUF models cannot run yet.")
    with pytest.raises(UnsupportedModelError, match="GGUF"):
        await Guest(Desk(host), refused).task
    assert host.asked == []


@stepped
async def test_another_context_is_another_load():
    host = StillHost()
    desk = Desk(host)
    first = Guest(desk, ONE)
    await settle()
    host.end()
    await settle()
    await first.leave()
    second = Guest(desk, ONE, num_ctx=512)
    await settle()
    assert host.asked == ["one:latest", "one:latest"]
    host.end()
    await settle()
    assert second.inside
    await second.leave()


async def visited(desk, host, record=ONE, lent=True, **options):
    guest = Guest(desk, record, **options)
    await settle()
    if host._ends:
        host.end(lent=lent)
        await settle()
    await guest.leave()


@stepped
async def test_an_idle_model_goes_after_its_time_and_each_visit_sets_it_anew():
    host = StillHost(keep_alive=0.2)
    desk = Desk(host)
    await visited(desk, host)
    assert 0.1 < desk.expires_in <= 0.2
    await asyncio.sleep(0.1)
    await visited(desk, host)
    await asyncio.sleep(0.15)
    assert host.asked == ["one:latest"]
    await asyncio.sleep(0.15)
    assert host.asked == ["one:latest", "unload"]
    host.end()


@stepped
async def test_keep_alive_of_a_request():
    host = StillHost()
    desk = Desk(host)
    await visited(desk, host, keep_alive=0)
    assert host.asked == ["one:latest", "unload"]
    host.end()
    await settle()
    await visited(desk, host, keep_alive=FOREVER)
    assert desk.expires_in == FOREVER
    assert desk._expiry is None
    await visited(desk, host, keep_alive=10)
    assert 9 < desk.expires_in <= 10
    desk.close()


@stepped
async def test_a_model_that_is_not_lent_stays():
    host = StillHost(keep_alive=None)
    desk = Desk(host)
    await visited(desk, host, lent=False, keep_alive=0)
    assert host.asked == ["one:latest"]
    assert desk.expires_in == FOREVER
    # Unless somebody asks for just that.
    ended = asyncio.create_task(desk.unload(ONE))
    await settle()
    assert host.asked == ["one:latest", "unload"]
    assert not ended.done()
    host.end()
    await ended


@stepped
async def test_unloading_waits_for_those_who_are_answered_and_goes_before_those_who_come():
    host = StillHost()
    desk = Desk(host)
    guest = Guest(desk, ONE)
    await settle()
    host.end()
    await settle()
    await desk.unload(TWO)
    await desk.unload(ONE)
    assert host.asked == ["one:latest"]
    late = Guest(desk, ONE)
    await settle()
    assert not late.inside
    await guest.leave()
    assert len(host.asked) == 2
    host.end()
    await settle()
    assert late.inside
    await late.leave()


def request(name="r"):
    return GenerateRequest(id=name, prompt="a")


def finished(reason=DoneReason.STOP):
    return Finished("r", "ab", (1, 2), reason, 1, 0, 1, 1, 1)


async def answering(desk, host):
    """Yield a visit in progress and the answer that it hears."""
    guest = asyncio.create_task(_answer(desk))
    await settle()
    host.end()
    await settle()
    return guest


async def _answer(desk):
    said = []
    async with desk.visit(ONE) as visit, aclosing(desk.answer(visit, request())) as events:
        async for event in events:
            said.append(event)
            await asyncio.sleep(0)
    return said


@stepped
async def test_an_answer_comes_whole_and_in_order():
    host = StillHost()
    guest = await answering(Desk(host), host)
    for event in (PrefillProgress("r", 1, 1, 0), TextChunk("r", "a", (1,)), TextChunk("r", "b", (2,)), finished()):
        host.heard["r"](event)
    said = await guest
    assert said == [PrefillProgress("r", 1, 1, 0), TextChunk("r", "ab", (1, 2)), finished()]
    assert host.cancelled == []


@stepped
@pytest.mark.parametrize(
    ("event", "status", "message"),
    [
        (Failed("r", "The prompt is empty."), 400, "The prompt is empty."),
        (Failed("r", "Sotto made a mistake.", bug=True), 500, "Sotto made a mistake."),
        (finished(DoneReason.CANCELLED), 503, "The model was unloaded while it answered."),
    ],
)
async def test_an_answer_that_fails_says_why(event, status, message):
    host = StillHost()
    guest = await answering(Desk(host), host)
    host.heard["r"](event)
    with pytest.raises(ApiError) as raised:
        await guest
    assert (raised.value.status, raised.value.message) == (status, message)


@stepped
async def test_whoever_stops_listening_ends_the_answer():
    host = StillHost()
    desk = Desk(host)
    guest = await answering(desk, host)
    host.heard["r"](TextChunk("r", "a", (1,)))
    await settle()
    guest.cancel()
    await settle()
    assert host.cancelled == ["r"]
    assert desk._visitors == 0


@stepped
async def test_whoever_does_not_read_is_not_waited_for():
    host = StillHost()
    desk = Desk(host)
    guest = await answering(desk, host)
    for _ in range(200):
        host.heard["r"](TextChunk("r", "a" * 10_000, (1,)))
    with pytest.raises(ApiError, match="not read") as raised:
        await guest
    assert raised.value.status == 408
    assert host.cancelled == ["r"]


@stepped
async def test_closing_ends_everything_and_what_comes_later_goes_nowhere():
    host = StillHost()
    desk = Desk(host)
    guest = await answering(desk, host)
    waiting = Guest(desk, TWO)
    await settle()
    desk.close()
    for task in (guest, waiting.task, Guest(desk, ONE).task):
        with pytest.raises(ApiError, match=r"The server is being stopped\."):
            await task
    host.heard["r"](finished())
    assert host.cancelled == ["r"]


@stepped
async def test_names_are_those_of_the_list():
    desk = Desk(StillHost())
    assert await desk.model("ONE") == ONE
    assert await desk.model("one:latest") == ONE
    for name in ("", "on", "/models/one:latest", "one:other"):
        with pytest.raises(NotFoundError):
            await desk.model(name)


@stepped
async def test_no_more_answers_are_under_way_than_there_are_slots():
    host = StillHost()
    desk = Desk(host)

    async def ask(name):
        async with desk.visit(ONE) as visit, aclosing(desk.answer(visit, request(name))) as events:
            return [event async for event in events]

    asking = [asyncio.create_task(ask(name)) for name in "abcd"]
    await settle()
    host.end()
    await settle()
    assert list(host.heard) == ["a", "b"]
    asking[2].cancel()
    host.heard["a"](finished())
    await settle()
    assert list(host.heard) == ["a", "b", "d"]
    for name in "bd":
        host.heard[name](finished())
    assert [await asking[index] for index in (0, 1, 3)] == [[finished()]] * 3
    assert desk._visitors == 0
