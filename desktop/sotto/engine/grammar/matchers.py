"""Grammars on a vocabulary, followed token by token in a process of their own.

A `Table` stands for llguidance's `LLTokenizer` and a `Matcher` for its `LLMatcher`, with those of their methods that
are needed; none of them takes longer than is said here, or more memory. What takes too much fails alone: its process is
ended, and matchers that were in it as well go on in the next one, at the same place.
"""

import hashlib
import itertools
from collections import OrderedDict, deque
from collections.abc import Sequence
from threading import Lock
from typing import Any

from sotto.engine.grammar.grammar_process import GrammarProcess, Told, TooMuchError
from sotto.errors import FaultError

PREPARING_SECONDS = 1.0
"""Of computing, until the first token of an answer is known."""
STEP_SECONDS = 0.5
"""Of computing, for one step of an answer."""
TOO_MANY = "use fewer patterns and formats for the same text"
# Steps that all take nearly as long as they may would keep other answers waiting.
_SPARE_SECONDS, _SECONDS_A_TOKEN = 1.0, 0.03
# Even a large vocabulary takes a second at most.
_OPENING_SECONDS = 30.0
# Grammars of which it is known what is wrong with them, if anything is.
_REMEMBERED = 256


class Table:
    """A vocabulary. May be used on any thread."""

    def __init__(
        self,
        tokens: Sequence[bytes],
        special: Sequence[int],
        ends: Sequence[int],
        process: GrammarProcess | None = None,
    ) -> None:
        """Start without anything done.

        Args:
            tokens: The bytes of each.
            special: Those that are no text, whatever their bytes.
            ends: Those that end an answer, one at least.
            process: A process to begin with, in which nothing was done yet either; None to start one when it is needed.
        """
        self._data = b"".join(tokens)
        self._opening = {"lengths": [len(token) for token in tokens], "special": list(special), "ends": list(ends)}
        self._lock = Lock()
        self._process: GrammarProcess | None = None
        self._first = process
        self._numbers = itertools.count()
        # A matcher may be dropped on any thread, so dropping it does not take the lock.
        self._gone: deque[int] = deque()
        self._wrong: OrderedDict[bytes, str] = OrderedDict()

    def greedy_tokenize(self, text: str) -> list[int]:
        """Return tokens that spell a text, the longest ones first."""
        with self._lock:
            try:
                return list(self._ask("spell", PREPARING_SECONDS, text.encode()).value)
            except TooMuchError as error:
                raise FaultError(f"A text could not be cut into tokens: {error.message}.") from error

    def check(self, source: str) -> str:
        """Return what is wrong with a grammar, whatever the vocabulary; empty for nothing."""
        key = _digest(source)
        with self._lock:
            if (wrong := self._wrong.get(key)) is None:
                try:
                    wrong = self._ask("check", PREPARING_SECONDS, source.encode()).error
                except TooMuchError as error:
                    wrong = f"{error.message}; {TOO_MANY}"
                self._remember(key, wrong)
            return wrong

    def matcher(self, source: str) -> "Matcher":
        """Return a matcher where answers begin, in an error state if the grammar cannot be honoured."""
        matcher = Matcher(self, source)
        matcher.begin()
        return matcher

    def run(self, matcher: "Matcher", do: str, tokens: Sequence[int] | int = ()) -> Told:
        """Have something done by a matcher, wherever that is now; see `sotto.engine.grammar.grammar_child`.

        Raises:
            TooMuchError: It takes too much, or the matcher's grammar cannot be honoured.
        """
        with self._lock:
            spent = self._place(matcher)
            told = self._ask(do, STEP_SECONDS, of=matcher.number, tokens=tokens)
            matcher.spent += spent + told.seconds
            return told

    def copy(self, matcher: "Matcher") -> "Matcher":
        """Return a matcher at the same place that goes its own way.

        Raises:
            TooMuchError: As `run`.
        """
        with self._lock:
            self._place(matcher)
            copied = Matcher(self, matcher.source, matcher.taken)
            copied.process, copied.number = matcher.process, next(self._numbers)
            told = self._ask("copy", STEP_SECONDS, of=matcher.number, new=copied.number)
            copied.stopped = told.stopped
            return copied

    def drop(self, number: int) -> None:
        """Forget a matcher, with the next request."""
        self._gone.append(number)

    def _place(self, matcher: "Matcher") -> float:
        """See to it that a matcher is in the process that is there; return how many seconds that took."""
        process = self._there()
        if matcher.process is process:
            return 0
        key = _digest(matcher.source)
        if wrong := self._wrong.get(key):
            raise TooMuchError(wrong)
        number = next(self._numbers)
        try:
            told = self._ask("compile", PREPARING_SECONDS, matcher.source.encode(), new=number)
        except TooMuchError as error:
            wrong = f"{error.message}; {TOO_MANY}"
            self._remember(key, wrong)
            raise TooMuchError(wrong) from error
        if told.error:
            self.drop(number)
            raise TooMuchError(told.error)
        spent = told.seconds
        if matcher.taken:
            spent += self._ask("take", PREPARING_SECONDS, of=number, tokens=matcher.taken).seconds
        matcher.process, matcher.number = process, number
        return spent

    def _there(self) -> GrammarProcess:
        """Return the process, in which there is the vocabulary."""
        process = self._process
        if process is not None and process.alive:
            return process
        if process is not None:
            process.end()
        self._process, self._first = self._first or GrammarProcess(), None
        process = self._process
        try:
            process.ask("open", _OPENING_SECONDS, self._data, **self._opening)
        except TooMuchError as error:
            raise FaultError(f"The model's tokens could not be prepared for grammars: {error.message}.") from error
        process.settle()
        return process

    def _ask(self, do: str, seconds: float, data: bytes = b"", **more: Any) -> Told:
        process = self._there()
        gone = [self._gone.popleft() for _ in range(len(self._gone))]
        return process.ask(do, seconds, data, gone, **more)

    def _remember(self, key: bytes, wrong: str) -> None:
        self._wrong[key] = wrong
        if len(self._wrong) > _REMEMBERED:
            self._wrong.popitem(last=False)


class Matcher:
    """Follows one answer. After an error it is of no use any more.

    Attributes:
        source: The grammar.
        taken: The tokens that it is behind.
        process: Where it is; None for nowhere yet.
        number: What it is called there.
        stopped: Whether nothing may follow any more.
        spent: How many seconds it has computed.
    """

    def __init__(self, table: Table, source: str, taken: Sequence[int] = ()) -> None:
        """Start nowhere yet; only a `Table` makes one."""
        self.number = -1
        self._table = table
        self.source = source
        self.taken = list(taken)
        self.process: GrammarProcess | None = None
        self.stopped = False
        self.spent = 0.0
        self._error = ""

    def __del__(self) -> None:
        """Have it forgotten where it is."""
        if self.number >= 0:
            self._table.drop(self.number)

    def begin(self) -> None:
        """Find out whether the grammar can be honoured."""
        self._run("state")

    def deep_copy(self) -> "Matcher":
        """Return a matcher at the same place that goes its own way."""
        try:
            return self._table.copy(self)
        except TooMuchError as error:
            failed = Matcher(self._table, self.source)
            failed._error = error.message
            return failed

    def is_error(self) -> bool:
        """Whether something went wrong."""
        return bool(self._error)

    def get_error(self) -> str:
        """Return what went wrong; empty for nothing."""
        return self._error

    def is_stopped(self) -> bool:
        """Whether nothing may follow any more."""
        return self.stopped or self.is_error()

    def is_accepting(self) -> bool:
        """Whether it could end here."""
        return bool(self._run("accepting"))

    def consume_token(self, token: int) -> bool:
        """Go on behind a token; return whether it may follow."""
        taken = bool(self._run("take", [token]))
        if taken:
            self.taken.append(token)
        return taken

    def compute_bitmask(self) -> bytes:
        """Return which tokens may follow, a bit for each."""
        told = self._told("mask")
        return b"" if told is None else told.data

    def validate_tokens(self, tokens: Sequence[int]) -> int:
        """Return how many of some tokens may follow one after the other."""
        return int(self._run("follow", list(tokens)) or 0)

    def rollback(self, count: int) -> bool:
        """Go back by so many tokens."""
        done = bool(self._run("back", count))
        if done and count:
            del self.taken[-count:]
        return done

    def _run(self, do: str, tokens: Sequence[int] | int = ()) -> Any:
        told = self._told(do, tokens)
        return None if told is None else told.value

    def _told(self, do: str, tokens: Sequence[int] | int = ()) -> Told | None:
        """Have something done; None where there is an error, before or behind it."""
        if self._error:
            return None
        try:
            told = self._table.run(self, do, tokens)
        except TooMuchError as error:
            self._error = error.message
            return None
        self._error, self.stopped = told.error, told.stopped
        if not self._error and self.spent > _SPARE_SECONDS + _SECONDS_A_TOKEN * len(self.taken):
            self._error = "its steps take too long"
        return None if self._error else told


def _digest(source: str) -> bytes:
    return hashlib.sha256(source.encode()).digest()
