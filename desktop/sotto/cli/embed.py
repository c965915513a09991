"""`sotto embed`: an embedding of each text, as lines of JSON on stdout."""

import json
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from sotto.cli.loading import clear_progress, show_notes, show_progress
from sotto.cli.model_opening import find_runnable
from sotto.engine.contract.engine_settings import read_settings
from sotto.errors import InvalidRequestError
from sotto.runner.blocking_client import ThreadClient

# Texts whose embeddings are computed and printed together.
_BATCH_SIZE = 64


def embed(target: str, texts: list[str], file: Path | None, dimensions: int | None, *, truncate: bool) -> int:
    """Print one object for each text, with the text and its embedding; return 0.

    Args:
        target: A name, a manifest file or a folder.
        texts: The texts to embed.
        file: A file with a further text in each line that is not empty. Without texts and file, stdin is read.
        dimensions: How many numbers of each embedding to print; None for all.
        truncate: Truncate texts that are too long.

    Raises:
        SottoError: The model, an option or a text is invalid, or there is no text.
    """
    record = find_runnable(target)
    given = _read_texts(texts, file)
    with ThreadClient(read_settings) as client:
        client.load(record)
        try:
            info = client.wait_until_running(progress=show_progress)
        finally:
            clear_progress()
        show_notes(info, raw=True)
        count = 0
        while batch := tuple(islice(given, _BATCH_SIZE)):
            done = client.embedding(batch, truncate=truncate, dimensions=dimensions)
            for text, vector in zip(batch, done.vectors, strict=True):
                print(json.dumps({"text": text, "embedding": vector}, ensure_ascii=False))
            count += len(batch)
    if not count:
        raise InvalidRequestError("There is no text: pass it as an argument, with --file or through a pipe.")
    return 0


def _read_texts(texts: list[str], file: Path | None) -> Iterator[str]:
    """Yield the texts of the arguments, of the file or of stdin."""
    yield from texts
    if file is not None:
        try:
            with file.open(encoding="utf-8") as lines:
                yield from _not_empty(lines)
        except OSError as error:
            raise InvalidRequestError(f"{file} cannot be read ({error.strerror}); --file takes a text file.") from error
        except UnicodeDecodeError as error:
            raise InvalidRequestError(f"{file} is not UTF-8 text ({error.reason} at {error.start}).") from error
    elif not texts:
        try:
            yield from _not_empty(sys.stdin)
        except UnicodeDecodeError as error:
            raise InvalidRequestError(f"stdin is not UTF-8 text ({error.reason}).") from error


def _not_empty(lines: Iterable[str]) -> Iterator[str]:
    return (line.rstrip("\r\n") for line in lines if line.strip())
