"""The parts that a message consists of: texts and images, in the order in which its author wrote them."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TextPart:
    """A text within a message."""

    text: str


@dataclass(frozen=True, slots=True)
class ImagePart:
    """An image within a message.

    Attributes:
        data: The contents of the image's file, as they came: untrusted, and perhaps no image at all.
        digest: 64 hex digits, the SHA-256 of `data`.
    """

    data: bytes = field(repr=False)
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        """Compute the digest."""
        object.__setattr__(self, "digest", hashlib.sha256(self.data).hexdigest())


Part = TextPart | ImagePart
Content = str | tuple[Part, ...]
"""What a message says: a text alone, or parts."""


def parts_of(content: Content) -> tuple[Part, ...]:
    """Return the parts of a content; an empty text has none."""
    if isinstance(content, str):
        return (TextPart(content),) if content else ()
    return content


def text_of_content(content: Content) -> str:
    """Return the texts of a content, joined as they are."""
    if isinstance(content, str):
        return content
    return "".join(part.text for part in content if isinstance(part, TextPart))


def content_of(parts: Iterable[Part]) -> Content:
    """Return parts as a content: as a text where there is nothing else, and with neighbouring texts joined."""
    joined: list[Part] = []
    for part in parts:
        if isinstance(part, TextPart) and joined and isinstance(joined[-1], TextPart):
            joined[-1] = TextPart(joined[-1].text + part.text)
        elif not isinstance(part, TextPart) or part.text:
            joined.append(part)
    if all(isinstance(part, TextPart) for part in joined):
        return text_of_content(tuple(joined))
    return tuple(joined)
