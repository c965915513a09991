"""Comparing a model with its original on a text that comes with Sotto.

The text is read in pieces of 512 tokens, as llama.cpp does by default, each without what comes before it; the second
half of a piece is predicted, so that every prediction has a context of at least 256 tokens. One model is in memory at a
time: the logits of the original wait in a file that has no name, so that it cannot be left behind.

Everything here belongs to the thread that owns MLX.
"""

import gc
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import IO

import mlx.core as mx

from sotto.engine.architectures.cache_types import PlannedKVCache
from sotto.engine.caches.caches import leaves, make_caches
from sotto.engine.config.prediction_names import without_head
from sotto.engine.config.supported_models import is_encoder
from sotto.engine.config.tower_names import without_tower
from sotto.engine.contract.engine_settings import EngineSettings
from sotto.engine.contract.events import LoadProgress
from sotto.engine.footprint.load_planning import place_on_one_device, plan_load
from sotto.engine.footprint.model_needs import limits_here
from sotto.engine.generation.first_forward import FirstForward, first_forward
from sotto.engine.kernels.device import device, wire
from sotto.engine.memory.system_memory import give_back
from sotto.engine.quality.comparison import Comparison, Quality
from sotto.engine.tokens.tokenizer import Tokenizer
from sotto.engine.weights.loader import load
from sotto.errors import CancelledError, EngineError, InvalidRequestError, StoreError
from sotto.paths import cache_dir, make_folder, resources_dir
from sotto.store.printable import format_size, printable, printable_path
from sotto.store.records import ModelSource

_PIECE = 512
# Tokens of a step, which bound the memory for logits and the time until a request to stop is seen.
_CPU_STEP, _STEP = 64, 256
_LOGIT_BYTES = 4
# Left free on the disk for other programs.
_RESERVE = 256 << 20


def text_to_read() -> str:
    """Return the text that models are measured on: prose, dialogue, code, tables and figures in six languages."""
    return (resources_dir() / "measuring.txt").read_text(encoding="utf-8")


def measure(
    original: ModelSource,
    other: ModelSource,
    *,
    memory_limit: int | None = None,
    progress: Callable[[int, int], None] = lambda *_: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Quality:
    """Return how far the predictions of a model are from those of the original.

    Args:
        original: The original, for example before it was quantized.
        other: A model with the same vocabulary.
        memory_limit: Bytes that the user allows for models; None for all free memory.
        progress: Receives how many tokens were read by both models together, and how many there are.
        cancelled: Polled once per step; returns whether to stop.

    Raises:
        InvalidRequestError: One of them writes no text, or their vocabularies differ.
        StoreError: The disk has no room for the logits.
        CancelledError: `cancelled` returned True.
        SottoError: One of them is damaged, cannot be computed, or does not fit into memory.
    """
    pieces = _pieces(original, other)
    reading = _Reading(pieces, 2 * sum(len(piece) - 1 for piece in pieces), progress, cancelled)
    comparison = Comparison()
    with _open_file() as file:
        with _loaded(original, memory_limit, cancelled) as model:
            width = model.rows
            _require_room(pieces, width)
            for logits, _ in reading.logits(model):
                _write(file, logits)
        file.seek(0)
        with _loaded(other, memory_limit, cancelled) as model:
            if model.rows != width:
                raise _different(original, other)
            for logits, targets in reading.logits(model):
                comparison.add(_read(file, len(targets), width), logits, targets)
    return comparison.result()


@dataclass(slots=True)
class _Reading:
    """Reads all pieces with one model after the other.

    Attributes:
        pieces: The tokens of the pieces.
        total: Tokens that all models read together.
        progress: Receives the progress.
        cancelled: Returns whether to stop.
        done: Tokens that have been read.
    """

    pieces: Sequence[Sequence[int]]
    total: int
    progress: Callable[[int, int], None]
    cancelled: Callable[[], bool]
    done: int = 0

    def logits(self, model: FirstForward) -> Iterator[tuple[mx.array, Sequence[int]]]:
        """Yield logits [rows, vocabulary] in 32 bits, and the token that comes next for each row."""
        step = _CPU_STEP if device() == "cpu" else _STEP
        for piece in self.pieces:
            caches = make_caches(model.loaded.model, max_tokens=len(piece))
            for leaf in leaves(caches):
                if isinstance(leaf, PlannedKVCache):
                    leaf.planned = len(piece)
            first, last = len(piece) // 2, len(piece) - 1
            for start, end in [*_steps(0, first, step), *_steps(first, last, step)]:
                if self.cancelled():
                    raise CancelledError("Measuring was stopped.")
                logits = model.loaded.model(mx.array([list(piece[start:end])]), cache=caches)
                if start >= first:
                    # Contiguous, because its bytes are written to a file.
                    wide = mx.contiguous(logits[0].astype(mx.float32))
                    mx.eval(wide)
                    yield wide, piece[start + 1 : end + 1]
                else:
                    # The output layer is computed only where somebody wants to know.
                    mx.eval([cache.state for cache in caches])
                self.done += end - start
                self.progress(self.done, self.total)


def _steps(start: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    return ((here, min(end, here + size)) for here in range(start, end, size))


def _pieces(original: ModelSource, other: ModelSource) -> list[list[int]]:
    """Return the tokens of each piece; each begins as a text does."""
    for source in (original, other):
        if is_encoder(source.config):
            raise InvalidRequestError(
                f"{printable(source.record.name)} writes no text, so it has no perplexity; choose a model that does."
            )
    tokenizer, text = Tokenizer.from_source(original), text_to_read()
    ids = tokenizer.encode(text, add_bos=False)
    if ids != Tokenizer.from_source(other).encode(text, add_bos=False):
        raise _different(original, other)
    size = min(_PIECE, *(source.record.context_length or _PIECE for source in (original, other)))
    beginning = tokenizer.add_prefix([])
    return [
        [*beginning, *ids[start + len(beginning) : start + size]] for start in range(0, len(ids) // size * size, size)
    ]


def _different(original: ModelSource, other: ModelSource) -> InvalidRequestError:
    return InvalidRequestError(
        f"{printable(other.record.name)} and {printable(original.record.name)} have different vocabularies; only "
        "versions of the same model can be compared."
    )


@contextmanager
def _loaded(source: ModelSource, memory_limit: int | None, cancelled: Callable[[], bool]) -> Iterator[FirstForward]:
    """Load a model, and free it when the context is left."""
    source = without_tower(without_head(source))
    limits = limits_here().within(memory_limit)

    def ignore(_: LoadProgress) -> None:
        """Ignore progress."""

    fitting = plan_load(source, _PIECE, limits)
    reading = partial(load, source, limits=limits, progress=ignore, cancelled=cancelled)
    loaded = place_on_one_device(source, fitting, reading)
    try:
        yield first_forward(source, loaded, EngineSettings())
    finally:
        del loaded
        wire(0)
        if gc.isenabled():  # else another thread collects, as in the window
            gc.collect()
        mx.clear_cache()
        give_back()


def _open_file() -> IO[bytes]:
    folder = cache_dir()
    try:
        make_folder(folder)
        return tempfile.TemporaryFile(dir=folder)
    except OSError as error:
        raise _unwritable(error) from error


def _write(file: IO[bytes], logits: mx.array) -> None:
    try:
        file.write(memoryview(logits))  # type: ignore[arg-type]
    except OSError as error:
        raise _unwritable(error) from error


def _unwritable(error: OSError) -> StoreError:
    return StoreError(f"{printable_path(cache_dir())} cannot be written: {error.strerror or error}.")


def _require_room(pieces: Sequence[Sequence[int]], width: int) -> None:
    needed = sum(len(piece) - 1 - len(piece) // 2 for piece in pieces) * width * _LOGIT_BYTES
    free = shutil.disk_usage(cache_dir()).free
    if needed + _RESERVE > free:
        raise StoreError(
            f"The disk of {printable_path(cache_dir())} has {format_size(free)} free; measuring needs "
            f"{format_size(needed)} for a while, and {format_size(_RESERVE)} should be left: free some space."
        )


def _read(file: IO[bytes], rows: int, width: int) -> mx.array:
    data = file.read(rows * width * _LOGIT_BYTES)
    if len(data) < rows * width * _LOGIT_BYTES:
        raise EngineError("The file with the logits of the original ended early; measure again.")
    return mx.array(memoryview(data).cast("f", (rows, width)))  # type: ignore[arg-type]
