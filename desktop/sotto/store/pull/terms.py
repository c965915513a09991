"""The settings shared by all downloads of a queue."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from sotto.store.pull.progress import PullProgress
from sotto.store.sources.harvest import Judge


@dataclass(frozen=True, slots=True)
class Patience:
    """The timeouts and numbers of tries of a download.

    Attributes:
        silence: Seconds without a byte after which a connection is replaced.
        answer: Seconds allowed for a small response as a whole.
        first_wait: Seconds before the second try; each later wait is twice as long.
        longest_wait: The longest of these waits, in seconds.
        tries: How often a small response is requested.
        blob_tries: How often a blob is requested without receiving a byte; any byte resets the count.
        slow_after: Seconds after which a connection far slower than earlier ones is replaced.
        digest_tries: How often a blob may be received damaged.
        report_interval: Seconds between two reports of progress.
    """

    silence: float = 10.0
    answer: float = 60.0
    first_wait: float = 1.0
    longest_wait: float = 30.0
    tries: int = 6
    blob_tries: int = 20
    slow_after: float = 5.0
    digest_tries: int = 3
    report_interval: float = 0.2

    def wait(self, failures: int) -> float:
        """Return how many seconds to wait after this many consecutive failures."""
        return min(self.first_wait * 2.0 ** min(failures - 1, 30), self.longest_wait)


@dataclass(frozen=True, slots=True)
class Terms:
    """The settings shared by all downloads of a queue.

    Attributes:
        root: Sotto's own store.
        report: Called with every change of progress.
        judge: Given a model's configuration, returns an empty string, or one sentence saying why the engine cannot run
            it.
        insecure: Whether to connect to registries over HTTP without TLS.
        room: Returns how many bytes of weights the memory of this machine holds; None if that is not known.
        patience: Timeouts and numbers of tries.
    """

    root: Path
    report: Callable[[PullProgress], None]
    judge: Judge
    insecure: bool = False
    room: Callable[[], int | None] = lambda: None
    patience: Patience = field(default_factory=Patience)
