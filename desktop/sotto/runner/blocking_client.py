"""A blocking client of one model: each call sends a command to a loop and waits for its events.

`ThreadClient` computes on a thread of this process, `ProcessClient` in a child process. Methods may be called on any
thread, concurrently. Once the loop has ended, by `close` or by itself, calls raise the reason.

`sotto embed` uses it. `sotto run` and `sotto bench` drive an engine directly: both can load a draft model, for which
there is no command, and `bench` times the engine's steps.
"""

import os
import queue
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from typing import Self

from sotto.engine.contract.engine_settings import EngineSettings
from sotto.engine.contract.events import (
    Counted,
    Embedded,
    Event,
    Failed,
    GenerateEvent,
    Loaded,
    LoadEvent,
    LoadProgress,
    ModelInfo,
    RequestEnd,
    RequestEvent,
    Unloaded,
)
from sotto.engine.contract.failure_events import failure_of
from sotto.engine.contract.requests import EmbedRequest, GenerateRequest
from sotto.errors import NO_MODEL, CancelledError, EngineError, FaultError, InvalidRequestError
from sotto.runner.commands import Cancel, Embed, Generate, Load
from sotto.runner.host import Loop, start_engine_thread
from sotto.runner.isolated.process import RunnerProcess
from sotto.runner.loop import EngineLoop
from sotto.runner.status import EngineReport, Status, is_load_event
from sotto.store.records import ModelRecord

LOAD_SECONDS = 300.0
_CLOSED = "The engine has been closed: start another one."
_Answers = queue.SimpleQueue[RequestEvent | None]


@dataclass(frozen=True, slots=True)
class Device:
    """A device that a loaded model runs on.

    Attributes:
        name: `cpu`, `metal` or `cuda`.
        compute_type: Data type of activations, for example `float32`.
        nbytes: Bytes that the engine holds there.
    """

    name: str
    compute_type: str
    nbytes: int


class BlockingClient(ABC):
    """A loop with one model. A context manager: the loop has ended on exit."""

    def __init__(self, loop: Loop) -> None:
        """Start a loop, without a model.

        Args:
            loop: Serves the commands, and passes every event to `_on_event`.
        """
        self._loop = loop
        self._changed = threading.Condition()
        self._reported = EngineReport()
        self._loads = 0
        # The events so far of the latest load.
        self._load_events: list[LoadEvent] = []
        self._answers: dict[str, _Answers] = {}
        self._numbers = count()
        self._ended: EngineError | None = None
        self._thread = start_engine_thread(self._run)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # The model

    def load(self, record: ModelRecord, num_ctx: int | None = None) -> None:
        """Begin to load a model, replacing the loaded one and cancelling its requests.

        Args:
            record: The model.
            num_ctx: Largest context in tokens; None for what the model declares, or as much as fits.

        Raises:
            EngineError: The loop has ended.
        """
        with self._changed:
            self._check()
            self._loads += 1
            self._load_events = []
            self._loop.send(Load(record, num_ctx))

    def wait_until_running(
        self, timeout: float | None = LOAD_SECONDS, progress: Callable[[LoadProgress], None] | None = None
    ) -> ModelInfo:
        """Wait until the latest load has succeeded, and return its model's properties.

        Args:
            timeout: Seconds without progress after which to stop waiting; the load continues. None to wait
                indefinitely.
            progress: Receives the progress of the load, on the calling thread.

        Raises:
            InvalidRequestError: No load was requested.
            CancelledError: The load was cancelled.
            FaultError: The engine failed; `ProcessEndedError` if its process ended.
            EngineError: The model cannot be loaded, there was no progress for too long, or the loop was closed.
        """
        index = 0
        while True:
            event = self._load_event(index, timeout)
            index += 1
            if isinstance(event, Loaded):
                return event.info
            if isinstance(event, Failed):
                raise _error(event)
            if isinstance(event, Unloaded):
                raise CancelledError("Loading was stopped.")
            if progress is not None:
                progress(event)

    # Requests

    def completion(self, request: GenerateRequest) -> Generator[GenerateEvent, None, None]:
        """Yield the events of an answer; the last is `Finished` or `Failed`.

        The request is sent when the first event is requested. Closing the generator early cancels the answer and waits
        for its end.

        Raises:
            InvalidRequestError: A request with the same id is under way.
            EngineError: The loop has ended.
        """
        with closing(self._events(Generate(request))) as events:
            for event in events:
                assert not isinstance(event, Embedded | Counted)
                yield event

    def embedding(self, texts: Sequence[str], *, truncate: bool = True, dimensions: int | None = None) -> Embedded:
        """Embed texts.

        Args:
            texts: The texts to embed.
            truncate: Whether to truncate texts that are too long instead of refusing them.
            dimensions: Dimensions to keep of each vector; None for all.

        Raises:
            CancelledError: Another load replaced the model.
            FaultError: The engine failed.
            EngineError: A text is refused, no model is loaded, or the loop has ended.
        """
        request = EmbedRequest(f"embedding {next(self._numbers)}", tuple(texts), truncate, dimensions)
        with closing(self._events(Embed(request))) as events:
            event = next(events)
        if isinstance(event, Embedded):
            return event
        raise _error(event) if isinstance(event, Failed) else CancelledError("Computing embeddings was cancelled.")

    @abstractmethod
    def tokenize(self, text: str) -> list[int]:
        """Tokenize a text, concurrently with other requests.

        Raises:
            InvalidRequestError: No model is loaded, or the text is not valid Unicode.
            EngineError: The loop has ended, or does not answer.
        """

    @abstractmethod
    def detokenize(self, ids: Sequence[int]) -> str:
        """Return the text of tokens without special ones, concurrently with other requests.

        Raises:
            InvalidRequestError: No model is loaded, or an id is not a token.
            EngineError: The loop has ended, or does not answer.
        """

    # Status

    @abstractmethod
    def ping(self, seconds: float = 1.0) -> Status:
        """Return the engine's status, without waiting for the thread that computes.

        Raises:
            EngineError: The loop has ended, or does not answer within `seconds`.
        """

    @property
    @abstractmethod
    def pid(self) -> int | None:
        """The id of the process that computes; None without one."""

    @property
    @abstractmethod
    def port(self) -> int | None:
        """The loopback port of the child; None without a child, or before it listens."""

    @property
    def has_exited(self) -> bool:
        """Whether the loop has ended, by `close` or by itself."""
        return self._ended is not None

    @property
    def context_length(self) -> int:
        """Context length in tokens; 0 without a model."""
        return self._reported.status.context_length

    def memory_size(self) -> int:
        """Return the bytes that the engine holds, including those kept for reuse, as last reported."""
        return self._reported.status.memory

    def device_infos(self) -> tuple[Device, ...]:
        """Return the devices in use; empty without a model."""
        reported = self._reported
        memory = reported.status.memory
        return tuple(Device(info.device, info.compute_type, memory) for info in reported.loaded.values())

    def vram_by_device(self) -> dict[str, int]:
        """Return the bytes that the engine holds by device name; empty without a model."""
        return {device.name: device.nbytes for device in self.device_infos()}

    def close(self) -> None:
        """Cancel everything and wait for the end; closing again has no effect."""
        self._loop.close()
        self._thread.join()

    # Internals

    def _check(self) -> None:
        """Raise the reason why the loop has ended, if it has."""
        if self._ended is not None:
            raise self._ended

    def _load_event(self, index: int, timeout: float | None) -> LoadEvent:
        """Wait for the event of the latest load at `index`, and return it."""
        with self._changed:
            if not self._loads and not self._load_events and not self._ended:
                raise InvalidRequestError(NO_MODEL)
            if not self._changed.wait_for(lambda: self._ended or len(self._load_events) > index, timeout):
                raise EngineError(f"The model is not loaded yet, and nothing has happened for {timeout:g} seconds.")
            if not (self._load_events and isinstance(self._load_events[-1], Failed)):
                self._check()
            return self._load_events[index]

    def _events(self, command: Generate | Embed) -> Generator[RequestEvent, None, None]:
        """Yield the events of a request to its end; cancel it if the generator is closed early."""
        answers, request_id = _Answers(), command.request.id
        with self._changed:
            self._check()
            if request_id in self._answers:
                raise InvalidRequestError(f"A request {request_id!r} is under way: choose another id.")
            self._answers[request_id] = answers
            self._loop.send(command)
        ended = False
        try:
            while not ended:
                event = answers.get()
                ended = _is_last(event)
                if event is None:
                    self._check()
                else:
                    yield event
        finally:
            if not ended:
                self._loop.send(Cancel(request_id))
                # The id is free for reuse only once the request has ended.
                while not _is_last(answers.get()):
                    pass
            with self._changed:
                del self._answers[request_id]

    # The thread that runs the loop

    def _run(self) -> None:
        reason = EngineError(_CLOSED)
        try:
            self._loop.run()
        except EngineError as error:
            reason = error
        except Exception as error:
            reason = _error(failure_of("", error))
        with self._changed:
            self._ended = reason
            self._reported = EngineReport()
            for answers in self._answers.values():
                answers.put(None)
            self._changed.notify_all()

    def _on_event(self, event: Event) -> None:
        with self._changed:
            self._reported = self._reported.after(event)
            if is_load_event(event):
                self._record_load_event(event)
            elif isinstance(event, RequestEvent) and event.request_id in self._answers:
                self._answers[event.request_id].put(event)

    def _record_load_event(self, event: LoadEvent) -> None:
        """Record an event of the latest load; events of replaced loads are dropped."""
        if self._loads == 1:
            self._load_events.append(event)
            self._changed.notify_all()
        if not isinstance(event, LoadProgress) and self._loads:
            self._loads -= 1


class ThreadClient(BlockingClient):
    """A client whose engine runs on a thread of this process."""

    def __init__(self, settings: Callable[[], EngineSettings] = EngineSettings) -> None:
        """Start the thread.

        Args:
            settings: Returns the engine settings; called before each load.
        """
        self._engine = EngineLoop(self._on_event, settings)
        super().__init__(self._engine)

    def tokenize(self, text: str) -> list[int]:
        """Tokenize a text."""
        self._check()
        return self._engine.tokenizer.encode(text)

    def detokenize(self, ids: Sequence[int]) -> str:
        """Return the text of tokens."""
        self._check()
        return self._engine.tokenizer.decode(ids)

    def ping(self, seconds: float = 1.0) -> Status:
        """Return the engine's status."""
        self._check()
        return self._reported.status

    @property
    def pid(self) -> int | None:
        """The id of this process."""
        return os.getpid()

    @property
    def port(self) -> int | None:
        """None, since there is no child."""
        return None


class ProcessClient(BlockingClient):
    """A client whose engine runs in a child process."""

    def __init__(self, settings: EngineSettings | None = None) -> None:
        """Start the process.

        Args:
            settings: Those of the engine; None for those stored on this machine.
        """
        self._process = RunnerProcess(self._on_event, settings)
        super().__init__(self._process)

    def tokenize(self, text: str) -> list[int]:
        """Tokenize a text."""
        self._check()
        return self._process.tokenize(text)

    def detokenize(self, ids: Sequence[int]) -> str:
        """Return the text of tokens."""
        self._check()
        return self._process.detokenize(ids)

    def ping(self, seconds: float = 1.0) -> Status:
        """Return the engine's status."""
        self._check()
        return self._process.ping(seconds)

    @property
    def pid(self) -> int | None:
        """The child's process id; None without a child."""
        return self._process.pid

    @property
    def port(self) -> int | None:
        """The child's port; None before it listens."""
        return self._process.port


def _is_last(event: RequestEvent | None) -> bool:
    return event is None or isinstance(event, RequestEnd)


def _error(event: Failed) -> EngineError:
    return FaultError(event.message, event.details) if event.bug else EngineError(event.message)
