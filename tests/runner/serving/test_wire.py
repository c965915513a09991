"""The host's end of a session, over connections that deliver arbitrary bytes."""

import socket
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sotto.engine.contract.events import PrefillProgress, TextChunk, Unloaded
from sotto.runner.codec import WireError, encode
from sotto.runner.commands import Generate
from sotto.runner.serving.wire import Wire

HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
EVENTS = [PrefillProgress("a", 1, 2, 0), TextChunk("a", "é \U0001f642", (1, 2)), Unloaded()]


@pytest.fixture(scope="module")
def listening():
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data) if data else b""


def received(listening, pieces):
    """Return the events and the error, or None, of a wire that receives bytes in pieces and then the end."""
    wire = Wire(listening.getsockname()[1], "secret")
    talking, _ = listening.accept()
    events, until = [], time.monotonic() + 5
    try:
        with talking:
            talking.recv(1 << 16)  # closing with unread data would discard the data already sent
            for piece in pieces:
                talking.sendall(piece)
        while not wire.ended:
            events += wire.receive()
            assert time.monotonic() < until
        return events, None
    except WireError as error:
        return events, error
    finally:
        wire.close()


@given(st.lists(st.binary(max_size=40), max_size=4))
def test_arbitrary_bytes_are_an_end_or_an_error(listening, pieces):
    _, error = received(listening, pieces)
    assert error is None or isinstance(error, WireError)


@given(st.lists(st.binary(max_size=40), max_size=4))
def test_arbitrary_bytes_in_a_response_are_an_end_or_an_error(listening, pieces):
    _, error = received(listening, [HEAD, *map(chunk, pieces)])
    assert error is None or isinstance(error, WireError)


@given(st.data())
def test_a_damaged_stream_yields_events_and_then_an_end_or_an_error(listening, data):
    whole = HEAD + b"".join(chunk(encode(event)) for event in EVENTS) + b"0\r\n\r\n"
    place = data.draw(st.integers(0, len(whole) - 1))
    damaged = whole[:place] + data.draw(st.binary(max_size=2)) + whole[place + 1 :]
    events, error = received(listening, [damaged])
    assert error is None or isinstance(error, WireError)
    assert len(events) <= len(EVENTS)


@given(st.integers(1, 50))
def test_events_are_decoded_however_they_were_split(listening, size):
    whole = HEAD + b"".join(chunk(encode(event)) for event in EVENTS) + b"0\r\n\r\n"
    pieces = [whole[place : place + size] for place in range(0, len(whole), size)]
    assert received(listening, pieces) == (EVENTS, None)


def test_a_large_command_does_not_block_while_nobody_reads(listening):
    from hosts import request

    wire = Wire(listening.getsockname()[1], "secret")
    talking, _ = listening.accept()
    with talking:
        wire.send(Generate(request("a", "x" * 20_000_000)))
        assert wire.behind
        talking.setblocking(False)
        size, until = 0, time.monotonic() + 20
        while size < 20_000_000 and time.monotonic() < until:
            wire.flush()
            try:
                size += len(talking.recv(1 << 20))
            except BlockingIOError:
                time.sleep(0.001)
        assert size >= 20_000_000
    wire.close()


def test_a_lost_child_is_reported_as_an_end_and_not_as_an_exception(listening):
    from hosts import request

    wire = Wire(listening.getsockname()[1], "secret")
    listening.accept()[0].close()
    for number in range(50):
        wire.send(Generate(request(str(number))))
    while not wire.ended:
        assert wire.receive() == []
    wire.close()
