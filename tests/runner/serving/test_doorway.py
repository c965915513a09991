"""Limits on connections: which ones may wait, and which are closed in favour of others."""

import http.client
import socket
import time
from contextlib import ExitStack, closing, suppress

from hosts import Host
from sotto.runner.isolated.process import RunnerProcess
from sotto.runner.serving.doorway import Doorway


def wait_until(true, seconds=60):
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


class Guest:
    def __init__(self, doorway, address="a"):
        self.doorway, self.address, self.gone = doorway, address, False

    def send_away(self):
        self.gone = True

    def wait(self):
        self.doorway.wait(self, self.address)
        return self


def test_file_descriptors_are_divided_up():
    for room in (1, 16, 64, 1000, 10**6):
        doorway = Doorway(room)
        assert 1 <= doorway.heads_each <= doorway.heads <= 256
        assert doorway.heads + doorway.requests + 2 * doorway.at_once <= max(room, 6)


def test_the_longest_waiting_connection_is_closed_for_a_new_one():
    doorway = Doorway(16)
    guests = [Guest(doorway, f"{number}").wait() for number in range(doorway.heads)]
    assert doorway.come_in(guests[0])
    guests[0].wait()  # for another request
    assert not any(guest.gone for guest in guests)
    guests += [Guest(doorway, "x").wait()]
    assert [guest.gone for guest in guests] == [False, True] + [False] * (len(guests) - 2)


def test_many_connections_of_one_address_do_not_displace_others():
    doorway = Doorway(16)
    other = Guest(doorway, "b").wait()
    many = [Guest(doorway).wait() for _ in range(100)]
    assert [guest.gone for guest in many] == [True] * (100 - doorway.heads_each) + [False] * doorway.heads_each
    assert not other.gone


def test_complete_requests_take_precedence_over_waiting_and_slow_ones():
    doorway = Doorway(16)
    waiting = [Guest(doorway, f"{number}").wait() for number in range(doorway.heads)]
    slow = [Guest(doorway) for _ in range(doorway.requests)]
    assert all(doorway.come_in(guest) for guest in slow)
    for number in range(doorway.requests):
        asking = Guest(doorway).wait()
        assert doorway.come_in(asking)
        doorway.settle(asking)
        assert [guest.gone for guest in slow] == [True] * (number + 1) + [False] * (doorway.requests - number - 1)
    # All are being served now, so none is closed for another.
    late = Guest(doorway)
    assert not doorway.come_in(late)
    assert not late.gone
    assert sum(guest.gone for guest in waiting) <= 1
    doorway.leave(late)
    doorway.leave(asking)
    assert doorway.come_in(Guest(doorway))


def test_unauthorised_connections_do_not_block_the_host():
    host = Host(RunnerProcess)
    try:
        wait_until(lambda: host.loop.port)
        with ExitStack() as strangers:
            connections = [
                strangers.enter_context(socket.create_connection(("127.0.0.1", host.loop.port), timeout=20))
                for _ in range(300)
            ]
            for connection in connections[::2]:
                connection.sendall(b"GET / HTTP/1.1\r\n")
            assert host.loop.ping(20).context_length == 0
            for connection in connections[:20]:
                with suppress(ConnectionResetError):
                    assert connection.recv(1) == b""
            with closing(http.client.HTTPConnection("127.0.0.1", host.loop.port, timeout=20)) as stranger:
                stranger.request("GET", "/v1/status")
                assert stranger.getresponse().status == 401
    finally:
        host.close()
