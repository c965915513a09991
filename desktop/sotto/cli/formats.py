"""What `--format` asks for."""

from pathlib import Path

from sotto.engine.grammars import ANY_OBJECT, LARGEST, check_grammar
from sotto.engine.types import Grammar, GrammarKind
from sotto.errors import InvalidRequestError
from sotto.store.files import read_all
from sotto.store.wording import shown_path

_KINDS = {".json": GrammarKind.JSON_SCHEMA, ".regex": GrammarKind.REGEX, ".lark": GrammarKind.LARK}
_WHAT = {
    GrammarKind.JSON_SCHEMA: "a JSON schema",
    GrammarKind.REGEX: "a regular expression",
    GrammarKind.LARK: "a Lark grammar",
}


def grammar_of(wanted: str) -> Grammar:
    """Return what answers must be: some JSON object for `json`, else what a file says, by its ending.

    Raises:
        SottoError: The file cannot be read, or what it asks for cannot be honoured.
    """
    if wanted == "json":
        return Grammar(GrammarKind.JSON_SCHEMA, ANY_OBJECT, "--format")
    path = Path(wanted)
    kind = _KINDS.get(path.suffix)
    if kind is None:
        raise InvalidRequestError(f"--format must be json, or a file that ends in {', '.join(_KINDS)}, not {wanted!r}.")
    try:
        text = read_all(path, LARGEST[kind], _WHAT[kind]).decode()
    except UnicodeDecodeError as error:
        raise InvalidRequestError(f"{shown_path(path)} is no UTF-8 text ({error.reason} at {error.start}).") from error
    # Editors end a file with a line break, which is no part of an expression.
    text = text.removesuffix("\n").removesuffix("\r") if kind is GrammarKind.REGEX else text
    grammar = Grammar(kind, text, shown_path(path))
    check_grammar(grammar)
    return grammar
