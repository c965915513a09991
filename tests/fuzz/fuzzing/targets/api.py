"""Bodies of requests in every dialect, changed by field, sent to a real server with a tiny model."""

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
from fuzzing.outcomes import place_in_traceback, shape_of
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
# These contact other machines.
_EXCLUDED = ("/api/pull",)
# Fields that limit answers, which are kept short because long ones would take time without testing more.
_LIMIT_FIELDS = ("num_predict", "max_tokens", "max_completion_tokens", "max_output_tokens")
_MAX_TOKENS = 3
_STREAMS = ("application/x-ndjson", "text/event-stream")
_STATUSES = (400, 403, 404, 413, 501)


class RefusedError(SottoError):
    """A request was refused.

    Attributes:
        where: The constant part of the message, because it is reported far from where it was raised.
    """

    def __init__(self, message: str) -> None:
        """Create the error from its message."""
        super().__init__(message)
        self.where = shape_of(message[:200])


class WrongAnswerError(Exception):
    """An answer that no client should receive.

    Attributes:
        where: The place in the code if it was logged, or else the constant part of the request and the answer.
    """

    def __init__(self, request: str, answer: str, logged: str = "") -> None:
        """Create the error from the request, the answer and the logged traceback."""
        super().__init__(f"{request}: {answer}")
        self.where = place_in_traceback(logged) if logged else shape_of(f"{request} {answer}"[:200])
        self.add_note(logged)


class Api(Target):
    """Bodies, up to a model's answer."""

    stages = ("model wanted", "asked", "answered")
    # Go's errors begin with a lower-case letter and end without a full stop.
    known = re.compile(r'[a-z\["].*[^.]')
    first_share, last_share = 20, 12

    def prepare(self, folder: Path) -> None:
        """Start a server with two models."""
        tiny = replace(record_of(write_family(folder / "tiny", HERMES)), name="sotto:latest")
        encoder = replace(record_of(write_encoder(folder / "bert.gguf", _ENCODER)), name="all-minilm:latest")
        self._host = _Marking(LoopHost(models=lambda: (tiny, encoder)))
        server = ApiServer(self._host, Address("127.0.0.1", 0))
        server.start()
        self._client = httpx.Client(base_url=server.url, timeout=self.wall_seconds)
        self._log = _Log()
        logging.getLogger("sotto").addHandler(self._log)

    def make(self, random: Random) -> bytes:
        """Change an example from the API's own description, with short answers."""
        path = random.choice([path for path in BODIES if path not in _EXCLUDED])
        body = values.mutated(
            _short(random.choice(BODIES[path])), random, keep=("model",) if random.random() < 0.95 else ()
        )
        if random.random() < 0.3 and isinstance(body, dict):
            other = _short(random.choice(BODIES[random.choice(sorted(BODIES))]))
            for key in random.sample(sorted(other), min(3, len(other))):
                body[key] = body["model"] if key == "model" and "model" in body else other[key]
        return values.text_of({"path": path, "body": _capped(body)})

    def run(self, data: bytes, mark: Mark) -> None:
        """Send the body, and read the whole answer."""
        document = json.loads(data)
        self._host.mark, self._log.last = mark, ""
        method = "DELETE" if document["path"] == "/api/delete" else "POST"
        answer = self._client.request(method, document["path"], content=json.dumps(document["body"]).encode())
        problems = list(_problems(answer.text)) if answer.headers.get("content-type", "").startswith(_STREAMS) else []
        if answer.status_code == 200 and not problems:
            if "asked" in self._host.marked:
                mark("answered")
            return
        message = problems[0] if problems else _message(answer)
        if (answer.status_code not in (200, *_STATUSES)) or "made a mistake" in message:
            raise WrongAnswerError(document["path"], f"{answer.status_code} {message}", self._log.last)
        raise RefusedError(message)


class _Marking:
    """A host that marks the stages of requests."""

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
    """Keeps the last logged traceback."""

    last = ""

    def emit(self, record: logging.LogRecord) -> None:
        self.last = logging.Formatter().format(record)[-3000:]


def _short(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return an example that requests only a few tokens."""
    copied: dict[str, Any] = json.loads(json.dumps(body))
    if "messages" in copied or "prompt" in copied or "input" in copied:
        copied.setdefault("max_tokens", _MAX_TOKENS)
        copied.setdefault("options", {}).setdefault("num_predict", _MAX_TOKENS)
        copied["max_output_tokens"] = copied["max_completion_tokens"] = _MAX_TOKENS
    return copied


def _capped(value: Any, depth: int = 0) -> Any:
    """Return a body in which all limits of an answer's length are small."""
    if isinstance(value, dict) and depth < 3:
        return {
            key: _MAX_TOKENS
            if key in _LIMIT_FIELDS and isinstance(inner, int | float) and inner > 0
            else _capped(inner, depth + 1)
            for key, inner in value.items()
        }
    return value


def _problems(text: str) -> Any:
    """Yield the messages of errors in a stream."""
    for line in text.splitlines():
        line = line.removeprefix("data:").strip()
        if line.startswith("{"):
            event = json.loads(line)
            if isinstance(event.get("error"), dict | str):
                yield _message_of(event["error"])


def _message(answer: httpx.Response) -> str:
    """Return the message of an error in any dialect."""
    try:
        return _message_of(answer.json()["error"])
    except (ValueError, KeyError, TypeError) as error:
        problem = f"{answer.status_code} without a sentence: {answer.text[:300]!r}"
        raise WrongAnswerError(answer.request.url.path, problem) from error


def _message_of(error: Any) -> str:
    return error["message"] if isinstance(error, dict) else error


TARGET = Api()
