"""Notices answers that repeat themselves without end.

What counts is exact: the last tokens are one passage of at most `LONGEST` tokens, over and over, at least `TIMES` times
and for at least `STRETCH` tokens. Nobody writes a passage of hundreds of words eight times. But a row of a table, a
line of a song or a zero in a list stand many times in good answers, so short passages may: a table of 256 zero bytes in
C is some 1,100 tokens, and the thousand digits of 1/3 that somebody asked for are no more. A model that is caught in a
loop does not get out; it is stopped within a minute or two at usual speeds, and not at the end of a context of 262,144
tokens.

Loops that count, or that change a word each time, are not noticed: these only a limit of tokens ends.
"""

from collections.abc import Sequence

STRETCH = 2048
TIMES = 8
LONGEST = 1024
# How often to look, in tokens; so a look costs next to nothing for each of them.
EVERY = 64
# Compared first, because most passages differ within so many tokens.
_GLANCE = 16


def repeats(tokens: Sequence[int]) -> int:
    """Return the length of the passage that an answer repeats without end; 0 where it does not.

    Args:
        tokens: All of the answer so far.
    """
    count = len(tokens)
    if count < STRETCH:
        return 0
    last, glance = tokens[-1], tokens[-_GLANCE:]
    for length in range(1, min(LONGEST, count // TIMES) + 1):
        if tokens[-1 - length] != last or tokens[-_GLANCE - length : -length] != glance:
            continue
        stretch = max(STRETCH, TIMES * length)
        if stretch <= count and tokens[-stretch:-length] == tokens[length - stretch :]:
            return length
    return 0
