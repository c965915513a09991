"""Limits on the time to tokenize a text, where that time can grow faster than the text.

WORKAROUND: a call into the tokenizers library cannot be interrupted; check at upgrades. So a text that could take long
is first timed on small parts, then on larger ones, and tokenized as a whole only if these were fast enough. The tokens
of the parts are discarded: those at their ends differ from the tokens of the whole text.

Where the time grows with the square of the length of runs of certain characters, the parts are such runs and a few
characters after them: most of the time goes into a match that fails there. Where nothing is known of the growth, or a
normalizer changes the runs first, the parts are windows over the whole text.
"""

import re
import time
from collections.abc import Callable

from sotto.engine.tokens.expressions.cost import ANY_RUNS, Cost, Growth
from sotto.errors import InvalidRequestError

# Fifty times what an ordinary tokenizer takes.
_SECONDS = 5.0
_SECONDS_PER_CHARACTER = 20e-6
# Twice what Oniguruma needs for a step.
_SECONDS_PER_STEP = 10e-9
_SMALLEST_RUN = 1024
_MOST_RUNS = 8
_BEHIND = 16
# Nothing takes long in a window of this size: Oniguruma itself gives up after a tenth of a second at each character.
_SMALLEST_WINDOW = 16
_LARGER = 8
# A larger part hardly takes longer per character, unless the time grows faster than the text.
_SLOWER = 3
# Appended to a window, it makes most searches fail that the window cut off.
_END = "\0"

Cut = Callable[[str], list[int]]


def bound_encoder(cut: Cut, cost: Cost) -> Cut:
    """Return an encoder like `cut` that refuses texts that would take too long.

    Args:
        cut: Returns the tokens of a text.
        cost: What the tokenizer's expressions cost.
    """
    if cost.growth is Growth.LINEAR:
        return cut
    runs = [re.compile(f"{letters}+") for letters in cost.runs]

    def measured(text: str) -> list[int]:
        allowed = _SECONDS + len(text) * _SECONDS_PER_CHARACTER
        if cost.growth is Growth.UNKNOWN:
            _measure_windows(text, cut, allowed, _SMALLEST_WINDOW)
        elif len(text) ** 2 * _SECONDS_PER_STEP > allowed:
            if cost.runs & ANY_RUNS:
                _measure_windows(text, cut, allowed, _SMALLEST_RUN)
            else:
                _measure_runs(text, cut, allowed, runs)
        return cut(text)

    return measured


def _measure_runs(text: str, cut: Cut, allowed: float, kinds: list[re.Pattern[str]]) -> None:
    """Raise InvalidRequestError if the runs of certain characters in a text would take too long."""
    found = {match.span() for kind in kinds for match in kind.finditer(text)}
    if sum((end - begin) ** 2 for begin, end in found) * _SECONDS_PER_STEP <= allowed:
        return
    for begin, end in sorted(found, key=lambda span: span[0] - span[1])[:_MOST_RUNS]:
        usual = 0.0
        size = _SMALLEST_RUN
        while size < end - begin:
            taken = _seconds(cut, text[end - size : end + _BEHIND])
            usual = usual or taken / size
            # With quadratic growth, a part that is n times as large takes n times as long per character.
            larger = min(_LARGER, (end - begin) / size)
            if taken > _SLOWER * usual * size and taken * larger**2 > allowed:
                raise _refusal(len(text), allowed)
            size *= _LARGER


def _measure_windows(text: str, cut: Cut, allowed: float, size: int) -> None:
    """Raise InvalidRequestError if, by the time its windows take, a text would take too long."""
    before = 0.0
    while size < len(text):
        taken = 0.0
        for begin in range(0, len(text), size):
            taken += _seconds(cut, text[begin : begin + size] + _END)
            if taken > allowed:
                raise _refusal(len(text), allowed)
        if before and taken > _SLOWER * before and taken * min(_LARGER, len(text) / size) > allowed:
            raise _refusal(len(text), allowed)
        before = taken
        size *= _LARGER


def _seconds(cut: Cut, text: str) -> float:
    # Thread time: by wall time on a busy machine, a small part could seem to take as long as a large one.
    start = time.thread_time()
    cut(text)
    return time.thread_time() - start


def _refusal(length: int, allowed: float) -> InvalidRequestError:
    return InvalidRequestError(
        f"A text of {length:,} characters would take longer than {allowed:.0f} seconds to be cut into tokens, by the "
        "expressions of this model's tokenizer: give a shorter one, or one without long runs of the same character."
    )
