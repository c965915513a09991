"""Model names as Ollama writes them: `[scheme://][host/][namespace/]model[:tag]`.

A name becomes a path only after each of its parts was found valid, and a valid part is never `.`, `..` or a path.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sotto.errors import InvalidNameError
from sotto.store.printable import printable

DEFAULT_HOST = "registry.ollama.ai"
DEFAULT_NAMESPACE = "library"
DEFAULT_TAG = "latest"

# Stands for an empty side of a separator; as `!` is in no valid part, such a name is never valid.
_MISSING = "!MISSING!"
# 350 + 3 x 80 for the parts, and some for a scheme and the separators.
_LONGEST = 640
_PARTS = {
    "host": re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:-]{0,349}"),
    "namespace": re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,79}"),
    "model": re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}"),
    "tag": re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}"),
}
_RULES = {
    "host": "up to 350 letters, digits or '_-.:'",
    "namespace": "up to 80 letters, digits or '_-'",
    "model": "up to 80 letters, digits or '_-.'",
    "tag": "up to 80 letters, digits or '_-.'",
}


@dataclass(frozen=True, slots=True)
class ModelName:
    """A fully qualified name, every part of it valid."""

    host: str
    namespace: str
    model: str
    tag: str

    @property
    def short(self) -> str:
        """The name without default host and namespace; the tag is always there."""
        name = f"{self.model}:{self.tag}"
        if self.host != DEFAULT_HOST:
            return f"{self.host}/{self.namespace}/{name}"
        return name if self.namespace == DEFAULT_NAMESPACE else f"{self.namespace}/{name}"

    @property
    def parts(self) -> tuple[str, str, str, str]:
        """The folders below `manifests` and the manifest's file name."""
        return self.host, self.namespace, self.model, self.tag


def parse_name(text: str) -> ModelName:
    """Return the name that `text` means, absent parts filled from the defaults.

    Raises:
        InvalidNameError: A part is empty, too long or has a character that it may not have.
    """
    if len(text) > _LONGEST:
        raise InvalidNameError(f"'{printable(text)}' is no model name: it is longer than {_LONGEST} characters.")
    rest, tag = text, DEFAULT_TAG
    if text.rfind(":") > text.rfind("/"):
        rest, tag = _cut(text, ":")
    namespace, host = DEFAULT_NAMESPACE, DEFAULT_HOST
    model = rest
    if "/" in rest:
        rest, model = _cut(rest, "/")
        namespace = rest
        if "/" in rest:
            rest, namespace = _cut(rest, "/")
            host = rest.partition("://")[2] if "://" in rest else rest
    return _checked((host, namespace, model, tag), text)


def name_of_parts(parts: Sequence[str]) -> ModelName:
    """Return the name of a manifest from its four path parts below `manifests`.

    Raises:
        InvalidNameError: A part is not valid.
    """
    host, namespace, model, tag = parts
    return _checked((host, namespace, model, tag), "/".join(parts))


def is_valid_part(part: str, text: str) -> bool:
    """Return whether `text` may be a name's `host`, `namespace`, `model` or `tag`."""
    return _PARTS[part].fullmatch(text) is not None


def split_source(text: str) -> tuple[str, str]:
    """Return a reference without its source suffix, and the suffix: `local`, `cloud` or an empty text.

    Raises:
        InvalidNameError: It has two.
    """
    suffixes = (":local", ":cloud")
    if not text.lower().endswith(suffixes):
        return text, ""
    rest, _, source = text.rpartition(":")
    if rest.lower().endswith(suffixes):
        raise InvalidNameError(f"'{printable(text)}' should end with either :local or :cloud, not both.")
    return rest, source.lower()


def _cut(text: str, separator: str) -> tuple[str, str]:
    before, _, after = text.rpartition(separator)
    return before or _MISSING, after or _MISSING


def _checked(parts: tuple[str, str, str, str], text: str) -> ModelName:
    for (part, pattern), value in zip(_PARTS.items(), parts, strict=True):
        if not pattern.fullmatch(value):
            wrong = "is missing" if value in ("", _MISSING) else f"is '{printable(value)}'"
            raise InvalidNameError(
                f"'{printable(text)}' is no model name: its {part} {wrong}; it should be {_RULES[part]}, beginning "
                "with a letter, a digit or '_'."
            )
    return ModelName(*parts)
