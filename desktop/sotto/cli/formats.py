"""The value of `--format`."""

from pathlib import Path

from sotto.engine.contract.requests import Grammar
from sotto.engine.grammar.grammar_files import KINDS, any_object, grammar_of_file
from sotto.errors import InvalidRequestError


def grammar_of(value: str) -> Grammar:
    """Return the grammar of answers: any JSON object for `json`, otherwise that of a file, by its suffix.

    Raises:
        SottoError: The file cannot be read, or its grammar is invalid or not supported.
    """
    if value == "json":
        return any_object("--format")
    path = Path(value)
    if path.suffix not in KINDS:
        raise InvalidRequestError(f"--format must be json, or a file that ends in {', '.join(KINDS)}, not {value!r}.")
    return grammar_of_file(path)
