"""The program of the process that tries a tokenizer: see `sotto.engine.tokens.tokenizer_trial`."""

import json
import re
import sys
import time

import tokenizers

from sotto.bounded_process import limit
from sotto.engine.tokens.library_faults import library_sentence
from sotto.engine.tokens.tokenizer_trial import BOUNDS
from sotto.errors import BrokenModelError, SottoError

_LENGTHS = (8, 16, 32, 64, 128, 256, 512, 1024, 2048)
_LETTERS = (*"a1. \n\r\t\0'_", "é", "漢", "🦜", "aB", "a ", "\r\n", "a1. é漢\n")
# Appended to a text, each may make a match fail that began well.
_ENDS = ("", "\0", "!", "a", "\n")
_MAX_LETTERS = 64
# An ordinary tokenizer takes a thousandth of it for 2,000 characters.
_MAX_SECONDS = 0.5


def try_tokenizer() -> int:
    """Read a `tokenizer.json` from stdin; write as JSON to stdout `why` it is refused, or an empty text; return 0."""
    limit(BOUNDS)
    why = ""
    try:
        _try(sys.stdin.buffer.read().decode())
    except SottoError as error:
        why = error.message
    except MemoryError:
        why = "tokenizer.json: it takes too much memory."
    sys.stdout.write(json.dumps({"why": why}))
    sys.stdout.flush()
    return 0


def _try(text: str) -> None:
    with library_sentence("it cannot be read"):
        tokenizer = tokenizers.Tokenizer.from_str(text)
        tokenizer.no_truncation()
        tokenizer.no_padding()
    for length in _LENGTHS:
        for letters in (*_LETTERS, *_written(text)):
            for end in _ENDS:
                piece = (letters * length)[:length] + end
                start = time.process_time()
                with library_sentence("it fails on a text of repeated characters"):
                    tokenizer.encode_batch_fast([piece], add_special_tokens=False)
                taken = time.process_time() - start
                if taken > _MAX_SECONDS:
                    raise BrokenModelError(
                        f"tokenizer.json: a text of {len(piece)} characters takes {taken:.1f} seconds; its "
                        "expressions should match each text in one way."
                    )


def _written(text: str) -> list[str]:
    """Return the characters of the file's expressions."""
    patterns = re.findall(r'"Regex"\s*:\s*("(?:[^"\\]|\\.){0,9000}")', text)
    letters = dict.fromkeys("".join(map(json.loads, patterns)))
    return list(letters)[:_MAX_LETTERS]
