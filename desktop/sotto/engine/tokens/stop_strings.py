"""Find stop strings in a stream of text, holding back what may be the beginning of one."""

from collections.abc import Iterable


class StopMatcher:
    """Lets text through until a stop string is complete.

    Whatever pieces the text comes in, the stop string that is complete first wins, and of several that end at the same
    character the longest. Neither it nor anything after it is let through.

    Attributes:
        found: The stop string that was found, after which nothing is let through; empty before that.
    """

    def __init__(self, stops: Iterable[str]) -> None:
        """Watch for `stops`; empty ones are ignored."""
        self._stops = tuple(stop for stop in stops if stop)
        self._held = ""
        self.found = ""

    def add(self, text: str) -> str:
        """Take the next piece and return the text that is now certain to precede any stop string."""
        if self.found:
            return ""
        text = self._held + text
        matches = [(start + len(stop), start) for stop in self._stops if (start := text.find(stop)) >= 0]
        if matches:
            end, start = min(matches)
            self.found = text[start:end]
            self._held = ""
            return text[:start]
        kept = max((_overlap(text, stop) for stop in self._stops), default=0)
        certain = len(text) - kept
        self._held = text[certain:]
        return text[:certain]

    def finish(self) -> str:
        """Return what was held back: the stream is over, so no stop string can be completed."""
        held, self._held = self._held, ""
        return held


def _overlap(text: str, stop: str) -> int:
    """Return the length of the longest end of `text` that is a proper prefix of `stop`."""
    longest = min(len(text), len(stop) - 1)
    return next((length for length in range(longest, 0, -1) if text.endswith(stop[:length])), 0)
