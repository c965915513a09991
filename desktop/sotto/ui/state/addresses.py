"""The addresses that a desktop passes to the app on its command line: of files, and Sotto's own.

Qt is not imported here, so that a start that only passes on a request is over at once.
"""

import os
from pathlib import Path
from urllib.parse import unquote_to_bytes

SCHEME = "sotto"
_FILE = "file:"


def is_own_address(text: str) -> bool:
    """Return whether a text is one of Sotto's own addresses, such as `sotto://model/qwen3`, however it goes on."""
    return text.lower().startswith(f"{SCHEME}:")


def chat_address(number: int) -> str:
    """Return the address that opens the chat of a number."""
    return f"{SCHEME}://chat/{number}"


def is_file_address(text: str) -> bool:
    """Return whether a text is the address of a file."""
    return text.lower().startswith(f"{_FILE}/")


def path_of_address(address: str) -> Path:
    """Return the path in the address of a file, whose bytes need not be UTF-8; a host is ignored."""
    rest = address[len(_FILE) :]
    if rest.startswith("//"):
        rest = rest[max(2, rest.find("/", 2)) :]
    return Path(os.fsdecode(unquote_to_bytes(rest)))
