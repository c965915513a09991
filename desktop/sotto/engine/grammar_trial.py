"""Grammars that may take llguidance any time and any memory are compiled in a process of their own first.

Its limits bound each step of an answer, and most of what it does before the first one. They do not bound texts that
must match several regular expressions at once (`allOf` with `pattern` or `format`, `patternProperties`, `&` and `~` of
Lark): whether any text does is found out in one call that cannot be ended, in time and memory that may double with
each expression, and with each character of one. A grammar without any of these is not tried.
"""

import json
import re
import sys
from functools import lru_cache

from sotto.bounded_process import BoundedProcessError, Bounds, Exceeded, limit, run

WORD = "try-grammar"
BOUNDS = Bounds(seconds=20.0, cpu_seconds=1.5, memory=400 * 1000**2, output=1 << 20)
"""A process that has begun takes 80 MB; whole compilations of the largest grammars that are allowed take 0.2 s."""

_KEPT = 256
# Names and texts may have these as well, which costs a process that was not needed.
_EXPRESSIONS = re.compile(r'"pattern"|"format"|"patternProperties"|[&~]')
TOO_MANY = "use fewer patterns and formats for the same text"
_REASONS = {
    Exceeded.TIME: f"finding out which texts it allows takes too long; {TOO_MANY}",
    Exceeded.MEMORY: f"finding out which texts it allows takes too much memory; {TOO_MANY}",
    Exceeded.OUTPUT: "what is wrong with it cannot be told",
    Exceeded.ENDED: f"finding out which texts it allows takes too much memory, or fails; {TOO_MANY}",
}


def reason_against(source: str) -> str:
    """Return why a grammar cannot be compiled here, as llguidance or this program says it; nothing where it can.

    Args:
        source: Rules in llguidance's dialect of Lark.
    """
    if not _EXPRESSIONS.search(source):
        return ""
    try:
        return _tried(source)
    except BoundedProcessError:
        return "it has to be tried in a process of its own, which the system does not start"


def try_grammar() -> int:
    """In the process of its own: compile the grammar on stdin, and write what is wrong with it to stdout as JSON."""
    from llguidance import LLMatcher, LLTokenizer, TokenizerWrapper

    from sotto.engine.grammars import limits, on_large_stack

    source = sys.stdin.buffer.read().decode()
    limit(BOUNDS)

    def compiled() -> str:
        table = LLTokenizer(TokenizerWrapper(_Bytes()), eos_token=_Bytes.eos_token_id)
        matcher = LLMatcher(table, source, log_level=0, limits=limits())
        if not matcher.is_error():
            matcher.compute_bitmask()
        return str(matcher.get_error())

    sys.stdout.write(json.dumps(on_large_stack(compiled)))
    sys.stdout.flush()
    return 0


class _Bytes:
    """The smallest vocabulary that can spell every text: the cost that has no bounds is the same with every one."""

    eos_token_id = 256
    bos_token_id = None
    special_token_ids = (256,)
    tokens = (*(bytes([byte]) for byte in range(256)), b"256")

    def __call__(self, text: str) -> list[int]:
        """Return the tokens of a text."""
        return list(text.encode())


@lru_cache(_KEPT)
def _tried(source: str) -> str:
    try:
        reason: str = json.loads(run(WORD, bounds=BOUNDS, given=source.encode()))
    except BoundedProcessError as error:
        if error.exceeded is Exceeded.NOT_STARTED:
            raise  # which is not the grammar's fault, and not remembered
        return _REASONS[error.exceeded]
    return reason
