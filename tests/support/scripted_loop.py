"""An engine's loop that plays a script: for states of the window that the real engine cannot be made to show.

It keeps the order of events that `sotto.runner.loop.EngineLoop` promises, and computes nothing.
"""

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sotto.engine.memory_figures import Measured, MemoryFigures
from sotto.engine.memory_needs import ModelNeeds
from sotto.engine.parsing.families import KEPT, PLAIN
from sotto.engine.parsing.parser import Parser
from sotto.engine.parsing.pieces import Piece, merged, text_of
from sotto.engine.types import (
    Counted,
    CountRequest,
    DoneReason,
    Embedded,
    EmbedRequest,
    Event,
    Failed,
    Finished,
    GenerateRequest,
    Loaded,
    LoadProgress,
    ModelInfo,
    PrefillProgress,
    TextChunk,
    Unloaded,
)
from sotto.store.records import Format, ModelRecord, Source


@dataclass
class Script:
    """What happens. `hold` events are waited for between the steps of a load, a prefill or an answer.

    What models need is by their names, and `taken` is what a loaded one holds in the end; `loads` lists what was asked.
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
    crash: str = ""
    hold_load: threading.Event | None = None
    hold_prefill: threading.Event | None = None
    hold_answer: threading.Event | None = None
    requests: list[GenerateRequest] = field(default_factory=list)
    counts: list[CountRequest] = field(default_factory=list)
    needs: dict[str, ModelNeeds] = field(default_factory=dict)
    loads: list[tuple[str, int | None, bool]] = field(default_factory=list)
    taken: int = 0
    has_template: bool = True
    template_note: str = ""


class ScriptedLoop:
    """Plays a `Script` on the thread that runs it."""

    def __init__(self, emit: Callable[[Event], None], script: Script) -> None:
        self._emit = emit
        self._script = script
        self._commands: queue.SimpleQueue[tuple[str, object]] = queue.SimpleQueue()
        self._stopped: set[str] = set()
        self._loads = 0
        self._load_stopped_up_to = 0
        self._closed = False
        self._context = 0

    def load(self, record: ModelRecord, num_ctx: int | None = None, *, anyway: bool = False) -> None:
        self._script.loads.append((record.name, num_ctx, anyway))
        self._load_stopped_up_to = self._loads
        self._loads += 1
        self._commands.put(("load", (record, self._loads, num_ctx)))

    def unload(self) -> None:
        self._load_stopped_up_to = self._loads
        self._commands.put(("unload", None))

    def generate(self, request: GenerateRequest) -> None:
        self._script.requests.append(request)
        self._commands.put(("generate", request))

    def embed(self, request: EmbedRequest) -> None:
        """Make a vector of one number of each text: how long it is."""
        self._commands.put(("embed", request))

    def count(self, request: CountRequest) -> None:
        """Take every character for a token, and four for what a template puts around a message."""
        self._script.counts.append(request)
        sizes = [len(message.content) + 4 for message in request.messages]
        kept = [size for size, message in zip(sizes, request.messages, strict=True) if message.role == "system"]
        room = self._context - self._context // 4
        texts = tuple(map(len, request.texts))
        self._emit(Counted(request.id, sum(sizes), sum(kept) + sizes[-1], room, texts))

    def cancel(self, request_id: str) -> None:
        self._stopped.add(request_id)

    def cancel_load(self) -> None:
        self._load_stopped_up_to = self._loads

    def measure(self, record: ModelRecord) -> None:
        self._commands.put(("measure", record))

    def close(self) -> None:
        self._closed = True
        self._commands.put(("close", None))

    def run(self) -> None:
        while True:
            command, value = self._commands.get()
            if command == "close":
                return
            if self._script.crash:
                crash, self._script.crash = self._script.crash, ""
                raise RuntimeError(crash)
            if command == "load":
                self._load(*value)
            elif command == "measure":
                needs = self._script.needs.get(value.name)
                self._emit(Measured(value.digest, needs, "" if needs else f"{value.name} is not in the script."))
            elif command == "embed":
                sizes = [len(text) for text in value.texts]
                self._emit(Embedded(value.id, tuple((float(size),) for size in sizes), sum(sizes), 1))
            elif command == "unload":
                self._emit(Unloaded())
            else:
                self._generate(value)

    def _wait(self, hold: threading.Event | None, stopped: Callable[[], bool]) -> None:
        time.sleep(self._script.pause)
        while hold is not None and not hold.is_set() and not stopped() and not self._closed:
            time.sleep(0.002)

    def _load(self, record: ModelRecord, number: int, num_ctx: int | None) -> None:
        def stopped() -> bool:
            return number <= self._load_stopped_up_to

        total = record.size
        for step in range(self._script.load_steps):
            if stopped():
                self._emit(Unloaded())
                return
            self._emit(LoadProgress("weights", total * step // self._script.load_steps, total))
            if step == self._script.load_steps // 2:
                self._wait(self._script.hold_load, stopped)
        if stopped():
            self._emit(Unloaded())
        elif self._script.fail_load:
            self._emit(Failed("", self._script.fail_load))
        else:
            longest = record.context_length or 4096
            self._context = self._script.loaded_context or min(num_ctx or longest, longest)
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
                knows_tools=True,
                thinks=True,
            )
            self._emit(Loaded(info))
            self._emit(MemoryFigures(total, 1 << 20, self._script.taken or total, 0, total))

    def _generate(self, request: GenerateRequest) -> None:
        def stopped() -> bool:
            return request.id in self._stopped

        script, said, reason = self._script, list[Piece](), DoneReason.STOP
        for step in range(script.prefill_steps + 1):
            span = script.prompt_tokens - script.cached_tokens
            done = script.cached_tokens + span * step // max(1, script.prefill_steps)
            self._emit(PrefillProgress(request.id, done, script.prompt_tokens, script.cached_tokens))
            if step == script.prefill_steps // 2:
                self._wait(script.hold_prefill, stopped)
        parser = Parser(KEPT if "<" in "".join(script.chunks) else PLAIN, fresh=str)
        for number, chunk in enumerate([] if stopped() else script.chunks):
            if stopped():
                break
            self._emit(chunk_of(request.id, pieces := parser.feed(chunk), (number,)))
            said += pieces
            self._wait(script.hold_answer if number == len(script.chunks) // 2 else None, stopped)
        if stopped():
            reason = DoneReason.CANCELLED
        elif script.fail_answer:
            self._emit(Failed(request.id, script.fail_answer))
            return
        if pieces := parser.finish():
            self._emit(chunk_of(request.id, pieces, ()))
        parts, ids = merged([*said, *pieces]), tuple(range(len(said)))
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
                parts=parts,
            )
        )


def chunk_of(request_id: str, pieces: list[Piece], ids: tuple[int, ...]) -> TextChunk:
    """Return what an engine says of new pieces."""
    return TextChunk(request_id, text_of(pieces), ids, parts=tuple(pieces))


def record(name: str = "tiny:latest", **changes: Any) -> ModelRecord:
    """Make a row of the list for a model that need not exist."""
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
