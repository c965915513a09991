"""Merging of events for a reader that is slower than the engine."""

from collections.abc import Sequence
from dataclasses import replace

from sotto.engine.contract.events import LoadProgress, PrefillProgress, TextChunk
from sotto.engine.memory.memory_figures import MemoryFigures


def join_events(events: Sequence[object]) -> list[object]:
    """Merge adjacent events: text chunks are concatenated, and of progress and memory reports the newest is kept."""
    groups: list[list[object]] = []
    for event in events:
        if groups and _can_join(groups[-1][-1], event):
            groups[-1].append(event)
        else:
            groups.append([event])
    return [_merge(group) for group in groups]


def _can_join(first: object, second: object) -> bool:
    if isinstance(first, TextChunk) and isinstance(second, TextChunk):
        # One flag cannot say which of the merged log-probabilities belong to thoughts.
        apart = bool(first.logprobs or second.logprobs) and first.thinks != second.thinks
        return first.request_id == second.request_id and not apart
    if isinstance(first, PrefillProgress):
        return isinstance(second, PrefillProgress) and first.request_id == second.request_id
    if isinstance(first, LoadProgress):
        return isinstance(second, LoadProgress) and (first.phase, first.seat) == (second.phase, second.seat)
    return isinstance(first, MemoryFigures) and isinstance(second, MemoryFigures)


def _merge(events: list[object]) -> object:
    """Return one event for adjacent events that can be merged."""
    chunks = [event for event in events if isinstance(event, TextChunk)]
    if len(chunks) < 2:
        return events[-1]
    parts = tuple(piece for chunk in chunks for piece in chunk.pieces) if any(chunk.parts for chunk in chunks) else ()
    return replace(
        chunks[0],
        text="".join(chunk.text for chunk in chunks),
        token_ids=tuple(token for chunk in chunks for token in chunk.token_ids),
        logprobs=tuple(logprob for chunk in chunks for logprob in chunk.logprobs),
        parts=parts,
    )
