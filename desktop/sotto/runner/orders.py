"""The queue of the engine loop: waiting commands, and which of them come next."""

import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sotto.engine.contract.requests import EmbedRequest, GenerateRequest
from sotto.runner.commands import Embed, Generate, Load, Unload

if TYPE_CHECKING:
    from sotto.engine.prompt.prepared import PreparedRequest
    from sotto.engine.vectors.embedding import PreparedTexts


@dataclass(eq=False)
class Order:
    """A command in the queue.

    Attributes:
        command: The command.
        received: `time.perf_counter_ns()` on arrival.
        cancelled: Set to request cancellation.
        prepared: Future of the tokenized request; None until preparation starts.
    """

    command: Load | Unload | Generate | Embed
    received: int = field(default_factory=time.perf_counter_ns, init=False)
    cancelled: threading.Event = field(default_factory=threading.Event, init=False)
    prepared: "Future[PreparedRequest] | Future[PreparedTexts] | None" = field(default=None, init=False)

    @property
    def seat(self) -> str:
        """The seat that it is for."""
        return self.command.seat

    @property
    def request(self) -> GenerateRequest | EmbedRequest | None:
        """The request; None for a load or unload."""
        return self.command.request if isinstance(self.command, Generate | Embed) else None

    @property
    def in_background(self) -> bool:
        """Whether it is a request that no person waits for."""
        return isinstance(self.command, Generate | Embed) and self.command.background


def next_orders(waiting: Sequence[Order]) -> list[Order]:
    """Return the next order of each seat: a load or unload, or one of the requests queued before it.

    Among the requests for a seat, those that a person waits for come first.

    Args:
        waiting: All waiting orders, in order of arrival.
    """
    candidates: dict[str, list[Order]] = {}
    # Seats with a load or unload ahead: nothing behind it may overtake it.
    closed: set[str] = set()
    for order in waiting:
        of_seat = candidates.setdefault(order.seat, [])
        if order.seat not in closed and (order.request is not None or not of_seat):
            of_seat.append(order)
        if order.request is None:
            closed.add(order.seat)
    heads = {min(orders, key=lambda order: order.in_background) for orders in candidates.values()}
    return [order for order in waiting if order in heads]
