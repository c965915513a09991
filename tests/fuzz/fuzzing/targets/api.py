"""Bodies of requests in every dialect, changed field by field, put to a real server over a real tiny model."""

import json
import logging
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import httpx

from fuzzing import values
from fuzzing.outcomes import place_told, shape_of
from fuzzing.target import Mark, Target
from gguf_encoders import write_encoder
from places import EMBEDDINGS
from sent_bodies import BODIES
from sotto.api.server import Address, ApiServer
from sotto.errors import SottoError
from sotto.runner.host import Host
from sotto.runner.loop_host import LoopHost
from sotto.store.opening import record_of
from thinking_models import HERMES, write_family

_ENCODER = EMBEDDINGS / "bert"
# Asks other machines.
_LEFT_OUT = ("/api/pull",)
# Short answers: long ones would take long, and show nothing.
_LENGTHS = ("num_predict", "max_tokens", "max_completion_tokens", "max_output_tokens")
_LONGEST = 3
_STREAMS = ("application/x-ndjson", "text/event-stream")
_STATUSES = (400, 403, 404, 413, 501)


class ToldError(SottoError):
    """A request was refused.

    Attributes:
        where: What is the same in all sentences that say so, as it is told far from where it was raised.
    """

    def __init__(self, message: str) -> None:
        """Say why."""
        super().__init__(message)
        self.where = shape_of(message[:200])


class WrongAnswerError(Exception):
    """An answer that no client should get.

    Attributes:
        where: The place in the code as far as it was logged, else what was asked and said.
    """

    def __init__(self, asked: str, said: str, logged: str = "") -> None:
        """Name what was asked, what was said, and what was logged of it."""
        super().__init__(f"{asked}: {said}")
        self.where = place_told(logged) if logged else shape_of(f"{asked} {said}"[:200])
        self.add_note(logged)


class Api(Target):
    """Bodies, up to an answer of a model."""

    stages = ("model wanted", "asked", "answered")
    # Go's errors begin with a small letter, and end without a point.
    known = re.compile(r'[a-z\["].*[^.]')
    first_share, last_share = 20, 12

    def prepare(self, folder: Path) -> None:
        """Start a server."""
        tiny = replace(record_of(write_family(folder / "tiny", HERMES)), name="sotto:latest")
        encoder = replace(record_of(write_encoder(folder / "bert.gguf", _ENCODER)), name="all-minilm:latest")
        self._host = _Marking(LoopHost(models=lambda: (tiny, encoder)))
        server = ApiServer(self._host, Address("127.0.0.1", 0))
        server.start()
        self._client = httpx.Client(base_url=server.url, timeout=self.wall_seconds)
        self._log = _Log()
        logging.getLogger("sotto").addHandler(self._log)

    def make(self, random: Random) -> bytes:
        """Change an example of the API's own description, with short answers."""
        path = random.choice([path for path in BODIES if path not in _LEFT_OUT])
        body = values.mutated(
            _short(random.choice(BODIES[path])), random, keep=("model",) if random.random() < 0.95 else ()
        )
        if random.random() < 0.3 and isinstance(body, dict):
            other = _short(random.choice(BODIES[random.choice(sorted(BODIES))]))
            for key in random.sample(sorted(other), min(3, len(other))):
                body[key] = body["model"] if key == "model" and "model" in body else other[key]
        return values.text_of({"path": path, "body": _capped(body)})

    def run(self, data: bytes, mark: Mark) -> None:
        """Send it, and read all of the answer."""
        told = json.loads(data)
        self._host.mark, self._log.last = mark, ""
        method = "DELETE" if told["path"] == "/api/delete" else "POST"
        answer = self._client.request(method, told["path"], content=json.dumps(told["body"]).encode())
        problems = list(_problems(answer.text)) if answer.headers.get("content-type", "").startswith(_STREAMS) else []
        if answer.status_code == 200 and not problems:
            if "asked" in self._host.marked:
                mark("answered")
            return
        message = problems[0] if problems else _message(answer)
        if (answer.status_code not in (200, *_STATUSES)) or "made a mistake" in message:
            raise WrongAnswerError(told["path"], f"{answer.status_code} {message}", self._log.last)
        raise ToldError(message)


class _Marking:
    """A host that tells what is asked of it."""

    def __init__(self, inner: Host) -> None:
        self._inner = inner
        self._mark: Mark = str
        self.marked: set[str] = set()

    @property
    def mark(self) -> Mark:
        return self._mark

    @mark.setter
    def mark(self, mark: Mark) -> None:
        self._mark, self.marked = mark, set()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        stage = {"want": "model wanted", "ask": "asked"}.get(name)
        if stage is not None:
            self.marked.add(stage)
            self._mark(stage)
        return found


class _Log(logging.Handler):
    """Keeps the last traceback that was logged."""

    last = ""

    def emit(self, record: logging.LogRecord) -> None:
        self.last = logging.Formatter().format(record)[-3000:]


def _short(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return an example that asks for no more than a few tokens."""
    copied: dict[str, Any] = json.loads(json.dumps(body))
    if "messages" in copied or "prompt" in copied or "input" in copied:
        copied.setdefault("max_tokens", _LONGEST)
        copied.setdefault("options", {}).setdefault("num_predict", _LONGEST)
        copied["max_output_tokens"] = copied["max_completion_tokens"] = _LONGEST
    return copied


def _capped(value: Any, depth: int = 0) -> Any:
    """Return a body in which whatever says how long an answer may be says a small number."""
    if isinstance(value, dict) and depth < 3:
        return {
            key: _LONGEST
            if key in _LENGTHS and isinstance(inner, int | float) and inner > 0
            else _capped(inner, depth + 1)
            for key, inner in value.items()
        }
    return value


def _problems(text: str) -> Any:
    """Yield the sentences of errors in a stream."""
    for line in text.splitlines():
        line = line.removeprefix("data:").strip()
        if line.startswith("{"):
            told = json.loads(line)
            if isinstance(told.get("error"), dict | str):
                yield _said(told["error"])


def _message(answer: httpx.Response) -> str:
    """Return the sentence of an error, in whatever dialect."""
    try:
        return _said(answer.json()["error"])
    except (ValueError, KeyError, TypeError) as error:
        told = f"{answer.status_code} without a sentence: {answer.text[:300]!r}"
        raise WrongAnswerError(answer.request.url.path, told) from error


def _said(error: Any) -> str:
    return error["message"] if isinstance(error, dict) else error


TARGET = Api()
