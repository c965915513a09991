"""An engine loop that follows a script, for window states that cannot be provoked with the real engine.

It emits events in the order that `sotto.runner.loop.EngineLoop` guarantees, and computes nothing.
"""

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sotto.engine.contract.answer_parts import Piece, merge_pieces, text_of
from sotto.engine.contract.events import (
    Counted,
    DoneReason,
    Embedded,
    Event,
    Failed,
    Finished,
    Loaded,
    LoadProgress,
    ModelInfo,
    PrefillProgress,
    TextChunk,
    Unloaded,
)
from sotto.engine.contract.message_content import ImagePart
from sotto.engine.contract.requests import CountRequest, GenerateRequest
from sotto.engine.memory.memory_figures import Measured, MemoryFigures, ModelFigures
from sotto.engine.memory.memory_needs import ModelNeeds
from sotto.engine.parsing.answer_parser import Parser, parameters_of
from sotto.engine.parsing.families import PLAIN, STORED
from sotto.runner.commands import (
    Cancel,
    CancelLoad,
    Command,
    Count,
    Embed,
    Generate,
    Load,
    Measure,
    Unload,
)
from sotto.store.records import Format, ModelRecord, Source


@dataclass
class Script:
    """What the loop should do, and the commands that it received.

    The `hold_...` events pause a load, a prefill or an answer until they are set. `needs` has the memory needs of
    models by name, `taken` the bytes that a loaded one uses, and `room` the number of models that fit into memory
    together. `requests`, `counts` and `loads` record the commands.
    """

    chunks: list[str] = field(default_factory=lambda: ["Hello ", "there."])
    pause: float = 0.0
    load_steps: int = 4
    prefill_steps: int = 2
    prompt_tokens: int = 2000
    cached_tokens: int = 100
    loaded_context: int | None = None
    fail_load: str = ""
    fail_answer: str = ""
    cut_short: bool = False
    crash: str = ""
    hold_load: threading.Event | None = None
    hold_prefill: threading.Event | None = None
    hold_answer: threading.Event | None = None
    requests: list[GenerateRequest] = field(default_factory=list)
    counts: list[CountRequest] = field(default_factory=list)
    needs: dict[str, ModelNeeds] = field(default_factory=dict)
    loads: list[tuple[str, int | None, bool]] = field(default_factory=list)
    taken: int = 0
    room: int = 1
    has_template: bool = True
    template_note: str = ""
    reads_messages: bool = True
    writes: bool = True
    thinks: bool = True
    knows_efforts: bool = False
    predicts: bool = False
    sees: bool = False
    image_tokens: Callable[[ImagePart], int] = lambda part: 256


class ScriptedLoop:
    """Follows a `Script` on the thread that runs it."""

    def __init__(self, emit: Callable[[Event], None], script: Script) -> None:
        self._emit = emit
        self._script = script
        self._commands: queue.SimpleQueue[tuple[Command | None, int]] = queue.SimpleQueue()
        self._counted: queue.SimpleQueue[Counted] = queue.SimpleQueue()
        self._stopped: set[str] = set()
        self._loads = 0
        self._load_stopped_up_to: dict[str, int] = {}
        self._seats: dict[str, int] = {}
        self._closed = False
        self._context = 0

    def send(self, command: Command) -> None:
        """Accept a command; cancellations take effect at once, other commands in order."""
        match command:
            case Load():
                if not command.roomy:
                    self._record_load(command)
                self._load_stopped_up_to[command.seat] = self._loads
                self._loads += 1
                self._commands.put((command, self._loads))
            case Cancel(request_id):
                self._stopped.add(request_id)
            case CancelLoad(seat):
                self._load_stopped_up_to[seat] = self._loads
            case _:
                if isinstance(command, Unload):
                    self._load_stopped_up_to[command.seat] = self._loads
                elif isinstance(command, Generate):
                    self._script.requests.append(command.request)
                elif isinstance(command, Count):
                    self._count(command.request)
                self._commands.put((command, 0))

    def _record_load(self, command: Load) -> None:
        self._script.loads.append((command.record.name, command.num_ctx, command.anyway and not command.roomy))

    def _count(self, request: CountRequest) -> None:
        """Count each character as a token, and four more for the template's text around each message."""
        self._script.counts.append(request)
        each = self._script.image_tokens
        sizes = [len(message.text) + sum(map(each, message.images)) + 4 for message in request.messages]
        system = [size for size, message in zip(sizes, request.messages, strict=True) if message.role == "system"]
        room = self._context - self._context // 4
        texts = tuple(map(len, request.texts))
        images = tuple(map(each, request.images))
        self._counted.put(Counted(request.id, sum(sizes), sum(system) + sizes[-1], room, texts, images))

    def close(self) -> None:
        self._closed = True
        self._commands.put((None, 0))

    def run(self) -> None:
        while True:
            command, number = self._commands.get()
            if command is None:
                return
            if isinstance(command, Count):
                self._emit_counts()
                continue
            if self._script.crash:
                crash, self._script.crash = self._script.crash, ""
                raise RuntimeError(crash)
            match command:
                case Load():
                    self._load(command, number)
                case Measure(record):
                    needs = self._script.needs.get(record.name)
                    self._emit(Measured(record.digest, needs, "" if needs else f"{record.name} is not in the script."))
                case Embed(request):
                    # One-dimensional embeddings: the length of each text.
                    sizes = [len(text) for text in request.texts]
                    self._emit(Embedded(request.id, tuple((float(size),) for size in sizes), sum(sizes), 1))
                case Unload(seat):
                    self._seats.pop(seat, None)
                    self._emit(Unloaded(seat))
                    self._emit(self._figures())
                case Generate(request):
                    self._generate(request)

    def _wait(self, hold: threading.Event | None, stopped: Callable[[], bool]) -> None:
        time.sleep(self._script.pause)
        self._emit_counts()
        while hold is not None and not hold.is_set() and not stopped() and not self._closed:
            time.sleep(0.002)
            self._emit_counts()

    def _emit_counts(self) -> None:
        """Emit finished counts, which do not wait for other commands."""
        while not self._counted.empty():
            self._emit(self._counted.get())

    def _figures(self) -> MemoryFigures:
        sizes = self._seats.values()
        models = tuple(ModelFigures(seat, size, 1 << 20, 0) for seat, size in self._seats.items())
        active = self._script.taken or sum(sizes)
        return MemoryFigures(sum(sizes), len(sizes) << 20, active if sizes else 0, 0, sum(sizes), models=models)

    def _load(self, command: Load, number: int) -> None:
        record, num_ctx, seat, roomy = command.record, command.num_ctx, command.seat, command.roomy

        def stopped() -> bool:
            return self._closed or number <= self._load_stopped_up_to[seat]

        total = record.size
        self._seats.pop(seat, None)
        if roomy and len(self._seats) >= self._script.room:
            self._emit(Failed("", f"{record.name} does not fit beside another.", seat=seat, shortage=True))
            return
        if roomy:
            self._record_load(command)
        for step in range(self._script.load_steps):
            if stopped():
                self._emit(Unloaded(seat))
                return
            self._emit(LoadProgress("weights", total * step // self._script.load_steps, total, seat))
            if step == self._script.load_steps // 2:
                self._wait(self._script.hold_load, stopped)
        if stopped():
            self._emit(Unloaded(seat))
        elif self._script.fail_load:
            self._emit(Failed("", self._script.fail_load, seat=seat))
        else:
            limit = record.context_length or 4096
            self._context = self._script.loaded_context or min(num_ctx or limit, limit)
            info = ModelInfo(
                record.digest,
                record.name,
                record.architecture,
                self._context,
                total,
                1024,
                "float32",
                "cpu",
                self._script.has_template,
                1,
                template_note=self._script.template_note,
                doubts_template=not (self._script.has_template and self._script.reads_messages),
                knows_tools=True,
                thinks=self._script.thinks,
                knows_efforts=self._script.knows_efforts,
                fills_gaps=True,
                writes=self._script.writes,
                predicts=self._script.predicts,
                sees=self._script.sees or "vision" in record.capabilities,
                vision_note=record.vision_reason,
            )
            self._seats[seat] = total
            self._emit(Loaded(info, seat))
            self._emit(self._figures())

    def _generate(self, request: GenerateRequest) -> None:
        def stopped() -> bool:
            return request.id in self._stopped

        script, emitted, reason = self._script, list[Piece](), DoneReason.STOP
        for step in range(script.prefill_steps + 1):
            span = script.prompt_tokens - script.cached_tokens
            done = script.cached_tokens + span * step // max(1, script.prefill_steps)
            self._emit(PrefillProgress(request.id, done, script.prompt_tokens, script.cached_tokens))
            if step == script.prefill_steps // 2:
                self._wait(script.hold_prefill, stopped)
        thought = 0
        tools = parameters_of(request.tools)
        parser = Parser(STORED if "<" in "".join(script.chunks) else PLAIN, tools, fresh=str)
        for number, chunk in enumerate([] if stopped() else script.chunks):
            if stopped():
                break
            self._emit(chunk_of(request.id, pieces := parser.feed(chunk), (number,)))
            emitted += pieces
            thought += bool(parser.thought_end)
            self._wait(script.hold_answer if number == len(script.chunks) // 2 else None, stopped)
        if stopped():
            reason = DoneReason.CANCELLED
        elif script.fail_answer:
            self._emit(Failed(request.id, script.fail_answer))
            return
        elif script.cut_short:
            reason = DoneReason.LENGTH
        if pieces := parser.finish(cut=reason is not DoneReason.STOP):
            self._emit(chunk_of(request.id, pieces, ()))
        parts, ids = merge_pieces([*emitted, *pieces]), tuple(range(len(emitted)))
        text = text_of(parts)
        self._emit(
            Finished(
                request.id,
                text,
                ids,
                reason,
                script.prompt_tokens,
                script.cached_tokens,
                10**8,
                10**9,
                11 * 10**8,
                thought_tokens=thought,
                parts=parts,
            )
        )


def chunk_of(request_id: str, pieces: list[Piece], ids: tuple[int, ...]) -> TextChunk:
    """Return the event for new pieces of an answer."""
    return TextChunk(request_id, text_of(pieces), ids, parts=tuple(pieces))


def record(name: str = "tiny:latest", **changes: Any) -> ModelRecord:
    """Return a record of a model, which does not have to exist."""
    plain = ModelRecord(
        name=name,
        digest=(name.encode().hex() + "0" * 64)[:64],
        size=1_100_000,
        format=Format.SAFETENSORS,
        architecture="llama",
        parameters=260_000,
        quantization="int4",
        context_length=4096,
        source=Source.OLLAMA,
        path=Path("/models") / name,
        runnable=True,
    )
    return replace(plain, **changes)
