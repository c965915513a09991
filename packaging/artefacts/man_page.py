"""Prints Sotto's manual page, from its own parser; run in an environment that has Sotto: `python man_page.py DATE`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from sotto import __version__
from sotto.cli.main import parsers


def main(arguments: list[str]) -> int:
    (date,) = arguments
    print(page(date))
    return 0


def page(date: str) -> str:
    """Return the page in the language of `man`."""
    return "\n".join(_lines(date))


def _lines(date: str) -> Iterator[str]:
    parser, commands = parsers()
    yield f'.TH SOTTO 1 "{date}" "Sotto {__version__}" "User Commands"'
    yield ".SH NAME"
    yield "sotto \\- run language models on this machine"
    yield ".SH SYNOPSIS"
    for usage in (parser.usage or "").split(" | sotto"):
        yield ".B sotto"
        yield _plain(usage.removeprefix("sotto"))
        yield ".br"
    yield ".SH DESCRIPTION"
    yield _plain(parser.description or "")
    yield ".PP"
    yield _plain(parser.epilog or "")
    yield ".SH COMMANDS"
    for name, command in commands.items():
        yield f".SS {name}"
        yield _plain(command.description or "")
        yield from _options(command)
    yield ".SH EXIT STATUS"
    yield _plain(
        "0 for success; 1 for an error, with one sentence on stderr; 2 for an invalid command line; 130 after Ctrl-C; "
        "141 when the reader of the output has closed it."
    )


def _options(command: argparse.ArgumentParser) -> Iterator[str]:
    formatter = command._get_formatter()  # noqa: SLF001 - how argparse writes an option has no public name
    for action in command._actions:  # noqa: SLF001
        if isinstance(action, argparse._HelpAction):  # noqa: SLF001
            continue
        yield ".TP"
        yield f".B {_plain(formatter._format_action_invocation(action))}"  # noqa: SLF001
        yield _plain(formatter._expand_help(action)) if action.help else ""  # noqa: SLF001


def _plain(text: str) -> str:
    """Return a text without anything that `man` would take as an instruction."""
    escaped = (
        " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga").replace("'", "\\(aq")
    )
    return f"\\&{escaped}" if escaped.startswith(".") else escaped


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
