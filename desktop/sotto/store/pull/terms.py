"""What holds for all downloads of a queue."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from sotto.store.pull.progress import PullProgress
from sotto.store.sources.harvest import Judge


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a download waits for what.

    Attributes:
        silence: Seconds without a byte after which a connection is given up and made anew.
        answer: Seconds for a small answer as a whole, however it trickles in.
        first_wait: Seconds before the second try; each later wait is twice as long.
        longest_wait: The longest of these waits.
        tries: How often a small answer is asked for.
        blob_tries: How often a blob is asked for without a single byte coming; any byte begins the count anew.
        slow: Seconds after which a connection that is far slower than others were is made anew.
        wrong: How often a blob may come wrong.
        news: Seconds between two news of how far it is.
    """

    silence: float = 10.0
    answer: float = 60.0
    first_wait: float = 1.0
    longest_wait: float = 30.0
    tries: int = 6
    blob_tries: int = 20
    slow: float = 5.0
    wrong: int = 3
    news: float = 0.2

    def wait(self, failures: int) -> float:
        """Return how many seconds to wait after the given number of failures in a row."""
        return min(self.first_wait * 2.0 ** min(failures - 1, 30), self.longest_wait)


@dataclass(frozen=True, slots=True)
class Terms:
    """What holds for all downloads of a queue.

    Attributes:
        root: Sotto's own store.
        tell: Called with every news.
        judge: Given a model's configuration, returns an empty text or one sentence why the engine cannot run it.
        insecure: Whether registries are asked over HTTP without TLS.
        patience: How long is waited for what.
    """

    root: Path
    tell: Callable[[PullProgress], None]
    judge: Judge
    insecure: bool = False
    patience: Patience = field(default_factory=Patience)
