"""Running requests on tiny random models with the engine's scheduler."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import count
from types import SimpleNamespace

import mlx.core as mx

from sotto.engine.caches.caches import make_caches
from sotto.engine.caches.prefix_cache import PrefixCache
from sotto.engine.contract.events import Finished
from sotto.engine.contract.requests import GenerateRequest, SamplingOptions
from sotto.engine.generation.chunk_sizing import ChunkSize, ChunkSizing
from sotto.engine.generation.draft_depth import Costs, DraftDepth
from sotto.engine.generation.scheduler import Scheduler
from sotto.engine.generation.speculation import LookupDepths
from sotto.engine.generation.speculator import Speculator
from sotto.engine.parsing.answer_parser import Parser
from sotto.engine.parsing.families import PLAIN
from sotto.engine.prompt.prepared import PreparedRequest
from tiny_random import CONFIGS, VOCABULARY, random_model

MODELS = {kind: random_model(kind) for kind in CONFIGS}
PROMPT = [(13 * index) % (VOCABULARY - 2) for index in range(45)]
GREEDY = SamplingOptions(temperature=0)
PLENTY = 1 << 30
PERIOD = [(7 * token + 3) % VOCABULARY for token in range(VOCABULARY)]
REPEATS = [3, 1, 4, 1, 5, 9, 2, 6] * 6


class Letters:
    """A detokenizer that returns the character with the code 200 + n for token n."""

    def add(self, token_id):
        return chr(200 + token_id)

    def finish(self):
        return ""


def empty(kind, budget=PLENTY, kv_bits=None):
    return PrefixCache(lambda: make_caches(MODELS[kind], kv_bits), budget)


@dataclass(frozen=True, kw_only=True)
class Task(PreparedRequest):
    """A prepared request with arbitrary token ids, which handles text with the given functions."""

    reader: Parser | None
    written: Callable[[str], list[int]]
    shift: Callable[[list[int]], list[int]] | None
    cancelled: Callable[[], bool]
    sampler: object | None

    def parser(self):
        return self.reader or Parser(PLAIN)

    def encode(self, text):
        return self.written(text)

    def shift_context(self, tokens):
        return self.shift(tokens) if self.shift else None


def task(
    prompt=PROMPT,
    max_tokens=12,
    eos_ids=(),
    stop=(),
    boundaries=(),
    request_id="r",
    sampling=GREEDY,
    *,
    text=None,
    token_bytes=lambda _: b"",
    think_budget=None,
    logprobs=None,
    context=math.inf,
    parser=None,
    encode=lambda _: [],
    shift=None,
    cancelled=lambda: False,
    sampler=None,
    **more,
):
    """Return a task with a prompt of token ids; the other arguments are those of `Task` and of its request.

    Args:
        prompt: Token ids.
        max_tokens: Maximum number of tokens to generate.
        eos_ids: Tokens that end the answer.
        stop: Strings that end the answer.
        boundaries: Positions in the prompt at which caches may be kept.
        request_id: The id of the request.
        sampling: The sampling options.
        text: The detokenizer; None for `Letters`.
        token_bytes: Returns the bytes of a token.
        think_budget: Maximum number of tokens of a thought; None for no limit.
        logprobs: The number of most likely tokens to report; None for no log-probabilities.
        context: The context length in tokens.
        parser: The parser of the answer; None for a plain one.
        encode: Returns the tokens of a text.
        shift: Returns a shortened prompt when the context is full; None to end the answer.
        cancelled: Returns whether the request was cancelled.
        sampler: Replaces the generation's sampler; None for the usual one.
        more: Further fields of `Task`.
    """
    return Task(
        request=GenerateRequest(request_id, prompt=tuple(prompt), think_budget=think_budget, logprobs=logprobs),
        tokenizer=SimpleNamespace(detokenizer=lambda _: text or Letters(), token_bytes=token_bytes),
        family=PLAIN,
        context_length=context,
        prompt=tuple(prompt),
        boundaries=boundaries,
        keep=0,
        opening=(),
        sampling=sampling,
        stop=tuple(stop),
        ends=frozenset(eos_ids),
        max_tokens=max_tokens,
        received=time.perf_counter_ns(),
        spell=encode,
        reader=parser,
        written=encode,
        shift=shift,
        cancelled=cancelled,
        sampler=sampler,
        **more,
    )


def scheduler(kind, prefix=None, chunk=7, ahead=math.inf, model=None, *, batches=False, **more):
    """Return a scheduler.

    Args:
        kind: The model, one of `MODELS`.
        prefix: The prefix cache; None for an empty one.
        chunk: Maximum number of prompt tokens in a step.
        ahead: Seconds between tokens below which the next step is dispatched ahead.
        model: A model in place of that of `kind`.
        batches: Whether requests are evaluated in batches.
        more: Further arguments of `Scheduler`.
    """
    sizing = ChunkSizing(ChunkSize(largest=chunk), ChunkSize(largest=chunk), ahead)
    return Scheduler(model or MODELS[kind], prefix or empty(kind), sizing, batches=batches, **more)


def add(running, added):
    """Add a task to a scheduler, with the task's own sampler if it has one."""
    running.add(added, added.cancelled)
    if added.sampler is not None:
        generation = running._running[-1]
        generation.sampler = generation._sampler_before = added.sampler


def drain(running):
    """Step until all requests have ended, and return all events."""
    events = []
    while running.count:
        events.extend(running.step())
    return events


def run(kind, prefix, *tasks, **more):
    """Run tasks together and return their events."""
    running = scheduler(kind, prefix, **more)
    for added in tasks:
        add(running, added)
    return drain(running)


def finished(events, request_id="r"):
    (event,) = [event for event in events if isinstance(event, Finished) and event.request_id == request_id]
    return event


def reference(kind, prompt, length):
    """Return the greedy continuation of a prompt, checked against one forward pass over the whole text."""
    return _reference(kind, tuple(prompt), length)


@cache
def _reference(kind, prompt, length):
    model, ids = MODELS[kind], list(prompt)
    caches, fed = make_caches(model), ids
    for _ in range(length):
        fed = [mx.argmax(model(mx.array([fed]), cache=caches)[0, -1]).item()]
        ids = ids + fed
    whole = model(mx.array([ids[:-1]]), cache=make_caches(model))
    assert mx.argmax(whole[0, len(prompt) - 1 :], axis=-1).tolist() == ids[len(prompt) :]
    return tuple(ids[len(prompt) :])


def cancel_after(limit):
    """Return a function that returns False `limit` times and then True."""
    counter = count()
    return lambda: next(counter) >= limit


class Counting:
    """A model that records the shape of every input, and fails at input number `failing`, counted from 1."""

    def __init__(self, kind, failing=0, error=None, model=None):
        self.model, self.shapes, self._failing = model or MODELS[kind], [], failing
        self._error = error or RuntimeError("[metal] something went wrong")

    @property
    def lengths(self):
        return [length for _, length in self.shapes]

    def __call__(self, ids, cache):
        self.shapes.append(tuple(ids.shape))
        logits = self.model(ids, cache=cache)
        if len(self.shapes) == self._failing:
            raise self._error
        return logits


class Always(DraftDepth):
    """A depth controller that always plans the maximum number of drafts."""

    def planned(self, available):
        return min(available, self.limit)

    def choose(self, available):
        return self.planned(available)

    def gain(self, available):
        return 2.0


class Free(Costs):
    """Equal costs for any number of drafts, so that all available ones are used."""

    measured = tuple(range(17))

    def took(self, drafts, seconds):
        pass

    def up_to(self, drafts):
        return [1.0] * (drafts + 1)


def eager(limit=8):
    """Return a speculator that proposes all drafts it finds, up to `limit`."""
    depths = LookupDepths(limit)
    depths.costs = Free()
    for matched in depths._by_length:
        depths.controller(matched).costs = depths.costs
    return Speculator(depths)


class Echo:
    """A model that mostly continues each token with its entry in `period`, so that drafts are mostly right."""

    def __init__(self, kind, period):
        self._counting, self._period = Counting(kind), period

    @property
    def shapes(self):
        return self._counting.shapes

    def __call__(self, ids, cache):
        logits = self._counting(ids, cache)
        following = mx.take(mx.array(self._period), ids, axis=0)
        return 0.01 * logits + 10 * (mx.arange(VOCABULARY) == following[..., None])
