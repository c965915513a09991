"""The program of the process that follows grammars: see `sotto.engine.grammar.grammar_process`.

A request is a line of JSON and the number of bytes that it announces; so is the answer. Each request has its own limit
of processor time. The system kills this process when it is exceeded, as nothing can stop the library from within.
"""

import contextlib
import json
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from llguidance import LLMatcher, LLParserLimits, LLTokenizer

MOST_MEMORY = 256 << 20
"""Bytes of memory that this process may take beyond the table of a vocabulary."""
# WORKAROUND: llguidance recurses over schemas and grammars without a bound. Check at upgrades.
_STACK = 64 << 20
# Address space, which is reserved in larger amounts than memory is used.
_RESERVED = 256 << 20


def serve() -> int:
    """Answer requests on stdin until it ends; return 0."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGPROF})
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    threading.stack_size(_STACK)
    thread = threading.Thread(target=_serve, args=(sys.stdin.buffer, answers))
    thread.start()
    thread.join()
    return 0


def _serve(requests: BinaryIO, answers: BinaryIO) -> None:
    server = _Server()
    with contextlib.suppress(BrokenPipeError):
        while line := requests.readline():
            asked = json.loads(line)
            data = requests.read(asked["size"])
            signal.setitimer(signal.ITIMER_PROF, asked["seconds"])
            began = time.thread_time()
            try:
                told, more = server.answer(asked, data)
            except BaseException as error:  # a panic of the library is not an Exception
                told, more = {"error": str(error) or type(error).__name__}, b""
            signal.setitimer(signal.ITIMER_PROF, 0)
            line = json.dumps({**told, "seconds": time.thread_time() - began, "size": len(more)}).encode()
            answers.write(line + b"\n" + more)
            answers.flush()


class _Server:
    """The vocabulary and the matchers on it."""

    def __init__(self) -> None:
        self._table: LLTokenizer | None = None
        self._matchers: dict[int, LLMatcher] = {}

    def answer(self, asked: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
        """Carry out a request; return the answer and the bytes that go with it."""
        for gone in asked["gone"]:
            self._matchers.pop(gone, None)
        match asked["do"]:
            case "open":
                self._table = _table(data, asked["lengths"], asked["special"], asked["ends"])
                _limit_memory()
                return {}, b""
            case "check":
                return {"error": _wrong(data.decode(), self._there)}, b""
            case "compile":
                return self._compile(data.decode(), asked["new"])
            case "spell":
                return {"value": list(self._there.greedy_tokenize(data.decode()))}, b""
        matcher = self._matchers[asked["of"]]
        value: Any = None
        mask = b""
        match asked["do"]:
            case "copy":
                self._matchers[asked["new"]] = matcher.deep_copy()
            case "take":
                value = matcher.consume_tokens(asked["tokens"])
            case "mask":
                mask = matcher.compute_bitmask()
            case "follow":
                value = matcher.validate_tokens(asked["tokens"])
            case "back":
                value = matcher.rollback(asked["tokens"])
            case "accepting":
                value = matcher.is_accepting()
        return _state(matcher, value), mask

    @property
    def _there(self) -> "LLTokenizer":
        assert self._table is not None  # `open` is the first request
        return self._table

    def _compile(self, source: str, new: int) -> tuple[dict[str, Any], bytes]:
        from llguidance import LLMatcher

        matcher = LLMatcher(self._there, source, log_level=0, limits=_limits())
        if not matcher.is_error():
            # So that a grammar that cannot even begin is refused now.
            matcher.compute_bitmask()
        self._matchers[new] = matcher
        return _state(matcher, None), b""


class _Tokens:
    """The interface that llguidance expects of a tokenizer."""

    def __init__(self, tokens: list[bytes], special: Sequence[int], ends: Sequence[int]) -> None:
        self.eos_token_id = ends[0]
        self.bos_token_id = None
        self.special_token_ids = special
        self.tokens = tokens

    def __call__(self, text: str) -> list[int]:
        """Not needed: llguidance calls it to tokenize forced text only, and forcing is off."""
        raise NotImplementedError


def _table(data: bytes, lengths: Sequence[int], special: Sequence[int], ends: Sequence[int]) -> "LLTokenizer":
    from llguidance import LLTokenizer, TokenizerWrapper

    tokens: list[bytes] = []
    start = 0
    for length in lengths:
        tokens.append(data[start : start + length])
        start += length
    return LLTokenizer(TokenizerWrapper(_Tokens(tokens, special, ends)), eos_token=list(ends))


def _wrong(source: str, table: "LLTokenizer") -> str:
    """Return what is wrong with a grammar for any vocabulary; empty if nothing is."""
    from llguidance import LLMatcher

    wrong, messages = LLMatcher.validate_grammar_with_warnings(source, limits=_limits())
    if wrong:
        return messages[0]
    # Only to see what it costs: errors with this vocabulary may not occur with another.
    matcher = LLMatcher(table, source, log_level=0, limits=_limits())
    if not matcher.is_error():
        matcher.compute_bitmask()
    return ""


def _state(matcher: "LLMatcher", value: Any) -> dict[str, Any]:
    return {"value": value, "error": matcher.get_error(), "stopped": matcher.is_stopped()}


def _limits() -> "LLParserLimits":
    """Return the limits of one grammar; its errors quote neither the grammar nor the answer."""
    from llguidance import LLParserLimits

    return LLParserLimits(max_lexer_states=100_000, verbose_errors=False)


def _limit_memory() -> None:
    """Let the system refuse huge allocations, where it can; the parent process watches as well."""
    # Where /proc is hidden, it is not known what the process begins with.
    if (statm := Path("/proc/self/statm")).is_file():
        pages = int(statm.read_bytes().split()[0])
        most = pages * resource.getpagesize() + MOST_MEMORY + _RESERVED
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
