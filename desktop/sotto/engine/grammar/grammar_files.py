"""Constraints on answers from files: a JSON schema, a regular expression or a Lark grammar, by the ending."""

from collections.abc import Mapping
from pathlib import Path

from sotto.engine.contract.requests import Grammar, GrammarKind
from sotto.engine.grammar.grammars import ANY_OBJECT, LARGEST, check_grammar
from sotto.errors import InvalidRequestError
from sotto.store.files import read_all
from sotto.store.printable import printable_path

KINDS: Mapping[str, GrammarKind] = {
    ".json": GrammarKind.JSON_SCHEMA,
    ".regex": GrammarKind.REGEX,
    ".lark": GrammarKind.LARK,
}
"""The kind of a file by the ending of its name."""
WHAT: Mapping[GrammarKind, str] = {
    GrammarKind.JSON_SCHEMA: "a JSON schema",
    GrammarKind.REGEX: "a regular expression",
    GrammarKind.LARK: "a Lark grammar",
}


def any_object(name: str = "format") -> Grammar:
    """Return the constraint that an answer be any JSON object; `name` is for error messages."""
    return Grammar(GrammarKind.JSON_SCHEMA, ANY_OBJECT, name)


def grammar_of_file(path: Path, name: str = "") -> Grammar:
    """Return the constraint in a file, after a check that it can be honoured.

    Args:
        path: The file.
        name: Its name in error messages about the grammar; empty for the whole path.

    Raises:
        SottoError: Its ending is none of `KINDS`, it cannot be read, or it cannot be honoured.
    """
    kind = KINDS.get(path.suffix)
    if kind is None:
        raise InvalidRequestError(
            f"{printable_path(path)} must end in {', '.join(KINDS)}, which says how it is written."
        )
    try:
        text = read_all(path, LARGEST[kind], WHAT[kind]).decode()
    except UnicodeDecodeError as error:
        raise InvalidRequestError(
            f"{printable_path(path)} is not UTF-8 text ({error.reason} at {error.start})."
        ) from error
    # Editors end a file with a line break, which is not part of the expression.
    text = text.removesuffix("\n").removesuffix("\r") if kind is GrammarKind.REGEX else text
    grammar = Grammar(kind, text, printable_path(name or path))
    check_grammar(grammar)
    return grammar
