"""Many clients at a server at once, beside mlx-lm's server with the same model; and how soon a busy engine tells how it
stands."""

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
# How many clients, and how much faster than mlx-lm's server ours is to be then.
_CLIENTS = {1: 1.0, 4: None, 16: 2.0, 64: None}
_SUBJECTS = ("a story", "a poem", "this app", "a joke", "the weather", "a fish", "numbers", "the disk")
_MOST_GROWTH = 1.05
_STATUS_MS = 50.0
_numbers = itertools.count(1)


@dataclass(frozen=True)
class _Told:
    """What became of one request: its text, its tokens, the seconds to the first text, and what went wrong."""

    text: str
    tokens: int
    first: float
    error: str


@dataclass(frozen=True)
class _Round:
    """What became of some requests that were made together, in so many seconds."""

    seconds: float
    answers: Sequence[_Told]

    @property
    def rate(self) -> float:
        """Tokens per second, of all answers together."""
        return sum(one.tokens for one in self.answers) / self.seconds


class _Clients:
    """Many clients, in a process of their own. Use it in a `with` statement."""

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
        """Let so many clients ask a server for answers of at most so many tokens."""
        asked = {"port": server.port, "model": server.model, "clients": clients, "prompts": prompts, "tokens": tokens}
        self._process.stdin.write(f"{json.dumps(asked)}\n")
        self._process.stdin.flush()
        found = json.loads(self._process.stdout.readline())
        return _Round(found["seconds"], [_Told(**one) for one in found["answers"]])

    def ask_well(self, server: Server, clients: int, prompts: Sequence[str], tokens: int) -> _Round:
        """As `ask`; what goes wrong ends the measurement."""
        found = self.ask(server, clients, prompts, tokens)
        if broken := [one.error for one in found.answers if one.error]:
            raise RuntimeError(f"{len(broken)} of {len(prompts)} requests to {server.model} failed: {broken[0]}")
        return found


def load_rows(models: Models, *, quick: bool) -> Iterator[Row]:
    """Let more and more clients ask at once; hold what they get against what one alone gets, and against mlx-lm."""
    with ExitStack() as stack:
        ours = stack.enter_context(SottoServer())
        clients = stack.enter_context(_Clients())
        with SottoServer() as lone:
            yield from _company_rows(ours, lone, clients, quick=quick)
        theirs = stack.enter_context(MlxServer(models.folder / "built-in"))
        yield from _rate_rows(ours, theirs, clients, quick=quick)
    with SottoServer() as ours, _Clients() as clients:
        yield _memory_row(ours, clients, 400 if quick else 2000)
    yield from _status_rows(models, quick=quick)


def _company_rows(ours: Server, lone: Server, clients: _Clients, *, quick: bool) -> Iterator[Row]:
    """Return whether what clients get depends on how many there are; `lone` is a server that has one at a time."""
    tokens = 16 if quick else 64
    for count in _CLIENTS:
        prompts = _unseen(64)
        alone = [one.text for one in clients.ask_well(lone, 1, prompts, tokens).answers]
        answers = clients.ask(ours, count, prompts, tokens).answers
        broken = [one.error for one in answers if one.error]
        other = sum(one.text != text for one, text in zip(answers, alone, strict=True))
        title, of = f"built-in over HTTP, {count} at once", f"of {len(answers)}, at most {tokens} tokens each"
        yield at_most(f"{title}: streams lost or broken off", len(broken), 0, "; ".join([of, *broken[:1]]), "")
        yield at_most(f"{title}: texts that differ from those without company", other, 0, of, "")


def _rate_rows(ours: Server, theirs: Server, clients: _Clients, *, quick: bool) -> Iterator[Row]:
    """Compare tokens per second and the time to the first of them with mlx-lm's server."""
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
        # Python's own server keeps few connections waiting, and hangs up on others.
        if lost := sum(bool(one.error) for part in found["theirs"] for one in part.answers):
            yield at_most(f"{name}: streams that mlx_lm.server lost", lost, None, "left out of what follows", "")
        rates = {who: [one.rate for one in of] for who, of in found.items()}
        yield ratio(f"{name}: tokens/s in all, ours / mlx_lm.server in float32", rates["ours"], rates["theirs"], limit)
        firsts = {
            who: sorted(one.first for part in of for one in part.answers if not one.error) for who, of in found.items()
        }
        for share in (50, 99):
            mine, other = (_quantile(firsts[who], share) * 1e3 for who in ("ours", "theirs"))
            detail = f"{other:.1f} ms against {mine:.1f} ms, {len(firsts['ours'])} requests"
            yield at_least(f"{name}: time to first token p{share}, mlx_lm.server / ours", other / mine, None, detail)


def _unseen(count: int) -> list[str]:
    """Return so many prompts that nobody was asked before."""
    return [f"{next(_numbers)}: tell me about {_SUBJECTS[number % len(_SUBJECTS)]}" for number in range(count)]


def _memory_row(ours: Server, clients: _Clients, requests: int) -> Row:
    """Tell how much the server's memory grows from the first quarter of many requests to their end."""
    prompts = [f"Tell me about {subject} {number}" for number in range(8) for subject in _SUBJECTS]
    process, taken = psutil.Process(ours.pid), list[int]()
    for some in (requests // 4, requests - requests // 4):
        clients.ask_well(ours, 16, list(itertools.islice(itertools.cycle(prompts), some)), 16)
        taken.append(process.memory_info().rss)
    detail = f"{taken[1] / 1e6:.0f} MB against {taken[0] / 1e6:.0f} MB"
    title = f"built-in over HTTP: resident memory after {requests} requests / after {requests // 4}"
    return at_most(title, taken[1] / taken[0], _MOST_GROWTH, detail)


def _status_rows(models: Models, *, quick: bool) -> Iterator[Row]:
    """Tell how long the engine's process takes to say how it stands while it reads a prompt."""
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
        busy = _pings(client, answer.done, most=100_000)
        last = answer.result()[-1]
    if isinstance(last, Failed):
        raise RuntimeError(last.message)
    title = f"{model.name}: status of the engine's process while a prompt of {length} tokens is read"
    for name, share, limit in (("p50", 50, None), ("p99", 99, _STATUS_MS), ("max", 100, _STATUS_MS)):
        detail = f"{_quantile(idle, share):.2f} ms idle; asked {len(busy)} times"
        yield at_most(f"{title}, {name}", _quantile(busy, share), limit, detail, "ms")


def _pings(client: BlockingClient, enough: Callable[[], bool], most: int = 50) -> list[float]:
    """Return how many milliseconds answers to one question after another took, in order of size."""
    taken: list[float] = []
    while len(taken) < most and not enough():
        began = time.perf_counter()
        client.ping(10.0)
        taken.append((time.perf_counter() - began) * 1e3)
    return sorted(taken)


def _quantile(ordered: Sequence[float], percent: int) -> float:
    """Return the smallest value that so many percent do not exceed."""
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]
