"""Sending answers to simulated clients, which can behave in ways that a real connection cannot be made to."""

import asyncio

import pytest

from sotto.api import answers
from sotto.api.answers import NDJSON, Pieces, Whole, as_api_error
from sotto.api.dialects import ollama
from sotto.api.protocol import INPUT_ENDED
from sotto.errors import BrokenModelError, EngineError, InvalidNameError, ModelNotFoundError, UnsupportedModelError


class Client:
    """A client that accepts `max_messages` messages and then stalls."""

    def __init__(self, max_messages=1000):
        self.messages = []
        self.gone, self.input_ended = asyncio.Event(), asyncio.Event()
        self._most = max_messages

    async def receive(self):
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message):
        if len(self.messages) == self._most:
            await asyncio.Event().wait()
        self.messages.append(message)

    async def take(self, answer):
        scope = {"type": "http", "method": "POST", "state": {INPUT_ENDED: self.input_ended}}
        await asyncio.wait_for(answer(scope, self.receive, self.send), 10)

    @property
    def body(self):
        return b"".join(message.get("body", b"") for message in self.messages)


def closing(ended, *pieces, error=None, wait=False):
    """Return a generator of pieces that appends to `ended` when it is closed."""

    async def made():
        try:
            for piece in pieces:
                yield piece
            if wait:
                await asyncio.Event().wait()
            if error is not None:
                raise error
        finally:
            ended.append(True)

    return made()


def test_a_stalled_client_is_abandoned(monkeypatch, caplog):
    monkeypatch.setattr(answers, "STALL_SECONDS", 0.1)

    async def run():
        ended, client = [], Client(max_messages=2)
        await client.take(Pieces(ollama.DIALECT, NDJSON, closing(ended, b"a", b"b", b"c")))
        return ended, client.body

    assert asyncio.run(run()) == ([True], b"a")
    assert "read nothing" in caplog.text


def test_disconnecting_ends_the_work():
    async def run():
        ended, client = [], Client()
        taking = asyncio.create_task(client.take(Pieces(ollama.DIALECT, NDJSON, closing(ended, b"a", wait=True))))
        await asyncio.sleep(0.05)
        assert client.body == b"a"
        client.gone.set()
        await taking
        return ended

    assert asyncio.run(run()) == [True]


def test_an_error_before_the_first_piece_is_an_error_response():
    async def run():
        client = Client()
        await client.take(Pieces(ollama.DIALECT, NDJSON, closing([], error=UnsupportedModelError("It cannot run."))))
        return client

    client = asyncio.run(run())
    assert client.messages[0]["status"] == 400
    assert client.body == b'{"error":"It cannot run."}'


def test_an_error_after_the_first_piece_ends_the_stream():
    async def run():
        client = Client()
        await client.take(Pieces(ollama.DIALECT, NDJSON, closing([], b"a\n", error=EngineError("Memory ran out."))))
        return client

    client = asyncio.run(run())
    assert client.messages[0]["status"] == 200
    assert client.body == b'a\n{"error":"Memory ran out."}\n'
    assert client.messages[-1]["more_body"] is False


def test_an_internal_error_is_reported_and_logged(caplog):
    async def broken():
        raise ZeroDivisionError("by zero")

    async def run():
        client = Client()
        await client.take(Whole(ollama.DIALECT, broken))
        return client

    client = asyncio.run(run())
    assert client.messages[0]["status"] == 500
    assert client.body == b'{"error":"An internal error occurred (ZeroDivisionError: by zero)."}'
    assert "Traceback" in caplog.text


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (InvalidNameError("a"), 400),
        (ModelNotFoundError("a"), 404),
        (BrokenModelError("a"), 500),
    ],
)
def test_each_error_has_its_status(error, status):
    assert as_api_error(error).status == status
