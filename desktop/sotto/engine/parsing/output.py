"""What a reader has told apart and nobody has taken yet."""

import secrets
import string
from collections.abc import Callable, Sequence
from dataclasses import replace

from sotto.engine.contract.answer_parts import CutCall, Kind, Piece, ToolCall

# Mistral's templates take ids of just so many letters and digits, and others take any.
_ID_LENGTH = 9
_ID_LETTERS = string.ascii_letters + string.digits


def fresh_id() -> str:
    """Return an id for a call that the model gave none."""
    return "".join(secrets.choice(_ID_LETTERS) for _ in range(_ID_LENGTH))


class Output:
    """Takes what is told apart; neighbours of one kind are joined.

    Attributes:
        begun: Whether there has been any text.
    """

    def __init__(
        self,
        fresh: Callable[[], str] = fresh_id,
        *,
        begun: bool = False,
        plain: bool = False,
        most_calls: int | None = None,
    ) -> None:
        """Begin empty.

        Args:
            fresh: Returns an id for a call that has none.
            begun: Whether there has been text before.
            plain: Whether there will be nothing but text, so that no white space can belong to a tag.
            most_calls: So many calls are taken, and those behind them are dropped; None for no limit.
        """
        self._fresh = fresh
        self._plain = plain
        self._calls_left = most_calls
        self._pieces: list[Piece] = []
        # The next piece: put together word by word, a long text would be copied for each of them.
        self._kind, self._run = Kind.TEXT, list[str]()
        self._blank = {Kind.TEXT: "", Kind.THOUGHT: ""}
        self.begun = self._in_text = begun

    @property
    def called(self) -> bool:
        """Whether there have been as many calls as there may be."""
        return self._calls_left == 0

    def take(self) -> list[Piece]:
        """Return what there is, which is then gone."""
        self._put_together()
        pieces, self._pieces = self._pieces, []
        return pieces

    def say(self, kind: Kind, text: str) -> None:
        """Take more of a text or a thought. White space at its end waits for what follows it."""
        body = text if self._plain else text.rstrip()
        if body:
            self._add(kind, self._blank[kind] + body)
            self._blank[kind] = ""
            self._in_text = kind is Kind.TEXT
            self.begun = self.begun or self._in_text
        self._blank[kind] += text[len(body) :]

    def space(self) -> None:
        """Put an empty line between a text and what follows it, if that is text as well."""
        if self._in_text:
            self._blank[Kind.TEXT] = "\n\n"

    def end(self) -> None:
        """Let the white space that waits be part of what it stands behind: nothing follows."""
        for kind, blank in self._blank.items():
            self._add(kind, blank)
            self._blank[kind] = ""

    def begin_thought(self) -> None:
        """Begin a thought."""
        self._blank[Kind.TEXT] = ""
        self._put(Piece(Kind.THOUGHT, begins=True))

    def end_thought(self, *, turned: bool = False) -> None:
        """End the thought, or what has been `turned` into one: all text so far."""
        self._blank, self._in_text = dict.fromkeys(self._blank, ""), False
        self._put(Piece(Kind.THOUGHT, ends=True, turned=turned))

    def begin_calls(self) -> None:
        """Begin what is likely to be calls."""
        self._put(Piece(Kind.TOOL, begins=True))

    def break_off(self, calls: Sequence[ToolCall], cut: CutCall | None, text: str) -> None:
        """End it where the answer was cut short: behind these calls there is the beginning of one.

        Args:
            calls: Those that are complete.
            cut: What there is of the other one; None where that is nothing.
            text: How all that was written.
        """
        self.end_calls(calls)
        if self.called or cut is None:
            return
        if calls:
            # As they are told already, what is written of them is no part of it.
            text = cut.written()
            self.begin_calls()
            self.end_calls(())
        blank, self._blank[Kind.TEXT] = self._blank[Kind.TEXT], ""
        self._put(Piece(Kind.TEXT, blank + text, cut=cut))

    def end_calls(self, calls: Sequence[ToolCall]) -> None:
        """End it: there are these calls, or it was none."""
        if not calls:
            self._put(Piece(Kind.TOOL, ends=True))
            return
        self._blank[Kind.TEXT], self._in_text = "", False
        if self._calls_left is not None:
            calls = calls[: self._calls_left]
            self._calls_left -= len(calls)
        for number, call in enumerate(calls):
            known = call if call.id else replace(call, id=self._fresh())
            self._put(Piece(Kind.TOOL, begins=number > 0, ends=True, call=known))

    def _add(self, kind: Kind, text: str) -> None:
        if kind is not self._kind:
            self._put_together()
        self._kind = kind
        self._run.append(text)

    def _put(self, piece: Piece) -> None:
        self._put_together()
        self._pieces.append(piece)

    def _put_together(self) -> None:
        text, self._run = "".join(self._run), []
        if text:
            self._pieces.append(Piece(self._kind, text))
