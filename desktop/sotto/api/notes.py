"""Warnings in answers: dropped messages and tokens, ignored parts of the request, and cut-off calls."""

from collections.abc import Iterable, Sequence
from typing import Any

from sotto.engine.contract.events import Finished


def warning_fields(warnings: Sequence[str], ends: Iterable[Finished] = ()) -> dict[str, Any]:
    """Return the warning fields of an answer, the same in all dialects; empty without warnings.

    Args:
        warnings: A sentence for each part of the request that was ignored.
        ends: The last events of its answers.
    """
    ended = tuple(ends)
    messages = max((end.dropped_messages for end in ended), default=0)
    cut = max((end.cut_messages for end in ended), default=0)
    tokens = max((end.dropped_tokens for end in ended), default=0)
    sentences = [*warnings]
    if cut:
        sentences.append(f"The middle of {cut} message{'s' * (cut > 1)} was left out because the context is full.")
    elif tokens and not messages:
        sentences.append(f"{tokens} tokens were dropped because the context is full.")
    sentences += [call.sentence for end in ended if (call := end.cut) is not None]
    row: dict[str, Any] = {"truncated_messages": messages} if messages else {}
    return row | ({"warnings": sentences} if sentences else {})
