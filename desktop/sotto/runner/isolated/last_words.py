"""Error lines in the output of a process that has ended, to explain why it did."""

import re

_KEPT_BYTES = 8 << 10
_LONGEST_LINE = 8 << 10
# How error messages begin. A line is cut to start at the first of these.
_MARKS = re.compile(
    r"Fatal Python error:|fatal error:|panic:|terminate called|what\(\):|libc\+\+abi:|[Aa]ssertion failed|\[METAL\]|"
    r"mlx:|MLX:|CUDA error|cudaMalloc failed|[Ee]rror:|\b[A-Z]\w*(?:Error|Exception)\b"
)
_MEMORY = re.compile(
    r"out of (?:device )?memory|(?:cuda|hip)Malloc failed|failed to allocate|allocation failed|not enough memory|"
    r"insufficient memory|outofdevicememory|bad_alloc",
    re.IGNORECASE,
)


class LastWords:
    """Collects the error lines in a process's output, up to the last 8 KiB."""

    def __init__(self) -> None:
        """Begin empty."""
        self._kept: list[str] = []
        self._size = 0
        self._rest = b""

    @property
    def text(self) -> str:
        """The error lines collected."""
        return "\n".join(self._kept)

    def last(self, known: str = "") -> str:
        """Return the last error line that does not end with `known`; empty if there is none."""
        return next((line for line in reversed(self._kept) if not known or not line.endswith(known)), "")

    def feed(self, data: bytes) -> list[str]:
        """Take output; return its complete lines."""
        *ends, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > _LONGEST_LINE:
            ends, self._rest = [*ends, self._rest], b""
        lines = [end[:_LONGEST_LINE].decode("utf-8", "replace").rstrip() for end in ends]
        for line in lines:
            self._examine(line)
        return [line for line in lines if line]

    def finish(self) -> list[str]:
        """Take the unfinished last line; return it."""
        return self.feed(b"\n") if self._rest else []

    def _examine(self, line: str) -> None:
        if _MEMORY.search(line):
            excerpt = line.strip()
        elif match := _MARKS.search(line):
            excerpt = line[match.start() :]
        else:
            return
        self._kept.append(excerpt)
        self._size += len(excerpt.encode()) + 1
        while self._size > _KEPT_BYTES:
            self._size -= len(self._kept.pop(0).encode()) + 1
