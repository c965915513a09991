"""What the command palette offers, and what of it is meant. Draws nothing."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from PySide6.QtCore import QObject, QTimer, Signal

from sotto.ui.palette import fuzzy

# What is looked at in one turn of the event loop, which takes a few milliseconds.
_AT_ONCE = 400
MOST = 50


class Kind(StrEnum):
    """What something is."""

    CHAT = "chat"
    MODEL = "model"
    ACTION = "action"


@dataclass(frozen=True, slots=True)
class Command:
    """Something that can be done.

    Attributes:
        key: What it is known by from one start to the next.
        kind: What it is.
        title: What it is called.
        detail: More about it, in few words.
        target: What it is done to: an action of a menu, a model's record, or a chat's number.
        shortcut: The keys for it, as people read them.
        folded: The title, and what else it is found by, as they are compared.
    """

    key: str
    kind: Kind
    title: str
    detail: str
    target: object
    shortcut: str = ""
    folded: str = field(default="", compare=False)

    @classmethod
    def of(
        cls, key: str, kind: Kind, title: str, detail: str, target: object, shortcut: str = "", also: str = ""
    ) -> "Command":
        """Return a command that can be compared at once; it is found by `also` as well."""
        return cls(key, kind, title, detail, target, shortcut, fuzzy.folded(f"{title} {also}".rstrip()))


class CommandFinder(QObject):
    """Ranks commands, some at a time, so that nothing waits for it however many there are.

    The best fit goes first. What fits alike is ordered by what was used last, and then by the order it came in.

    Signals:
        found: The commands that were meant, the best first, at most `MOST` (a tuple of `Command`).
    """

    found = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        """Know of no commands."""
        super().__init__(parent)
        self._commands: Sequence[Command] = ()
        self._recent: dict[str, int] = {}
        self._query = ""
        self._next = 0
        self._best: list[tuple[tuple[int, int, int], Command]] = []
        self._turn = QTimer(self, singleShot=True, interval=0)
        self._turn.timeout.connect(self._go_on)

    def offer(self, commands: Sequence[Command], recent: Sequence[str]) -> None:
        """Rank these commands from now on.

        Args:
            commands: All there are, in the order in which they are to be shown where nothing else decides.
            recent: Keys of those that were used, the last one first.
        """
        self._commands = commands
        self._recent = {key: place for place, key in enumerate(recent)}
        self.look_for(self._query)

    def look_for(self, query: str) -> None:
        """Find what `query` means; all are meant where it is empty."""
        self._query, self._next, self._best = query, 0, []
        self._turn.stop()
        self._go_on()

    def stop(self) -> None:
        """Look for nothing any more."""
        self._turn.stop()

    def _go_on(self) -> None:
        end = min(self._next + _AT_ONCE, len(self._commands))
        fitting = []
        for place in range(self._next, end):
            command = self._commands[place]
            score = fuzzy.score(self._query, command.folded)
            if score is not None:
                fitting.append(((-score, self._recent.get(command.key, MOST + len(self._recent)), place), command))
        self._best = heapq.nsmallest(MOST, [*self._best, *fitting], key=lambda one: one[0])
        self._next = end
        if end < len(self._commands):
            self._turn.start()
        else:
            self.found.emit(tuple(command for _, command in self._best))
