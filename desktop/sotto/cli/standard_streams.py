"""Putting the standard streams into a state that every command can rely on."""

import io
import os
import sys


def settle_streams() -> None:
    """Open closed standard streams on the null device, and reject invalid UTF-8 in a piped stdin.

    Otherwise, the next file to be opened would get the descriptor of a closed stream, and output would go into it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # The lowest free descriptor, and so the stream's own.
            setattr(sys, name, open(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))  # noqa: SIM115, PTH123
    if isinstance(sys.stdin, io.TextIOWrapper):
        # In the C locale, Python would decode invalid bytes as lone surrogates.
        sys.stdin.reconfigure(errors="replace" if sys.stdin.isatty() else "strict")
