"""Parsing and writing Modelfiles, by the rules of Ollama's own parser.

A Modelfile is a list of instructions, each a word in any case and its value. A value ends with its line, unless it
begins with a quote or three: then it ends with the first line that ends in as many. Lines that begin with `#` between
instructions are comments.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from sotto.errors import StoreError
from sotto.store.printable import printable

MODELFILE_LIMIT = 8 << 20
"""The most bytes that a Modelfile may have; licences are its longest texts."""
ROLES = ("system", "user", "assistant")
"""Who may speak in the messages that a model begins with."""
TEXT_LISTS = frozenset({"dry_sequence_breakers", "stop"})
"""Parameters that are lists of texts; each text has a line of its own."""

# What Go's `strings.TrimSpace` removes, without the ends of lines.
_BLANKS = f"\t\v\f \x85\xa0\u1680{''.join(map(chr, range(0x2000, 0x200B)))}\u2028\u2029\u202f\u205f\u3000"
_BETWEEN = re.compile(rf"(?:[{_BLANKS}\r\n]+|#[^\r\n]*)*")
_WORD = re.compile(r"[^\s]+")
_GAP = re.compile(r"[ \t]+")
_LINE = re.compile(r"[^\r\n]*")
_ENDS = {quotes: re.compile(rf"{quotes}(?=[{_BLANKS}]*(?:[\r\n]|\Z))") for quotes in ('"', '"""')}
_LINE_END = re.compile(r"\r\n|\r|\n")
_TEXTS = ("from", "system", "template", "renderer", "parser", "requires")
_LISTS = ("adapter", "license")
_COMMANDS = (*_TEXTS, *_LISTS, "parameter", "message")


@dataclass(frozen=True, slots=True)
class Modelfile:
    """What a model is made of.

    Attributes:
        base: The model that it is made from: a name, a path or an address; empty only where the caller has files.
        system: Its system prompt; empty for none, None for the base's. The same holds for the other texts.
        template: Its chat template, in Go or Jinja.
        renderer: The built-in format of its prompts.
        parser: The built-in format of its answers.
        requires: The version of Ollama that it needs.
        params: Its options in addition to the base's; None as a value removes one.
        messages: Who says what at the beginning of each conversation; empty for the base's.
        adapters: Paths of adapters.
        licenses: Licences in addition to the base's.
    """

    base: str = ""
    system: str | None = None
    template: str | None = None
    renderer: str | None = None
    parser: str | None = None
    requires: str | None = None
    params: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    messages: tuple[tuple[str, str], ...] = ()
    adapters: tuple[str, ...] = ()
    licenses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Instruction:
    """An instruction: its command in lower case, the name of a parameter or a role, the value, and its line."""

    command: str
    key: str
    value: str
    line: int


def parse_modelfile(text: str, where: str = "The Modelfile") -> Modelfile:
    """Return what a Modelfile describes.

    Args:
        text: Its text.
        where: What to call it in error messages.

    Raises:
        StoreError: It is not a Modelfile, or has no FROM; the message names the line.
    """
    texts: dict[str, str] = {}
    lists: dict[str, list[str]] = {name: [] for name in _LISTS}
    params: dict[str, Any] = {}
    messages: list[tuple[str, str]] = []
    for step in _instructions(text, where):
        place = f"{where}, line {step.line}"
        if step.command in _LISTS:
            lists[step.command].append(step.value)
        elif step.command == "message":
            if step.key not in ROLES:
                raise StoreError(
                    f"{place}: MESSAGE has the role '{printable(step.key)}'; it should be {_any_of(ROLES)}."
                )
            messages.append((step.key, step.value))
        elif step.command == "parameter":
            if step.key in TEXT_LISTS:
                params.setdefault(step.key, []).append(step.value)
            else:
                params[step.key] = _param_value(step.value)
        elif step.command == "from" and "from" in texts:
            raise StoreError(f"{place}: there is a second FROM; a model is made from one.")
        else:
            texts[step.command] = step.value
    if "from" not in texts:
        raise StoreError(f"{where} has no FROM line; it should name the model that the new one is made from.")
    return Modelfile(
        base=texts.pop("from"),
        params=MappingProxyType(params),
        messages=tuple(messages),
        adapters=tuple(lists["adapter"]),
        licenses=tuple(lists["license"]),
        **texts,
    )


def write_modelfile(model: Modelfile, comments: tuple[str, ...] = ()) -> str:
    """Return the text of a Modelfile, which `parse_modelfile` reads as the same value.

    Args:
        model: What it describes; options that it removes are left out, as Modelfiles cannot.
        comments: Lines to put before it.

    Raises:
        StoreError: A text cannot be written, because a line within it ends with three quotes.
    """
    rows = [f"# {comment}" for comment in comments]
    rows.append(f"FROM {_quoted('FROM', model.base)}")
    texts = {name.upper(): getattr(model, name) for name in _TEXTS[1:]}
    rows += [f"{command} {_quoted(command, text)}" for command, text in texts.items() if text is not None]
    for name, value in model.params.items():
        for item in value if name in TEXT_LISTS and isinstance(value, list | tuple) else (value,):
            if item is not None:
                shown = item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)
                rows.append(f"PARAMETER {name} {_quoted('PARAMETER', shown)}")
    rows += [f"MESSAGE {role} {_quoted('MESSAGE', text)}" for role, text in model.messages]
    rows += [f"ADAPTER {_quoted('ADAPTER', path)}" for path in model.adapters]
    rows += [f"LICENSE {_quoted('LICENSE', text)}" for text in model.licenses]
    return "\n".join(rows) + "\n"


def decode_modelfile(data: bytes, where: str) -> Modelfile:
    """Return what the bytes of a Modelfile describe: UTF-8, or UTF-16 with a mark, as editors of Windows write it.

    Raises:
        StoreError: They are no text, or `parse_modelfile` refuses it.
    """
    marked = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        text = data.decode("utf-16" if marked else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise StoreError(f"{where} is not UTF-8 at byte {error.start}; it should be text.") from error
    return parse_modelfile(text, where)


def _instructions(text: str, where: str) -> Iterator[_Instruction]:
    position, line = 0, 1

    def advance(end: int) -> None:
        nonlocal position, line
        line += len(_LINE_END.findall(text, position, end))
        position = end

    while True:
        advance(_end(_BETWEEN, text, position))
        word = _WORD.match(text, position)
        if word is None:
            return
        command, place = word[0].lower(), f"{where}, line {line}"
        if command not in _COMMANDS:
            known = _any_of([name.upper() for name in _COMMANDS])
            raise StoreError(f"{place}: '{printable(word[0], 40)}' is no instruction; it should be {known}.")
        start, key, first = _end(_GAP, text, word.end()), "", line
        if command in ("parameter", "message"):
            name = _WORD.match(text, start)
            # Without a gap, the next word would be on another line.
            key = name[0].lower() if name is not None and start > word.end() else ""
            start = _end(_GAP, text, name.end()) if name is not None else start
        value, end = _read_value(text, start)
        if end < 0:
            raise StoreError(f"{place}: the quoted text of {command.upper()} never ends; close it with {value}.")
        if value is None or (command in ("parameter", "message") and not key):
            raise StoreError(f"{place}: {command.upper()} has no value; it should have one on the same line.")
        advance(end)
        yield _Instruction(command, key, value, first)


def _read_value(text: str, start: int) -> tuple[str | None, int]:
    """Return the value at a position, None for nothing, and where it ends; -1 and the missing quotes if it does not."""
    start = _end(_GAP, text, start)
    quotes = next((quotes for quotes in ('"""', '"') if text.startswith(quotes, start)), "")
    if not quotes:
        end = _end(_LINE, text, start)
        return text[start:end].strip(f"{_BLANKS}\r\n") or None, end
    closing = _ENDS[quotes].search(text, start + len(quotes))
    if closing is None:
        return quotes, -1
    return text[start + len(quotes) : closing.start()], closing.end()


def _quoted(command: str, text: str) -> str:
    """Return a text in the first way of writing that reads back as the same."""
    for written in (text, f'"""{text}"""', f'"{text}"'):
        if _read_value(written, 0) == (text, len(written)):
            return written
    raise StoreError(
        f"A text of {command} has a line that ends with three quotes, which no Modelfile can hold; change that line."
    )


def _param_value(text: str) -> Any:
    """Return the number, truth value, list or object that a text is in JSON, or the text."""
    try:
        value = json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return text
    return text if value is None or isinstance(value, str) else value


def _end(pattern: re.Pattern[str], text: str, start: int) -> int:
    """Return where a pattern that may match nothing ends."""
    match = pattern.match(text, start)
    return match.end() if match is not None else start


def _any_of(names: tuple[str, ...] | list[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"
