"""What waits for the engines' loop, and whose turn is next."""

import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sotto.engine.contract.requests import EmbedRequest, GenerateRequest
from sotto.runner.commands import Embed, Generate, Load, Unload

if TYPE_CHECKING:
    from sotto.engine.prompt.prepared import Prepared
    from sotto.engine.vectors.embedding import PreparedTexts


@dataclass(eq=False)
class Order:
    """A command to be served in its turn.

    Attributes:
        command: What was asked for.
        received: `time.perf_counter_ns()` when it came.
        cancelled: Asks it to end early.
        prepared: Becomes the tokens of a request, once they are asked for.
    """

    command: Load | Unload | Generate | Embed
    received: int = field(default_factory=time.perf_counter_ns, init=False)
    cancelled: threading.Event = field(default_factory=threading.Event, init=False)
    prepared: "Future[Prepared] | Future[PreparedTexts] | None" = field(default=None, init=False)

    @property
    def seat(self) -> str:
        """Where it is to be served."""
        return self.command.seat

    @property
    def request(self) -> GenerateRequest | EmbedRequest | None:
        """What is to be answered; None for a load or unload."""
        return self.command.request if isinstance(self.command, Generate | Embed) else None

    @property
    def in_background(self) -> bool:
        """Whether it is a request for which no person waits."""
        return isinstance(self.command, Generate | Embed) and self.command.background


def next_orders(waiting: Sequence[Order]) -> list[Order]:
    """Return what comes next for each seat: a load or unload, or one of the requests before that.

    Of requests for one seat, those of people come first.

    Args:
        waiting: Everything that waits, in the order asked.
    """
    before: dict[str, list[Order]] = {}
    shut: set[str] = set()
    for one in waiting:
        mine = before.setdefault(one.seat, [])
        if one.seat not in shut and (one.request is not None or not mine):
            mine.append(one)
        if one.request is None:
            shut.add(one.seat)
    heads = {min(orders, key=lambda order: order.in_background) for orders in before.values()}
    return [one for one in waiting if one in heads]
