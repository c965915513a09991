"""Conversion of errors of the tokenizers library into sentences for the user."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sotto.errors import BrokenModelError, SottoError
from sotto.store.printable import printable


@contextmanager
def library_sentence(trouble: str) -> Iterator[None]:
    """Turn any error of the tokenizers library into a sentence.

    Args:
        trouble: What went wrong with `tokenizer.json`, for the sentence.

    Raises:
        BrokenModelError: The library raised something.
    """
    try:
        yield
    except (SottoError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        # WORKAROUND: a panic of tokenizers (Rust) derives from BaseException, not from Exception. Check at upgrades.
        raise BrokenModelError(f"tokenizer.json: {trouble}: {_first_line(error)}.") from error


def _first_line(error: BaseException) -> str:
    lines: list[Any] = str(error).strip().splitlines() or [type(error).__name__]
    return printable(str(lines[0])[:200]).rstrip(".")
