"""Parsing model names in Ollama's form: `[scheme://][host/][namespace/]model[:tag]`.

A name becomes a path only after each of its parts is validated; a valid part is never `.`, `..` or a path.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sotto.errors import InvalidNameError
from sotto.store.printable import printable

DEFAULT_HOST = "registry.ollama.ai"
DEFAULT_NAMESPACE = "library"
DEFAULT_TAG = "latest"

# Stands for an empty part beside a separator; `!` makes the name invalid.
_MISSING = "!MISSING!"
# 350 + 3 x 80 for the parts, and some more for a scheme and separators.
_MAX_LENGTH = 640
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
    """A fully qualified name with valid parts."""

    host: str
    namespace: str
    model: str
    tag: str

    @property
    def short(self) -> str:
        """The name without a default host and namespace, and always with its tag."""
        name = f"{self.model}:{self.tag}"
        if self.host != DEFAULT_HOST:
            return f"{self.host}/{self.namespace}/{name}"
        return name if self.namespace == DEFAULT_NAMESPACE else f"{self.namespace}/{name}"

    @property
    def parts(self) -> tuple[str, str, str, str]:
        """The path of the manifest below `manifests`, folder by folder."""
        return self.host, self.namespace, self.model, self.tag


def parse_name(text: str) -> ModelName:
    """Return the name in `text`, with missing parts replaced by their defaults.

    Raises:
        InvalidNameError: A part is empty, too long or contains an invalid character.
    """
    if len(text) > _MAX_LENGTH:
        raise InvalidNameError(f"'{printable(text)}' is not a model name: it is longer than {_MAX_LENGTH} characters.")
    rest, tag = text, DEFAULT_TAG
    if text.rfind(":") > text.rfind("/"):
        rest, tag = _split_at(text, ":")
    namespace, host = DEFAULT_NAMESPACE, DEFAULT_HOST
    model = rest
    if "/" in rest:
        rest, model = _split_at(rest, "/")
        namespace = rest
        if "/" in rest:
            rest, namespace = _split_at(rest, "/")
            host = rest.partition("://")[2] if "://" in rest else rest
    return _validated_name((host, namespace, model, tag), text)


def name_of_parts(parts: Sequence[str]) -> ModelName:
    """Return the name of a manifest from its four path parts below `manifests`.

    Raises:
        InvalidNameError: A part is not valid.
    """
    host, namespace, model, tag = parts
    return _validated_name((host, namespace, model, tag), "/".join(parts))


def is_valid_part(part: str, text: str) -> bool:
    """Return whether `text` may be a name's `host`, `namespace`, `model` or `tag`."""
    return _PARTS[part].fullmatch(text) is not None


def split_source(text: str) -> tuple[str, str]:
    """Return a name without its source suffix, and the suffix: `local`, `cloud` or an empty string.

    Raises:
        InvalidNameError: It has two suffixes.
    """
    suffixes = (":local", ":cloud")
    if not text.lower().endswith(suffixes):
        return text, ""
    rest, _, source = text.rpartition(":")
    if rest.lower().endswith(suffixes):
        raise InvalidNameError(f"'{printable(text)}' should end with either :local or :cloud, not both.")
    return rest, source.lower()


def _split_at(text: str, separator: str) -> tuple[str, str]:
    before, _, after = text.rpartition(separator)
    return before or _MISSING, after or _MISSING


def _validated_name(parts: tuple[str, str, str, str], text: str) -> ModelName:
    for (part, pattern), value in zip(_PARTS.items(), parts, strict=True):
        if not pattern.fullmatch(value):
            wrong = "is missing" if value in ("", _MISSING) else f"is '{printable(value)}'"
            raise InvalidNameError(
                f"'{printable(text)}' is not a model name: its {part} {wrong}; it should be {_RULES[part]}, beginning "
                "with a letter, a digit or '_'."
            )
    return ModelName(*parts)
