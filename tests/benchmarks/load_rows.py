"""Many clients of one server, compared with mlx-lm's server; and how soon a busy engine reports its status."""

import itertools
import json
import math
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import psutil
from bench_models import Models
from hosting import GREEDY, unseen
from rows import Row, at_least, at_most, ratio, turns
from servers import MlxServer, Server, SottoServer

from sotto.engine.contract.engine_settings import EngineSettings
from sotto.engine.contract.events import Failed
from sotto.engine.contract.requests import GenerateRequest
from sotto.runner.blocking_client import BlockingClient, ProcessClient
from sotto.store.opening import record_of

HERE = Path(__file__).resolve().parent
# The numbers of clients, each with the target for our speed relative to mlx-lm's server.
_CLIENTS = {1: 1.0, 4: None, 16: 2.0, 64: None}
_SUBJECTS = ("a story", "a poem", "this app", "a joke", "the weather", "a fish", "numbers", "the disk")
_MAX_GROWTH = 1.05
_STATUS_MS = 50.0
_numbers = itertools.count(1)


@dataclass(frozen=True)
class _Answer:
    """The result of one request: its text, its tokens, the seconds to the first text, and an error."""

    text: str
    tokens: int
    first: float
    error: str


@dataclass(frozen=True)
class _Round:
    """The results of some concurrent requests, and the seconds that they took."""

    seconds: float
    answers: Sequence[_Answer]

    @property
    def rate(self) -> float:
        """Return the total tokens per second of all answers."""
        return sum(answer.tokens for answer in self.answers) / self.seconds


class Clients:
    """Many clients in a separate process, used as a context manager."""

    def __init__(self) -> None:
        command = [sys.executable, str(HERE / "load_clients.py")]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def ask(self, server: Server, clients: int, prompts: Sequence[str], tokens: int) -> _Round:
        """Have that many clients send the prompts to a server, with answers of at most `tokens` tokens."""
        request = {"port": server.port, "model": server.model, "clients": clients, "prompts": prompts, "tokens": tokens}
        self._process.stdin.write(f"{json.dumps(request)}\n")
        self._process.stdin.flush()
        found = json.loads(self._process.stdout.readline())
        return _Round(found["seconds"], [_Answer(**answer) for answer in found["answers"]])

    def ask_well(self, server: Server, clients: int, prompts: Sequence[str], tokens: int) -> _Round:
        """Do the same as `ask`, but raise an error if a request fails."""
        found = self.ask(server, clients, prompts, tokens)
        if broken := [answer.error for answer in found.answers if answer.error]:
            raise RuntimeError(f"{len(broken)} of {len(prompts)} requests to {server.model} failed: {broken[0]}")
        return found


def load_rows(models: Models, *, quick: bool) -> Iterator[Row]:
    """Increase the number of clients, and compare the results with those of a single client and of mlx-lm's server."""
    with ExitStack() as stack:
        ours = stack.enter_context(SottoServer())
        clients = stack.enter_context(Clients())
        with SottoServer() as lone:
            yield from _company_rows(ours, lone, clients, quick=quick)
        theirs = stack.enter_context(MlxServer(models.folder / "built-in"))
        yield from _rate_rows(ours, theirs, clients, quick=quick)
    with SottoServer() as ours, Clients() as clients:
        yield _memory_row(ours, clients, 400 if quick else 2000)
    yield from _status_rows(models, quick=quick)


def _company_rows(ours: Server, lone: Server, clients: Clients, *, quick: bool) -> Iterator[Row]:
    """Check that answers do not depend on the number of clients; `lone` is a server with one client at a time."""
    tokens = 16 if quick else 64
    for count in _CLIENTS:
        prompts = _unseen(64)
        alone = [answer.text for answer in clients.ask_well(lone, 1, prompts, tokens).answers]
        answers = clients.ask(ours, count, prompts, tokens).answers
        broken = [answer.error for answer in answers if answer.error]
        other = sum(answer.text != text for answer, text in zip(answers, alone, strict=True))
        title, of = f"built-in over HTTP, {count} at once", f"of {len(answers)}, at most {tokens} tokens each"
        yield at_most(f"{title}: streams lost or interrupted", len(broken), 0, "; ".join([of, *broken[:1]]), "")
        yield at_most(f"{title}: texts that differ from those of a single client", other, 0, of, "")


def _rate_rows(ours: Server, theirs: Server, clients: Clients, *, quick: bool) -> Iterator[Row]:
    """Compare tokens per second and the time to first token with mlx-lm's server."""
    tokens, rounds = (16, 1) if quick else (64, 5)
    for server in (ours, theirs):
        clients.ask_well(server, 4, _unseen(4), tokens)
    for count, limit in _CLIENTS.items():
        each = math.ceil((8 if quick else 32) / count)
        found = turns(
            rounds,
            ours=lambda count=count, each=each: clients.ask_well(ours, count, _unseen(count * each), tokens),
            theirs=lambda count=count, each=each: clients.ask(theirs, count, _unseen(count * each), tokens),
        )
        name = f"built-in over HTTP, {count} at once"
        # Python's HTTP server has a short backlog, and drops further connections.
        if lost := sum(bool(answer.error) for part in found["theirs"] for answer in part.answers):
            yield at_most(
                f"{name}: streams that mlx_lm.server lost", lost, None, "excluded from the following rows", ""
            )
        rates = {who: [part.rate for part in of] for who, of in found.items()}
        yield ratio(f"{name}: total tokens/s, ours / mlx_lm.server in float32", rates["ours"], rates["theirs"], limit)
        firsts = {
            who: sorted(answer.first for part in of for answer in part.answers if not answer.error)
            for who, of in found.items()
        }
        for share in (50, 99):
            mine, other = (quantile(firsts[who], share) * 1e3 for who in ("ours", "theirs"))
            detail = f"{other:.1f} ms vs. {mine:.1f} ms, {len(firsts['ours'])} requests"
            yield at_least(f"{name}: time to first token p{share}, mlx_lm.server / ours", other / mine, None, detail)


def _unseen(count: int) -> list[str]:
    """Return that many new prompts."""
    return [f"{next(_numbers)}: tell me about {_SUBJECTS[number % len(_SUBJECTS)]}" for number in range(count)]


def _memory_row(ours: Server, clients: Clients, requests: int) -> Row:
    """Measure how much the server's memory grows from the first quarter of many requests to their end."""
    prompts = [f"Tell me about {subject} {number}" for number in range(8) for subject in _SUBJECTS]
    process, taken = psutil.Process(ours.pid), list[int]()
    for some in (requests // 4, requests - requests // 4):
        clients.ask_well(ours, 16, list(itertools.islice(itertools.cycle(prompts), some)), 16)
        taken.append(process.memory_info().rss)
    detail = f"{taken[1] / 1e6:.0f} MB vs. {taken[0] / 1e6:.0f} MB"
    title = f"built-in over HTTP: resident memory after {requests} requests / after {requests // 4}"
    return at_most(title, taken[1] / taken[0], _MAX_GROWTH, detail)


def _status_rows(models: Models, *, quick: bool) -> Iterator[Row]:
    """Measure how long the engine process takes to report its status while it evaluates a prompt."""
    model = models.get("smollm2-135m", "4bit")
    length = 1000 if quick else 8000
    with ProcessClient(EngineSettings()) as client, ThreadPoolExecutor(1) as reader:
        client.load(record_of(model.folder))
        client.wait_until_running()
        idle = _pings(client, lambda: False)
        request = GenerateRequest(id="s", prompt=unseen(length), sampling=GREEDY, num_predict=1, ignore_eos=True)
        events = client.completion(request)
        next(events)
        answer = reader.submit(list, events)
        busy = _pings(client, answer.done, max_pings=100_000)
        last = answer.result()[-1]
    if isinstance(last, Failed):
        raise RuntimeError(last.message)
    title = f"{model.name}: status of the engine process while a prompt of {length} tokens is evaluated"
    for name, share, limit in (("p50", 50, None), ("p99", 99, _STATUS_MS), ("max", 100, _STATUS_MS)):
        detail = f"{quantile(idle, share):.2f} ms idle; {len(busy)} requests"
        yield at_most(f"{title}, {name}", quantile(busy, share), limit, detail, "ms")


def _pings(client: BlockingClient, enough: Callable[[], bool], max_pings: int = 50) -> list[float]:
    """Return the durations of consecutive status requests in milliseconds, in ascending order."""
    taken: list[float] = []
    while len(taken) < max_pings and not enough():
        began = time.perf_counter()
        client.ping(10.0)
        taken.append((time.perf_counter() - began) * 1e3)
    return sorted(taken)


def quantile(ordered: Sequence[float], percent: int) -> float:
    """Return the percentile of some sorted values."""
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]
