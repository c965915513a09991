"""What `--format` asks for."""

from pathlib import Path

from sotto.engine.contract.requests import Grammar
from sotto.engine.grammar.grammar_files import KINDS, any_object, grammar_of_file
from sotto.errors import InvalidRequestError


def grammar_of(wanted: str) -> Grammar:
    """Return what answers must be: some JSON object for `json`, else what a file says, by its ending.

    Raises:
        SottoError: The file cannot be read, or what it asks for cannot be honoured.
    """
    if wanted == "json":
        return any_object("--format")
    path = Path(wanted)
    if path.suffix not in KINDS:
        raise InvalidRequestError(f"--format must be json, or a file that ends in {', '.join(KINDS)}, not {wanted!r}.")
    return grammar_of_file(path)
