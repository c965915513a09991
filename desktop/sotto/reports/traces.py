"""Errors as text for logs and reports: where they happened, without values, which may be what somebody has written."""

import re
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

_LONGEST = 200
# More frames are those of a recursion.
_FIRST, _LAST = 15, 25
# Where a value begins, and where one ends. Brackets with a letter after them begin messages of MLX.
_OPENS = re.compile(r"(?<!\w)['\"“‘{]|\[(?![A-Za-z])")
_CLOSES = re.compile(r".*['\"”’}\]]", re.DOTALL)
# What these quote are names in code.
_ABOUT_CODE = (AttributeError, ImportError, NameError, TypeError)
_ONLY_NAMES = re.compile(r"(?:[^'\"{\[]|['\"][A-Za-z_][\w.]{0,59}['\"])*")


def describe(error: BaseException) -> str:
    """Return a traceback, with the errors that led to this one."""
    return "\n".join(_chain(error, set()))


def headline(error: BaseException) -> str:
    """Return the type of an error, and its message without values."""
    message = safe_message(error)
    return f"{type(error).__qualname__}: {message}" if message else type(error).__qualname__


def place(error: BaseException) -> str:
    """Return the file and line where an error was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{short_path(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""


def safe_message(error: BaseException) -> str:
    """Return the message of an error without the values that it quotes."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    # Further lines, and messages that are no sentence, may consist of a value.
    message = str(error).partition("\n")[0]
    if isinstance(error, _ABOUT_CODE) and len(message) <= _LONGEST and _ONLY_NAMES.fullmatch(message):
        return message
    return without_values(message) if " " in message else ""


def without_values(text: str) -> str:
    """Return a text of bounded length, with an ellipsis for everything between the first quote and the last."""
    if begin := _OPENS.search(text):
        end = _CLOSES.match(text, begin.end())
        text = f"{text[: begin.start()]}…{text[end.end() :] if end else ''}"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def short_path(name: str) -> str:
    """Return the name of a source file without the folder that Python found it in."""
    for root in sorted(filter(None, sys.path), key=len, reverse=True):
        if Path(name).is_relative_to(root):
            return str(Path(name).relative_to(root))
    return name


def _chain(error: BaseException, seen: set[int]) -> Iterator[str]:
    seen.add(id(error))
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is not None and id(before) not in seen:
        yield from _chain(before, seen)
        yield "Then:"
    yield from _frames(error)
    yield headline(error)
    if isinstance(error, BaseExceptionGroup):
        for number, inner in enumerate(error.exceptions, 1):
            if id(inner) not in seen:
                yield f"Error {number} of {len(error.exceptions)} in this group:"
                yield from _chain(inner, seen)


def _frames(error: BaseException) -> Iterator[str]:
    frames = traceback.extract_tb(error.__traceback__)
    left_out = len(frames) - _FIRST - _LAST
    for number, frame in enumerate(frames):
        if left_out > 0 and _FIRST <= number < _FIRST + left_out:
            if number == _FIRST:
                yield f"  … {left_out} more"
            continue
        yield f"  {short_path(frame.filename)}:{frame.lineno} {frame.name}"
        if frame.line:
            yield f"    {frame.line}"
