"""Detection of answers that repeat themselves endlessly.

An answer loops if its last tokens are an exact repetition of one passage of at most `LONGEST` tokens, at least `TIMES`
times and over at least `STRETCH` tokens. No good answer repeats hundreds of words eight times. But rows of a table,
lines of a song or zeros in a list may repeat often, so short passages are allowed to: a table of 256 zero bytes in C
has about 1,100 tokens, and the first thousand digits of 1/3 have no more. A model does not leave such a loop by itself.
It is stopped within a minute or two at usual speeds, instead of at the end of a context of 262,144 tokens.

Loops that count, or change a word each time, are not detected; only the limit of tokens ends those.
"""

from collections.abc import Sequence

STRETCH = 2048
TIMES = 8
LONGEST = 1024
# Number of tokens between two checks, so that the cost per token is negligible.
EVERY = 64
# Tokens compared first, as most passages differ within these.
_FIRST_COMPARED = 16


def repeats(tokens: Sequence[int]) -> int:
    """Return the length of the passage that an answer repeats endlessly; 0 if it does not.

    Args:
        tokens: The whole answer so far.
    """
    count = len(tokens)
    if count < STRETCH:
        return 0
    last, end = tokens[-1], tokens[-_FIRST_COMPARED:]
    for length in range(1, min(LONGEST, count // TIMES) + 1):
        if tokens[-1 - length] != last or tokens[-_FIRST_COMPARED - length : -length] != end:
            continue
        stretch = max(STRETCH, TIMES * length)
        if stretch <= count and tokens[-stretch:-length] == tokens[length - stretch :]:
            return length
    return 0
