"""What a client is told beside an answer: what had to leave, what was not followed, and what broke off."""

from collections.abc import Iterable, Sequence
from typing import Any

from sotto.engine.contract.events import Finished


def warning_fields(warnings: Sequence[str], ends: Iterable[Finished] = ()) -> dict[str, Any]:
    """Return the fields for that, in all dialects; nothing where there is nothing to tell.

    Args:
        warnings: A sentence for each thing of the request that was not followed.
        ends: How its answers ended.
    """
    ended = tuple(ends)
    messages = max((end.dropped_messages for end in ended), default=0)
    cut = max((end.cut_messages for end in ended), default=0)
    tokens = max((end.dropped_tokens for end in ended), default=0)
    told = [*warnings]
    if cut:
        told.append(f"The middle of {cut} message{'s' * (cut > 1)} was left out, for which the context has no room.")
    elif tokens and not messages:
        told.append(f"{tokens} tokens were left out or forgotten, for which the context has no room.")
    told += [call.sentence for end in ended if (call := end.cut) is not None]
    row: dict[str, Any] = {"truncated_messages": messages} if messages else {}
    return row | ({"warnings": told} if told else {})
