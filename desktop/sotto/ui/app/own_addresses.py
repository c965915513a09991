"""What Sotto's own addresses ask for.

    sotto://model/NAME       the page of a model
    sotto://chat/NUMBER      a chat
    sotto://ask?text=TEXT    a question in the composer, which is not sent

Any web page may hold such an address, so each is parsed strictly, and none can load, download, send or change anything.
"""

import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import unquote

from sotto.errors import SottoError
from sotto.store.printable import printable
from sotto.ui.state.addresses import SCHEME
from sotto.ui.toolkit.translation import tr

MAX_LENGTH = 20_000
# Joins letters and the parts of an emoji.
_JOINERS = "\u200c\u200d"
_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
_PERCENT = re.compile("%(?![0-9A-Fa-f]{2})")


class InvalidAddressError(SottoError):
    """An address cannot be opened; the message says why."""


@dataclass(frozen=True, slots=True)
class ModelAddress:
    """Asks for the page of a model.

    Attributes:
        name: Its name, not validated.
    """

    name: str


@dataclass(frozen=True, slots=True)
class ChatAddress:
    """Asks for a chat.

    Attributes:
        number: Its number.
    """

    number: int


@dataclass(frozen=True, slots=True)
class AskAddress:
    """Asks for a text in the composer.

    Attributes:
        text: The text.
    """

    text: str


def parse_address(address: str) -> ModelAddress | ChatAddress | AskAddress:
    """Return what one of Sotto's own addresses asks for.

    Raises:
        InvalidAddressError: It is too long, or not one of the known ones.
    """
    if len(address) > MAX_LENGTH:
        why = tr("The address is longer than {count} characters, so it is not opened.")
        raise InvalidAddressError(why.format(count=MAX_LENGTH))
    scheme, _, rest = address.partition("://")
    if scheme.lower() == SCHEME:
        what, _, value = rest.partition("/")
        if what == "model" and value:
            return ModelAddress(_decoded(value))
        if what == "chat" and re.fullmatch("[0-9]{1,18}", value):
            return ChatAddress(int(value))
        what, _, value = rest.partition("?text=")
        if what == "ask" and value and "&" not in value:
            # Forms of web pages write a space as a plus sign.
            return AskAddress(_decoded(value.replace("+", " "), lines=True))
    why = tr("Sotto opens sotto://model/NAME, sotto://chat/NUMBER and sotto://ask?text=TEXT, not {address}.")
    raise InvalidAddressError(why.format(address=printable(address)))


def _decoded(text: str, *, lines: bool = False) -> str:
    """Decode a part of an address.

    Args:
        text: The part.
        lines: Whether it may have several lines, and tabs.

    Raises:
        InvalidAddressError: It is not text, or has characters that cannot be seen.
    """
    try:
        decoded = unquote(text, errors="strict") if not _PERCENT.search(text) else None
    except UnicodeDecodeError:
        decoded = None
    if decoded is None:
        raise InvalidAddressError(tr("The address is not opened, because it is not encoded as UTF-8 text."))
    if lines:
        decoded = decoded.replace("\r\n", "\n")
    allowed = _JOINERS + ("\n\t" if lines else "")
    if any(unicodedata.category(char) in _HIDDEN and char not in allowed for char in decoded):
        raise InvalidAddressError(tr("The address is not opened, because it holds characters that cannot be seen."))
    return decoded
