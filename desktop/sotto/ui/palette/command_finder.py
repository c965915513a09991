"""The commands of the palette, and the search among them."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from PySide6.QtCore import QObject, QTimer, Signal

from sotto.ui.palette import fuzzy

# Commands ranked in one turn of the event loop, which takes a few milliseconds.
_BATCH = 400
MAX_RESULTS = 50


class Kind(StrEnum):
    """The kinds of commands."""

    CHAT = "chat"
    MODEL = "model"
    ACTION = "action"


@dataclass(frozen=True, slots=True)
class Command:
    """An entry of the palette.

    Attributes:
        key: Identifier that is stable across restarts.
        kind: Whether it opens a chat, loads a model or triggers a menu action.
        title: Displayed title.
        detail: Further details in a few words.
        target: A menu action, a model's record, or a chat's id, depending on the kind.
        shortcut: The keyboard shortcut, as displayed.
        folded: The case-folded title and additional search terms.
    """

    key: str
    kind: Kind
    title: str
    detail: str
    target: object
    shortcut: str = ""
    folded: str = field(default="", compare=False)

    @classmethod
    def create(
        cls, key: str, kind: Kind, title: str, detail: str, target: object, shortcut: str = "", also: str = ""
    ) -> "Command":
        """Return a command that is prepared for searching.

        Args:
            key: Identifier that is stable across restarts.
            kind: What the command does.
            title: Displayed title, which is searched.
            detail: Further details in a few words, which are not searched.
            target: A menu action, a model's record, or a chat's id.
            shortcut: The keyboard shortcut, as displayed.
            also: Additional search terms.
        """
        return cls(key, kind, title, detail, target, shortcut, fuzzy.fold(f"{title} {also}".rstrip()))


class CommandFinder(QObject):
    """Ranks commands in batches, so that the window stays responsive with any number of them.

    The best match comes first. Equal ones are ordered by their last use, and then as they were given.

    Signals:
        found: The best matches, at most `MAX_RESULTS` (a tuple of `Command`).
    """

    found = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        """Create a finder without commands."""
        super().__init__(parent)
        self.commands: Sequence[Command] = ()
        self._recent: dict[str, int] = {}
        self._query = ""
        self._next = 0
        self._best: list[tuple[tuple[int, int, int], Command]] = []
        self._batch_timer = QTimer(self, singleShot=True, interval=0)
        self._batch_timer.timeout.connect(self._rank_batch)

    def set_commands(self, commands: Sequence[Command], recent: Sequence[str]) -> None:
        """Replace the commands and search again.

        Args:
            commands: All commands, in the order for equal matches.
            recent: Keys of recently used commands, newest first.
        """
        self.commands = commands
        self._recent = {key: place for place, key in enumerate(recent)}
        self.search(self._query)

    def search(self, query: str) -> None:
        """Start a search; an empty query matches everything."""
        self._query, self._next, self._best = query, 0, []
        self._batch_timer.stop()
        self._rank_batch()

    def stop(self) -> None:
        """Stop searching."""
        self._batch_timer.stop()

    def _rank_batch(self) -> None:
        end = min(self._next + _BATCH, len(self.commands))
        matches = []
        for place in range(self._next, end):
            command = self.commands[place]
            score = fuzzy.score(self._query, command.folded)
            if score is not None:
                recency = self._recent.get(command.key, len(self._recent))
                matches.append(((-score, recency, place), command))
        self._best = heapq.nsmallest(MAX_RESULTS, [*self._best, *matches], key=lambda match: match[0])
        self._next = end
        if end < len(self.commands):
            self._batch_timer.start()
        else:
            self.found.emit(tuple(command for _, command in self._best))
