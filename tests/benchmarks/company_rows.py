"""Several requests at once: the total speed of four answers, and the pauses of an answer during a long prompt."""

from collections.abc import Iterator

from bench_models import Models
from hosting import Host, unseen
from rows import Row, at_most, ratio, turns

from sotto.engine.contract.events import GenerateEvent, PrefillProgress, TextChunk

_STREAMS = 4
_PROMPT = 8000


def stream_rows(models: Models, *, quick: bool) -> Iterator[Row]:
    """Compare four answers at once with one."""
    tokens, rounds = (24, 1) if quick else (64, 5)
    for shape, limit in (("smollm2-135m", 2.0),) if quick else (("smollm2-135m", 2.0), ("qwen3-0.6b", None)):
        model = models.get(shape, "4bit")
        with Host(model.folder) as host:
            _total_rate(host, _STREAMS, 8)
            found = turns(
                rounds,
                one=lambda: _total_rate(host, 1, tokens),
                four=lambda: _total_rate(host, _STREAMS, tokens),
            )
        yield ratio(f"{model.name}: four answers at once / one, total tokens/s", found["four"], found["one"], limit)


def _total_rate(host: Host, streams: int, tokens: int) -> float:
    """Return the total tokens per second of several answers, counted once all have begun."""
    for number in range(streams):
        host.start(str(number), unseen(8), tokens)
    times: list[float] = []
    waiting = {str(number) for number in range(streams)}
    for _, ended, events in host.steps():
        for event in events:
            if isinstance(event, TextChunk) and event.token_ids:
                waiting.discard(event.request_id)
                times += [ended] * (len(event.token_ids) if not waiting else 0)
    # The tokens of the first counted step were computed before the clock started.
    counted = [time for time in times if time > times[0]]
    return len(counted) / (times[-1] - times[0])


def gap_rows(models: Models, *, quick: bool) -> Iterator[Row]:
    """Measure the longest pause of an answer while a long prompt is evaluated."""
    model = models.get("smollm2-135m", "4bit")
    length = _PROMPT // 16 if quick else _PROMPT
    with Host(model.folder) as host:
        host.prefill(500)
        alone: list[float] = []
        gaps: list[float] = []
        chunks: list[float] = []
        chunks_since_token = max_chunks = 0
        last = 0.0
        begun = False
        host.start("chat", unseen(8), 12_000)
        for began, ended, events in host.steps():
            if _is_token(events, "chat"):
                if last:
                    (gaps if begun else alone).append(ended - last)
                last, max_chunks, chunks_since_token = ended, max(max_chunks, chunks_since_token), 0
            if any(_is_chunk(event) for event in events):
                chunks.append(ended - began)
                chunks_since_token += 1
            if not begun and len(alone) == 2 * _STREAMS:
                host.start("long", unseen(length), 2)
                begun = True
            if _is_token(events, "long"):
                host.engine.abort()
    detail = (
        f"{max(gaps) * 1e3:.0f} ms vs. {max(chunks) * 1e3:.0f} ms; "
        f"{len(chunks)} chunks, {sum(alone) / len(alone) * 1e3:.0f} ms between tokens before"
    )
    title = f"{model.name}: while a prompt of {length} tokens is evaluated during an answer"
    yield at_most(f"{title}, chunks between two tokens", max_chunks, 1, unit="")
    yield at_most(f"{title}, longest gap / longest chunk", max(gaps) / max(chunks), 1.5, detail)


def _is_chunk(event: object) -> bool:
    """Return whether a chunk of the long prompt was evaluated; its first token is reported in the same way."""
    return isinstance(event, PrefillProgress) and event.request_id == "long" and event.cached < event.done < event.total


def _is_token(events: list[GenerateEvent], name: str) -> bool:
    return any(isinstance(event, TextChunk) and event.token_ids and event.request_id == name for event in events)
