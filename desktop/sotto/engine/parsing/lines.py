"""Where in Markdown a text is: at the beginning of a line or not, in a block of code or not."""

# As much of a line as says whether it is a fence.
_LINE_HEAD = 100


class Lines:
    """Follows a text as it comes.

    Attributes:
        fence: The fence that is open; empty for none.
    """

    def __init__(self) -> None:
        """Be at the beginning."""
        self.fence = ""
        self._line = ""

    @property
    def blank(self) -> bool:
        """Whether there is nothing but white space on the line so far."""
        return not self._line.strip()

    def take(self, text: str) -> None:
        """Take more text."""
        *ended, rest = text.split("\n")
        for end in ended:
            self.fence = _fence_after(self.fence, self._line + end)
            self._line = ""
        self._line = (self._line + rest)[:_LINE_HEAD]

    def begin(self) -> None:
        """Be at the beginning of a line that nothing stands in front of."""
        self._line = ""


def _fence_after(fence: str, line: str) -> str:
    """Return the fence that is open behind a line; empty for none."""
    head = line.lstrip(" ")
    for mark in ("`", "~"):
        length = len(head) - len(head.lstrip(mark))
        if length < 3:
            continue
        if not fence:
            return mark * length
        if fence[0] == mark and length >= len(fence) and not head[length:].strip():
            return ""
    return fence
