"""From prompt tokens to text: chunked prefill, then decoding one token ahead of the reader.

Prefill feeds all but the last prompt token, in chunks, and evaluates nothing but the caches, so the output layer is
never computed for it. The first decode step feeds the last prompt token; each further step is put together with the
token that it continues still on its way, and on a GPU dispatched, before that token is read (double buffering). So MLX
has work while Python and the reader are busy.

Between two `next` calls the caches hold exactly the tokens recorded for them: a token is recorded as soon as it is
read, which is right after it was fed. So a generation can be dropped at any pause and the next one goes on from there.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

import mlx.core as mx

from sotto.engine.detokenizer import Detokenizer
from sotto.engine.prefix import PrefixCache
from sotto.engine.stop_strings import StopMatcher
from sotto.engine.types import DoneReason, Finished, GenerateEvent, PrefillProgress, TextChunk
from sotto.errors import EngineError

CHUNK = 2048
# A difference in cost that is worth a longer chunk.
_MUCH = 1.25
_CLEAR_EVERY = 256


class ChunkSize:
    """How many prompt tokens to feed at a time.

    On a GPU the largest chunk is the fastest and short enough. On a CPU a chunk should end soon enough for progress to
    move and for Stop to be heard, but a small one can be much dearer by the token, because each reads all weights. So
    the size follows what chunks have taken: it is halved while they take longer than they should, unless that makes a
    token much dearer, and doubled while there is time, or much to gain within the limit.

    Attributes:
        tokens: The size to use next.
    """

    def __init__(
        self, largest: int = CHUNK, first: int = CHUNK, target: float | None = None, limit: float = 1.0
    ) -> None:
        """Start with chunks of `first` tokens.

        Args:
            largest: Never more than this.
            first: Size until something has been measured.
            target: Seconds that a chunk should take; None always gives `largest`.
            limit: Seconds that a chunk may take where that saves time on the whole.
        """
        self.tokens = first if target is not None else largest
        self._largest = largest
        self._target = target
        self._limit = limit
        self._seconds: dict[int, float] = {}

    def took(self, tokens: int, seconds: float) -> None:
        """Learn that a chunk of `tokens` took `seconds`."""
        if self._target is None or (tokens < self.tokens and seconds < self._limit):
            return  # the rest of a prompt says little about whole chunks
        self._seconds[tokens] = seconds
        if seconds < self._target / 2 or self._gains_by_doubling(tokens, seconds):
            self.tokens = min(self._largest, 2 * tokens)
        elif seconds > self._target and self._can_be_halved(tokens, seconds):
            self.tokens = max(1, tokens // 2)

    def _gains_by_doubling(self, tokens: int, seconds: float) -> bool:
        double = self._seconds.get(2 * tokens)
        if double is None:
            return seconds < self._limit / 2
        return double < max(self._limit, seconds * _MUCH) and double * _MUCH <= 2 * seconds

    def _can_be_halved(self, tokens: int, seconds: float) -> bool:
        half = self._seconds.get(tokens // 2)
        if half is None:
            return True
        return half * _MUCH < seconds if seconds > self._limit else 2 * half <= seconds * _MUCH


@dataclass(frozen=True, slots=True)
class Pace:
    """How much to compute at a time on a device.

    Attributes:
        chunk: Size of prefill chunks.
        ahead_below: Where tokens come at shorter intervals than this many seconds, the step after a token is dispatched
            before that token is read. That keeps a GPU busy. MLX's CPU backend takes few operations in advance, so
            dispatching a step lasts nearly as long as computing it, and each token is read, and Stop heard, that much
            later: worth it only where the pause between two steps counts, and never before the first token.
    """

    chunk: ChunkSize = field(default_factory=ChunkSize)
    ahead_below: float = math.inf


@dataclass(frozen=True, slots=True)
class Task:
    """One generation, ready to run.

    Attributes:
        request_id: Events carry it.
        prompt: At least one token.
        boundary: Tokens of the prompt before what asks for the answer; 0 when not known.
        max_tokens: Most tokens to draw, at least 1.
        eos_ids: Tokens that end the answer.
        sample: Takes logits [1, V] to a token [1], lazily.
        text: Turns tokens into text.
        stop: Watches for stop strings.
        received: `time.perf_counter_ns()` when the request was taken up; its total duration counts from there.
    """

    request_id: str
    prompt: Sequence[int]
    boundary: int
    max_tokens: int
    eos_ids: frozenset[int]
    sample: Callable[[mx.array], mx.array]
    text: Detokenizer
    stop: StopMatcher
    received: int


def run(
    model: Callable[..., mx.array],
    live: PrefixCache,
    task: Task,
    pace: Pace,
    cancelled: Callable[[], bool],
) -> Iterator[GenerateEvent]:
    """Generate; each `next` computes at most one prefill chunk or one token. The iterator may be dropped at any pause.

    Args:
        model: Takes tokens [1, L] and `cache=` to logits [1, L, V].
        live: The model's caches; they hold what was fed when this ends, however it ends. After an error they are empty.
        task: What to generate.
        pace: How much to compute at a time; learns from this generation.
        cancelled: Asked once per step.

    Raises:
        EngineError: Memory ran out.
    """
    try:
        yield from _run(model, live, task, pace, cancelled)
    except Exception as error:
        # Nobody knows whether the step that failed has reached the caches.
        live.reset()
        if isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and "alloc" in str(error)):
            message = "Memory ran out; start a new chat, choose a smaller model or close other programs."
            raise EngineError(message) from error
        raise


def _run(
    model: Callable[..., mx.array],
    live: PrefixCache,
    task: Task,
    pace: Pace,
    cancelled: Callable[[], bool],
) -> Iterator[GenerateEvent]:
    begun = time.perf_counter_ns()
    total = len(task.prompt)
    cached = live.begin(task.prompt)
    yield PrefillProgress(task.request_id, cached, total, cached)
    for done in _prefill(model, live, task, pace.chunk, cancelled):
        yield PrefillProgress(task.request_id, done, total, cached)

    texts: list[str] = []
    drawn: list[int] = []
    first = 0
    reason = DoneReason.LENGTH
    tokens = _decode(model, live, task, pace.ahead_below)
    while len(drawn) < task.max_tokens:
        if cancelled():
            reason = DoneReason.CANCELLED
            break
        token = next(tokens, None)
        if token is None:
            # The context has outgrown what is computed in one way: once, all of it is computed in another.
            rest = replace(task, prompt=(*task.prompt, *drawn), max_tokens=task.max_tokens - len(drawn))
            live.begin(rest.prompt)
            for _ in _prefill(model, live, rest, pace.chunk, cancelled):
                yield TextChunk(task.request_id, "", ())
            tokens = _decode(model, live, rest, pace.ahead_below)
            continue
        if not first:
            first = time.perf_counter_ns()
            yield PrefillProgress(task.request_id, total, total, cached)
        if token in task.eos_ids:
            reason = DoneReason.STOP
            break
        drawn.append(token)
        texts.append(task.stop.add(task.text.add(token)))
        yield TextChunk(task.request_id, texts[-1], (token,))
        if task.stop.found:
            reason = DoneReason.STOP
            break
    if not task.stop.found:
        held = task.stop.add(task.text.finish()) + task.stop.finish()
        if held:
            texts.append(held)
            yield TextChunk(task.request_id, held, ())
    ended = time.perf_counter_ns()
    yield Finished(
        request_id=task.request_id,
        text="".join(texts),
        token_ids=tuple(drawn),
        done_reason=reason,
        prompt_tokens=total,
        cached_tokens=cached,
        prompt_duration=(first or ended) - begun,
        eval_duration=ended - (first or ended),
        total_duration=ended - task.received,
    )
    # Now that the reader has everything: leave no graph behind that only the next request would compute.
    mx.async_eval(live.states())  # type: ignore[no-untyped-call]
    mx.clear_cache()


def _prefill(
    model: Callable[..., mx.array],
    live: PrefixCache,
    task: Task,
    chunk: ChunkSize,
    cancelled: Callable[[], bool],
) -> Iterator[int]:
    """Feed the prompt up to its last token and yield how much has been fed after each chunk."""
    end = len(task.prompt) - 1
    stops = live.stops(len(task.prompt), task.boundary)
    while True:
        done = len(live.tokens)
        if done in stops:
            live.snapshot()
        if done == end or cancelled():
            return
        # The inside of a chunk cannot be come back to, so a chunk ends where a snapshot is due.
        due = next((stop for stop in stops if stop > done), end)
        ids = list(task.prompt[done : min(done + chunk.tokens, due)])
        started = time.perf_counter()
        model(mx.array([ids]), cache=live.caches)
        mx.eval(live.states())
        live.tokens.extend(ids)
        mx.clear_cache()
        chunk.took(len(ids), time.perf_counter() - started)
        yield done + len(ids)


def _decode(model: Callable[..., mx.array], live: PrefixCache, task: Task, ahead_below: float) -> Iterator[int]:
    """Feed the last prompt token and yield drawn tokens, each recorded once it was fed in turn.

    Ends before `max_tokens` where the caches must begin anew.
    """

    def step(ids: mx.array) -> mx.array:
        return task.sample(model(ids, cache=live.caches)[:, -1, :])

    token = step(mx.array([[task.prompt[-1]]]))
    live.tokens.append(task.prompt[-1])
    read, interval = -math.inf, math.inf
    most = int(min(task.max_tokens, live.room(len(task.prompt))))
    for count in range(1, most + 1):
        mx.async_eval(token)  # type: ignore[no-untyped-call]
        following = step(token[:, None]) if count < most else None
        if following is not None and interval <= ahead_below:
            mx.async_eval(following)  # type: ignore[no-untyped-call]
        drawn = cast("int", token.item())
        if following is not None:
            live.tokens.append(drawn)
            token = following
        interval, read = time.perf_counter() - read, time.perf_counter()
        if count % _CLEAR_EVERY == 0:
            mx.clear_cache()
        yield drawn
