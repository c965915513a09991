"""What the tokenizers library raises, turned into sentences."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sotto.errors import BrokenModelError, SottoError
from sotto.store.printable import printable


@contextmanager
def library_sentence(trouble: str) -> Iterator[None]:
    """Turn any error of the tokenizers library into a sentence.

    Args:
        trouble: What is said of `tokenizer.json` then.

    Raises:
        BrokenModelError: The library raised something.
    """
    try:
        yield
    except (SottoError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        # A panic of the library is no Exception: it derives from BaseException alone.
        raise BrokenModelError(f"tokenizer.json: {trouble}: {_first_line(error)}.") from error


def _first_line(error: BaseException) -> str:
    lines: list[Any] = str(error).strip().splitlines() or [type(error).__name__]
    return printable(str(lines[0])[:200]).rstrip(".")
