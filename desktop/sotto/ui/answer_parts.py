"""What an answer is made of: text, thoughts and calls of tools, told apart by the tags around them as they come.

The answer itself is never changed: this is a view of it. Where a tag stands in code, or in the middle of a line, it is
text. Some templates open the thought at the end of the prompt, so that the answer has the closing tag alone: where that
is known, the answer begins inside the thought; where it is not, what was taken for text becomes a thought when its end
is seen.
"""

import re
import time
from dataclasses import dataclass
from enum import StrEnum

from sotto.engine.thought_tags import THOUGHT_TAGS


class Kind(StrEnum):
    """What a part of an answer is."""

    TEXT = "text"
    THOUGHT = "thought"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Piece:
    """Something new of an answer.

    Attributes:
        kind: What it belongs to.
        text: What has come; without tags.
        begins: Whether another part begins with it.
        ends: Whether its part is complete.
        turned: Whether the part that has been taken for text so far is of this kind, and ends.
    """

    kind: Kind
    text: str = ""
    begins: bool = False
    ends: bool = False
    turned: bool = False


_TOOLS = ("<tool_call>", "<function_call>")
_KINDS = dict.fromkeys(THOUGHT_TAGS, Kind.THOUGHT) | dict.fromkeys(_TOOLS, Kind.TOOL)
_CLOSERS = {opener: f"{opener[0]}/{opener[1:]}" for opener in _KINDS}
_ENDS = tuple(_CLOSERS[opener] for opener in THOUGHT_TAGS)
_END_OF_THOUGHT = re.compile("|".join(map(re.escape, _ENDS)))
_LAST_END = re.compile(rf"(?:{_END_OF_THOUGHT.pattern})\s*$")
# As much of a line as says whether it is a fence.
_LINE_HEAD = 100


class Splitter:
    """Tells the parts of an answer apart, however it is cut when it comes."""

    def __init__(self, opened: str = "") -> None:
        """Begin with an answer; `opened` is the tag that its prompt ends with, if any."""
        self._held, self._at = "", 0  # what has come, and how much of it has been passed on
        self._kind = Kind.THOUGHT if opened in THOUGHT_TAGS else Kind.TEXT
        self._opener = opened if opened in THOUGHT_TAGS else ""
        self._repeats = bool(self._opener)  # a model may write the tag once more
        self._plain = not self._opener  # nothing but text so far
        self._line = ""
        self._fence = ""

    def feed(self, text: str) -> list[Piece]:
        """Take more of the answer; return what it tells. What may yet be a tag is held back."""
        self._held, self._at = self._held[self._at :] + text, 0
        return self._split(last=False)

    def finish(self) -> list[Piece]:
        """Return what was held back, now that nothing more comes."""
        return self._split(last=True)

    def _split(self, last: bool) -> list[Piece]:
        pieces: list[Piece] = []
        before = -1
        while before < self._at < len(self._held):
            before = self._at
            step = self._text_step if self._kind is Kind.TEXT else self._inner_step
            step(pieces, last)
        return pieces

    def _take(self, pieces: list[Piece], length: int) -> None:
        """Pass on so much of what is held."""
        if length:
            pieces.append(Piece(self._kind, self._held[self._at : self._at + length]))
            self._at += length

    def _close(self, pieces: list[Piece], tag: str) -> None:
        self._at += len(tag)
        pieces.append(Piece(self._kind, ends=True))
        self._kind, self._opener, self._line = Kind.TEXT, "", ""

    def _inner_step(self, pieces: list[Piece], last: bool) -> None:
        """Look for the end of a thought or a call."""
        if self._repeats:
            head = self._held[self._at :].lstrip()
            if not last and len(head) < len(self._opener) and self._opener.startswith(head):
                return
            self._repeats = False
            if head.startswith(self._opener):
                self._at = len(self._held) - len(head) + len(self._opener)
                return
        closer = _CLOSERS[self._opener]
        end = self._held.find(closer, self._at)
        if end >= 0:
            self._take(pieces, end - self._at)
            self._close(pieces, closer)
        else:
            held = 0 if last else _overlap(self._held[-len(closer) :], (closer,))
            self._take(pieces, max(0, len(self._held) - held - self._at))

    def _text_step(self, pieces: list[Piece], last: bool) -> None:
        """Go on by a line, or to the next tag."""
        end = self._held.find("\n", self._at) + 1
        line = self._held[self._at : end] if end else self._held[self._at :]
        if not self._line.strip() and not self._fence:
            head = line.lstrip()
            opener = next((one for one in _KINDS if head.startswith(one)), None) if head[:1] in ("<", "[") else None
            if opener is not None:
                self._at += len(line) - len(head) + len(opener)
                self._kind, self._opener, self._plain = _KINDS[opener], opener, False
                pieces.append(Piece(self._kind, begins=True))
                return
            if not end and not last and any(one.startswith(head) for one in _KINDS):
                return
        if self._plain and not self._fence and self._end_of_opened(pieces, line, complete=bool(end) or last):
            return
        if end:
            self._fence = _fence_after(self._fence, self._line + line)
            self._line = ""
            self._take(pieces, len(line))
            return
        held = 0 if last or not self._plain or self._fence else _held_back(line)
        if held < len(line):
            self._line = (self._line + line[: len(line) - held])[:_LINE_HEAD]
            self._take(pieces, len(line) - held)

    def _end_of_opened(self, pieces: list[Piece], line: str, complete: bool) -> bool:
        """Take the end of a thought that the prompt opened, if it is in `line`, alone or at its end."""
        for found in _END_OF_THOUGHT.finditer(line):
            alone = not (self._line + line[: found.start()]).strip()
            if alone or (complete and not line[found.end() :].strip()):
                break
        else:
            return False
        at, tag = found.start(), found[0]
        self._plain = False
        self._take(pieces, at)
        self._at += len(tag)
        self._line = ""
        pieces.append(Piece(Kind.THOUGHT, ends=True, turned=True))
        return True


def _held_back(line: str) -> int:
    """Return how many characters at the end of an incomplete line may yet be the end of a thought."""
    if (found := _LAST_END.search(line)) is not None:
        return len(line) - found.start()
    return _overlap(line, _ENDS)


def _overlap(text: str, tags: tuple[str, ...]) -> int:
    """Return how many characters at the end of `text` are the beginning of a tag."""
    longest = max(len(tag) for tag in tags) - 1
    return next(
        (
            length
            for length in range(min(longest, len(text)), 0, -1)
            if any(len(tag) > length and tag.startswith(text[-length:]) for tag in tags)
        ),
        0,
    )


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


class ThoughtClock:
    """Measures how long each thought of an answer takes while it comes.

    Attributes:
        seconds: For each thought that is complete, in order; 0 where its beginning was not seen.
    """

    def __init__(self) -> None:
        """Wait for an answer."""
        self.seconds: list[int] = []
        self._splitter = Splitter()
        self._since: float | None = None

    def open(self, tag: str) -> None:
        """Begin inside a thought, which the prompt has opened with `tag`, if it has."""
        if tag and self._since is None:
            self._splitter, self._since = Splitter(tag), time.monotonic()

    def feed(self, text: str) -> None:
        """Take more of the answer."""
        for piece in self._splitter.feed(text):
            if piece.kind is Kind.THOUGHT and piece.begins:
                self._since = time.monotonic()
            if piece.kind is Kind.THOUGHT and piece.ends:
                self.seconds.append(0 if self._since is None else round(time.monotonic() - self._since))
