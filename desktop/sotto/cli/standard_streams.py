"""The standard streams, as every command relies on them."""

import io
import os
import sys


def settle_streams() -> None:
    """Open on nothing what a caller closed of the standard streams, and take no bytes of a pipe for text that are none.

    The next file that is opened gets the number of a closed stream: its reader may take 0 for none, and what is printed
    would go into it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # The lowest number that is free, and so the stream's own.
            setattr(sys, name, open(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))  # noqa: SIM115, PTH123
    if isinstance(sys.stdin, io.TextIOWrapper):
        # In the plainest locale Python would hand bytes that are no text on as halves of characters.
        sys.stdin.reconfigure(errors="replace" if sys.stdin.isatty() else "strict")
