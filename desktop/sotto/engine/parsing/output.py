"""The output of a parser: pieces of an answer that have been recognised and not yet fetched."""

import secrets
import string
from collections.abc import Callable, Sequence
from dataclasses import replace

from sotto.engine.contract.answer_parts import CutCall, Kind, Piece, ToolCall

# Mistral's templates require ids of exactly nine letters and digits; others accept any.
_ID_LENGTH = 9
_ID_LETTERS = string.ascii_letters + string.digits


def fresh_id() -> str:
    """Return a new id, for a call that the model gave none."""
    return "".join(secrets.choice(_ID_LETTERS) for _ in range(_ID_LENGTH))


class Output:
    """Collects pieces of an answer; consecutive texts of the same kind are joined.

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
            plain: Whether there will be only text, so that no white space can belong to a tag.
            most_calls: Most calls to output, after which calls are dropped; None for no limit.
        """
        self._fresh = fresh
        self._plain = plain
        self._calls_left = most_calls
        self._pieces: list[Piece] = []
        # The chunks of the next piece. Appending to a string would copy a long text for every chunk.
        self._kind, self._run = Kind.TEXT, list[str]()
        self._blank = {Kind.TEXT: "", Kind.THOUGHT: ""}
        self.begun = self._in_text = begun

    @property
    def called(self) -> bool:
        """Whether the limit of calls has been reached."""
        return self._calls_left == 0

    def take(self) -> list[Piece]:
        """Return the pieces so far and forget them."""
        self._join_run()
        pieces, self._pieces = self._pieces, []
        return pieces

    def add_text(self, kind: Kind, text: str) -> None:
        """Add more of a text or a thought. White space at its end waits for what follows."""
        body = text if self._plain else text.rstrip()
        if body:
            self._add(kind, self._blank[kind] + body)
            self._blank[kind] = ""
            self._in_text = kind is Kind.TEXT
            self.begun = self.begun or self._in_text
        self._blank[kind] += text[len(body) :]

    def add_separator(self) -> None:
        """Separate a text from what follows by an empty line, if that is text as well."""
        if self._in_text:
            self._blank[Kind.TEXT] = "\n\n"

    def end(self) -> None:
        """Output the white space that waits, as nothing follows."""
        for kind, blank in self._blank.items():
            self._add(kind, blank)
            self._blank[kind] = ""

    def begin_thought(self) -> None:
        """Begin a thought."""
        self._blank[Kind.TEXT] = ""
        self._put(Piece(Kind.THOUGHT, begins=True))

    def end_thought(self, *, turned: bool = False) -> None:
        """End the thought; `turned` says that all text so far turns out to have been a thought."""
        self._blank, self._in_text = dict.fromkeys(self._blank, ""), False
        self._put(Piece(Kind.THOUGHT, ends=True, turned=turned))

    def begin_calls(self) -> None:
        """Begin what looks like calls."""
        self._put(Piece(Kind.TOOL, begins=True))

    def break_off(self, calls: Sequence[ToolCall], cut: CutCall | None, text: str) -> None:
        """End calls where the answer was cut short within one.

        Args:
            calls: The complete calls.
            cut: The incomplete call after them; None where nothing of it is known.
            text: The source text of all these calls.
        """
        self.end_calls(calls)
        if self.called or cut is None:
            return
        if calls:
            # The complete calls have been output, so the text must not contain them again.
            text = cut.written()
            self.begin_calls()
            self.end_calls(())
        blank, self._blank[Kind.TEXT] = self._blank[Kind.TEXT], ""
        self._put(Piece(Kind.TEXT, blank + text, cut=cut))

    def end_calls(self, calls: Sequence[ToolCall]) -> None:
        """End calls: `calls` were read, or none if it was text after all."""
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
            self._join_run()
        self._kind = kind
        self._run.append(text)

    def _put(self, piece: Piece) -> None:
        self._join_run()
        self._pieces.append(piece)

    def _join_run(self) -> None:
        text, self._run = "".join(self._run), []
        if text:
            self._pieces.append(Piece(self._kind, text))
