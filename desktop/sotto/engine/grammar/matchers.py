"""Grammars on a vocabulary, followed token by token in a process of their own.

A `Table` stands for llguidance's `LLTokenizer` and a `Matcher` for its `LLMatcher`, with the methods that are needed.
The time and memory of each are bounded. A request that takes too much fails alone: its process is killed, and the other
matchers that were in it continue in a new process, at the same place.
"""

import hashlib
import itertools
from collections import OrderedDict, deque
from collections.abc import Sequence
from threading import Lock
from typing import Any

from sotto.engine.grammar.grammar_process import GrammarProcess, Reply, TooMuchError
from sotto.errors import FaultError

PREPARING_SECONDS = 1.0
"""Processor time until the first token of an answer."""
STEP_SECONDS = 0.5
"""Processor time for one step of an answer."""
TOO_MANY = "use fewer patterns and formats for the same text"
# Of processor time for a whole answer: if every step took nearly its limit, other answers would wait.
_SPARE_SECONDS, _SECONDS_PER_TOKEN = 1.0, 0.03
# Even a large vocabulary takes a second at most.
_OPENING_SECONDS = 30.0
# Grammars whose check is remembered.
_MAX_CHECKED = 256


class Table:
    """A vocabulary. May be used on any thread."""

    def __init__(
        self,
        tokens: Sequence[bytes],
        special: Sequence[int],
        ends: Sequence[int],
        process: GrammarProcess | None = None,
    ) -> None:
        """Store a vocabulary; nothing is computed yet.

        Args:
            tokens: The bytes of each token.
            special: Tokens that are not text, whatever their bytes are.
            ends: Tokens that end an answer, at least one.
            process: A fresh process to use first; None to start one when it is needed.
        """
        self._data = b"".join(tokens)
        self._opening = {"lengths": [len(token) for token in tokens], "special": list(special), "ends": list(ends)}
        self._lock = Lock()
        self._process: GrammarProcess | None = None
        self._first = process
        self._numbers = itertools.count()
        # A matcher may be freed on any thread, so `drop` does not take the lock.
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
        """Return what is wrong with a grammar for any vocabulary; empty if nothing is."""
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
        """Return a matcher at the beginning of an answer, in an error state if the grammar cannot be honoured."""
        matcher = Matcher(self, source)
        matcher.begin()
        return matcher

    def run(self, matcher: "Matcher", do: str, tokens: Sequence[int] | int = ()) -> Reply:
        """Run a command on a matcher, in whichever process it is; see `sotto.engine.grammar.grammar_child`.

        Raises:
            TooMuchError: It takes too much time or memory, or the matcher's grammar cannot be honoured.
        """
        with self._lock:
            spent = self._place(matcher)
            reply = self._ask(do, STEP_SECONDS, of=matcher.number, tokens=tokens)
            matcher.spent += spent + reply.seconds
            return reply

    def copy(self, matcher: "Matcher") -> "Matcher":
        """Return an independent matcher at the same place.

        Raises:
            TooMuchError: As `run`.
        """
        with self._lock:
            self._place(matcher)
            copied = Matcher(self, matcher.source, matcher.taken)
            copied.process, copied.number = matcher.process, next(self._numbers)
            reply = self._ask("copy", STEP_SECONDS, of=matcher.number, new=copied.number)
            copied.stopped = reply.stopped
            return copied

    def drop(self, number: int) -> None:
        """Have a matcher freed with the next request."""
        self._gone.append(number)

    def _place(self, matcher: "Matcher") -> float:
        """Ensure that a matcher is in the current process; return the seconds of processor time that it took."""
        process = self._there()
        if matcher.process is process:
            return 0
        key = _digest(matcher.source)
        if wrong := self._wrong.get(key):
            raise TooMuchError(wrong)
        number = next(self._numbers)
        try:
            reply = self._ask("compile", PREPARING_SECONDS, matcher.source.encode(), new=number)
        except TooMuchError as error:
            wrong = f"{error.message}; {TOO_MANY}"
            self._remember(key, wrong)
            raise TooMuchError(wrong) from error
        if reply.error:
            self.drop(number)
            raise TooMuchError(reply.error)
        spent = reply.seconds
        if matcher.taken:
            spent += self._ask("take", PREPARING_SECONDS, of=number, tokens=matcher.taken).seconds
        matcher.process, matcher.number = process, number
        return spent

    def _there(self) -> GrammarProcess:
        """Return the current process, which has the vocabulary."""
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

    def _ask(self, do: str, seconds: float, data: bytes = b"", **more: Any) -> Reply:
        process = self._there()
        gone = [self._gone.popleft() for _ in range(len(self._gone))]
        return process.ask(do, seconds, data, gone, **more)

    def _remember(self, key: bytes, wrong: str) -> None:
        self._wrong[key] = wrong
        if len(self._wrong) > _MAX_CHECKED:
            self._wrong.popitem(last=False)


class Matcher:
    """Follows one answer. After an error it cannot be used any more.

    Attributes:
        source: The grammar.
        taken: The tokens that it has consumed.
        process: The process that it is in; None before the first.
        number: Its number in that process.
        stopped: Whether nothing may follow.
        spent: The seconds of processor time that it has taken.
    """

    def __init__(self, table: Table, source: str, taken: Sequence[int] = ()) -> None:
        """Create a matcher in no process; only a `Table` does so."""
        self.number = -1
        self._table = table
        self.source = source
        self.taken = list(taken)
        self.process: GrammarProcess | None = None
        self.stopped = False
        self.spent = 0.0
        self._error = ""

    def __del__(self) -> None:
        """Have it freed in its process."""
        if self.number >= 0:
            self._table.drop(self.number)

    def begin(self) -> None:
        """Compile the grammar, so that errors in it show."""
        self._run("state")

    def deep_copy(self) -> "Matcher":
        """Return an independent matcher at the same place."""
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
        """Return what went wrong; empty if nothing did."""
        return self._error

    def is_stopped(self) -> bool:
        """Whether nothing may follow."""
        return self.stopped or self.is_error()

    def is_accepting(self) -> bool:
        """Whether the answer may end here."""
        return bool(self._run("accepting"))

    def consume_token(self, token: int) -> bool:
        """Consume a token; return whether it may follow."""
        taken = bool(self._run("take", [token]))
        if taken:
            self.taken.append(token)
        return taken

    def compute_bitmask(self) -> bytes:
        """Return which tokens may follow, one bit each."""
        reply = self._request("mask")
        return b"" if reply is None else reply.data

    def validate_tokens(self, tokens: Sequence[int]) -> int:
        """Return how many of the tokens, one after the other, may follow."""
        return int(self._run("follow", list(tokens)) or 0)

    def rollback(self, count: int) -> bool:
        """Undo the last `count` tokens."""
        done = bool(self._run("back", count))
        if done and count:
            del self.taken[-count:]
        return done

    def _run(self, do: str, tokens: Sequence[int] | int = ()) -> Any:
        reply = self._request(do, tokens)
        return None if reply is None else reply.value

    def _request(self, do: str, tokens: Sequence[int] | int = ()) -> Reply | None:
        """Run a command; None if there is an error before or after it."""
        if self._error:
            return None
        try:
            reply = self._table.run(self, do, tokens)
        except TooMuchError as error:
            self._error = error.message
            return None
        self._error, self.stopped = reply.error, reply.stopped
        if not self._error and self.spent > _SPARE_SECONDS + _SECONDS_PER_TOKEN * len(self.taken):
            self._error = "its steps take too long"
        return None if self._error else reply


def _digest(source: str) -> bytes:
    return hashlib.sha256(source.encode()).digest()
