"""One model on one host, by plain calls that wait for their answer; the same in this process and in one of its own.

`ThreadClient` computes on a thread of this process, `ProcessClient` in a child process. Both are a `Loop` with whoever
waits for it: a call becomes a command, and the events that it brings are what the call returns. Every method may be
called on any thread, by several at a time. Once the host has ended, by `close` or by itself, calls raise why it did.

`sotto embed` is written with it. `sotto run` and `sotto bench` drive an engine themselves: both can load a second model
that drafts, which no command names, and `bench` times the engine's own steps.
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
from sotto.engine.contract.failure_events import failed
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
    """What a loaded model is computed with.

    Attributes:
        name: `cpu`, `metal` or `cuda`.
        compute_type: Type of activations, for example `float32`.
        nbytes: Bytes that the engine holds there.
    """

    name: str
    compute_type: str
    nbytes: int


class BlockingClient(ABC):
    """A host with one model. Use it in a `with` statement, after which nothing of it is left."""

    def __init__(self, loop: Loop) -> None:
        """Start a host; nothing is loaded yet.

        Args:
            loop: Serves the commands, and says every event to `_heard`.
        """
        self._loop = loop
        self._changed = threading.Condition()
        self._reported = EngineReport()
        self._loads = 0
        # What became so far of the load that was asked for last.
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
        """Begin to load a model in place of what is loaded, and end everything asked of that.

        Args:
            record: The model.
            num_ctx: Most tokens that a conversation may hold; None as the model says, or as many as fit.

        Raises:
            EngineError: The host has ended.
        """
        with self._changed:
            self._check()
            self._loads += 1
            self._load_events = []
            self._loop.send(Load(record, num_ctx))

    def wait_until_running(
        self, timeout: float | None = LOAD_SECONDS, progress: Callable[[LoadProgress], None] | None = None
    ) -> ModelInfo:
        """Wait until the model is loaded that was asked for last, and return what is known of it.

        Args:
            timeout: Seconds without any progress after which it is given up to wait; the load goes on.
            progress: Is told how far the load is, on the calling thread.

        Raises:
            InvalidRequestError: No load was asked for.
            CancelledError: The load was stopped.
            FaultError: The engine failed; `ProcessEndedError` where it did so before.
            EngineError: The model cannot be loaded, or nothing has happened for too long, or the host was closed.
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

    # What is asked of it

    def completion(self, request: GenerateRequest) -> Generator[GenerateEvent, None, None]:
        """Yield the events of an answer, of which `Finished` or `Failed` is the last.

        It begins with the first that is wanted. Closing the generator before the last one cancels the answer, and
        returns when that has ended.

        Raises:
            InvalidRequestError: An answer to a request of the same id is under way.
            EngineError: The host has ended.
        """
        with closing(self._events(Generate(request))) as events:
            for event in events:
                assert not isinstance(event, Embedded | Counted)
                yield event

    def embedding(self, texts: Sequence[str], *, truncate: bool = True, dimensions: int | None = None) -> Embedded:
        """Make a vector of each text.

        Args:
            texts: What to make vectors of.
            truncate: Cut texts that are too long; otherwise they are refused.
            dimensions: How many numbers of each are wanted; None for all.

        Raises:
            CancelledError: Another load took the model's place.
            FaultError: The engine failed.
            EngineError: A text cannot be taken, no model is loaded, or the host has ended.
        """
        request = EmbedRequest(f"embedding {next(self._numbers)}", tuple(texts), truncate, dimensions)
        with closing(self._events(Embed(request))) as events:
            event = next(events)
        if isinstance(event, Embedded):
            return event
        raise _error(event) if isinstance(event, Failed) else CancelledError("Making vectors was stopped.")

    @abstractmethod
    def tokenize(self, text: str) -> list[int]:
        """Cut a text into tokens, beside whatever else is computed.

        Raises:
            InvalidRequestError: No model is loaded, or the text is no valid Unicode.
            EngineError: The host has ended, or does not answer.
        """

    @abstractmethod
    def detokenize(self, ids: Sequence[int]) -> str:
        """Return the text of tokens, beside whatever else is computed; special ones are not shown.

        Raises:
            InvalidRequestError: No model is loaded, or a number is no token's.
            EngineError: The host has ended, or does not answer.
        """

    # How it stands

    @abstractmethod
    def ping(self, seconds: float = 1.0) -> Status:
        """Return how the engine stands, without waiting for the thread that computes.

        Raises:
            EngineError: The host has ended, or does not answer within so many seconds.
        """

    @property
    @abstractmethod
    def pid(self) -> int | None:
        """The process that computes; None while there is none."""

    @property
    @abstractmethod
    def port(self) -> int | None:
        """Where that process listens, on this machine; None where it is this one, or does not listen yet."""

    @property
    def has_exited(self) -> bool:
        """Whether the host has ended, by `close` or by itself."""
        return self._ended is not None

    @property
    def context_length(self) -> int:
        """Tokens that a conversation may hold; 0 without a model."""
        return self._reported.status.context_length

    def memory_size(self) -> int:
        """Return the bytes that the engine holds, those that it keeps for reuse included, as it said last."""
        return self._reported.status.memory

    def device_infos(self) -> tuple[Device, ...]:
        """Return what computes; nothing without a model."""
        reported = self._reported
        memory = reported.status.memory
        return tuple(Device(info.device, info.compute_type, memory) for info in reported.loaded.values())

    def vram_by_device(self) -> dict[str, int]:
        """Return the bytes that the engine holds by the device's name; nothing without a model."""
        return {one.name: one.nbytes for one in self.device_infos()}

    def close(self) -> None:
        """End everything and wait for that; again is the same."""
        self._loop.close()
        self._thread.join()

    # Behind it

    def _check(self) -> None:
        """Raise why the host has ended, if it has."""
        if self._ended is not None:
            raise self._ended

    def _load_event(self, index: int, timeout: float | None) -> LoadEvent:
        """Return what became of a load at a place of its story, as soon as that is told."""
        with self._changed:
            if not self._loads and not self._load_events and not self._ended:
                raise InvalidRequestError(NO_MODEL)
            if not self._changed.wait_for(lambda: self._ended or len(self._load_events) > index, timeout):
                raise EngineError(f"The model is not loaded yet, and for {timeout:g} seconds nothing has happened.")
            if not (self._load_events and isinstance(self._load_events[-1], Failed)):
                self._check()
            return self._load_events[index]

    def _events(self, command: Generate | Embed) -> Generator[RequestEvent, None, None]:
        """Yield the events of a request up to its end, and cancel it where nobody wants them any more."""
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
                # Only then may the id be used again.
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
            reason = _error(failed("", error))
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
        """Take note of what became of a load; of those that were replaced nobody waits for the end."""
        if self._loads == 1:
            self._load_events.append(event)
            self._changed.notify_all()
        if not isinstance(event, LoadProgress) and self._loads:
            self._loads -= 1


class ThreadClient(BlockingClient):
    """A model that is computed on a thread of this process."""

    def __init__(self, settings: Callable[[], EngineSettings] = EngineSettings) -> None:
        """Start the thread.

        Args:
            settings: Returns those of the engine; asked before each load.
        """
        self._engine = EngineLoop(self._on_event, settings)
        super().__init__(self._engine)

    def tokenize(self, text: str) -> list[int]:
        """Cut a text into tokens."""
        self._check()
        return self._engine.tokenizer.encode(text)

    def detokenize(self, ids: Sequence[int]) -> str:
        """Return the text of tokens."""
        self._check()
        return self._engine.tokenizer.decode(ids)

    def ping(self, seconds: float = 1.0) -> Status:
        """Return how the engine stands."""
        self._check()
        return self._reported.status

    @property
    def pid(self) -> int | None:
        """That of the process itself."""
        return os.getpid()

    @property
    def port(self) -> int | None:
        """None: it does not listen."""
        return None


class ProcessClient(BlockingClient):
    """A model that is computed in a child process."""

    def __init__(self, settings: EngineSettings | None = None) -> None:
        """Start the process.

        Args:
            settings: Of the engine; None as they are kept on this machine.
        """
        self._process = RunnerProcess(self._on_event, settings)
        super().__init__(self._process)

    def tokenize(self, text: str) -> list[int]:
        """Cut a text into tokens."""
        self._check()
        return self._process.tokenize(text)

    def detokenize(self, ids: Sequence[int]) -> str:
        """Return the text of tokens."""
        self._check()
        return self._process.detokenize(ids)

    def ping(self, seconds: float = 1.0) -> Status:
        """Return how the engine stands."""
        self._check()
        return self._process.ping(seconds)

    @property
    def pid(self) -> int | None:
        """The child; None while there is none."""
        return self._process.pid

    @property
    def port(self) -> int | None:
        """Where the child listens; None before it does."""
        return self._process.port


def _is_last(event: RequestEvent | None) -> bool:
    return event is None or isinstance(event, RequestEnd)


def _error(event: Failed) -> EngineError:
    return FaultError(event.message, event.details) if event.bug else EngineError(event.message)
