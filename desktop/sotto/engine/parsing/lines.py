"""The position in a Markdown text: at the beginning of a line or not, in a code block or not."""

# How many characters of a line are kept, which is enough to recognise a fence.
_LINE_HEAD = 100


class Lines:
    """Follows a text as it arrives.

    Attributes:
        fence: The fence of the current code block; empty outside of code blocks.
    """

    def __init__(self) -> None:
        """Start at the beginning of a text."""
        self.fence = ""
        self._line = ""

    @property
    def blank(self) -> bool:
        """Whether the line has only white space so far."""
        return not self._line.strip()

    def take(self, text: str) -> None:
        """Move past more text."""
        *ended, rest = text.split("\n")
        for end in ended:
            self.fence = _fence_after(self.fence, self._line + end)
            self._line = ""
        self._line = (self._line + rest)[:_LINE_HEAD]

    def begin(self) -> None:
        """Move to the beginning of a line."""
        self._line = ""


def _fence_after(fence: str, line: str) -> str:
    """Return the fence that is open after a line; empty for none."""
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
