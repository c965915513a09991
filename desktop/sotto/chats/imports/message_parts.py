"""Gathers the parts of one message: texts, thoughts, documents, and what is lost of it."""

import base64
import binascii
import hashlib
import re
from collections import Counter
from dataclasses import dataclass, field

from sotto.chats.chat_records import Attachment, Role, State, clean
from sotto.chats.documents import LONGEST_TEXT, PICTURES
from sotto.chats.image_store import LARGEST_IMAGE
from sotto.chats.whole_chat import Lost, WholeMessage
from sotto.images.image_kinds import image_kind

LONGEST_MESSAGE = 1_000_000
"""Characters of a message; more could not be shown."""
_LONGEST_MODEL = 200
_LONGEST_NAME = 120
_DATA_URL = re.compile(r"data:image/[\w.+-]{1,40};base64,", re.ASCII)
_NO_PIXELS = "image/svg+xml"
# The tags of thoughts in stored answers.
_BEGIN, _END = "<think>", "</think>"


@dataclass
class MessageParts:
    """The parts of a message so far.

    Attributes:
        created: Seconds since 1970; 0 if that is unknown.
        model: Name of the model that answered.
        state: How complete the message is.
        lost: What cannot be kept of it.
        images: The files of its images, by digest.
        recap: The seconds that the last thought of what it is joined to took; 0 if that is unknown.
    """

    created: float = 0.0
    model: str = ""
    state: State = State.COMPLETE
    lost: Counter[Lost] = field(default_factory=Counter)
    images: dict[str, bytes] = field(default_factory=dict, repr=False)
    recap: int = 0
    _texts: list[str] = field(default_factory=list)
    _seconds: list[int] = field(default_factory=list)
    _attachments: list[Attachment] = field(default_factory=list)

    def add_text(self, text: str) -> None:
        """Add a text after the parts so far."""
        if text.strip():
            self._texts.append(text.strip("\n"))

    def add_document(self, title: str, text: str, language: str | None) -> None:
        """Add a document that an answer contains, such as a program, after the parts so far.

        Args:
            title: Its title; may be empty.
            text: Its text.
            language: The language of a program, which may be empty; None for Markdown.
        """
        heading, text = " ".join(title.split()).replace("*", ""), text.strip("\n")
        if language is not None:
            fence = "`" * (max(map(len, re.findall("`{3,}", text)), default=2) + 1)
            known = language if re.fullmatch(r"[\w+#.-]{1,30}", language) else ""
            text = f"{fence}{known}\n{text}\n{fence}"
        self.add_text(f"**{heading}**\n\n{text}" if heading else text)

    def add_thought(self, text: str, seconds: int = 0) -> None:
        """Add a thought after the parts so far, with the time that it took; 0 if that is unknown."""
        # A tag inside would end the thought, or begin another one.
        text = text.replace(_BEGIN, "").replace(_END, "").strip()
        if text:
            self._texts.append(f"{_BEGIN}\n{text}\n{_END}")
            self._seconds.append(max(0, seconds))

    def attach(self, name: str, text: str) -> None:
        """Add a document with its text; one without text is lost."""
        text = clean(text.replace("\x00", ""))
        if text.strip() and len(text) <= LONGEST_TEXT:
            size = len(text.encode())
            self._attachments.append(Attachment(clean(name) or "document", text, size, 0, len(text)))
        else:
            self.lose_file(name)

    def attach_image(self, name: str, data: bytes) -> None:
        """Add an image; what is none, or too large, is lost."""
        if image_kind(data) in ("", _NO_PIXELS) or len(data) > LARGEST_IMAGE:
            self.lose(Lost.IMAGE)
            return
        digest = hashlib.sha256(data).hexdigest()
        self.images[digest] = data
        shown = clean(name.replace("\x00", ""))[:_LONGEST_NAME] or "image"
        self._attachments.append(Attachment(shown, "", len(data), 0, 0, image=digest))

    def attach_image_at(self, name: str, url: str) -> None:
        """Add the image in a data URL; one that is elsewhere is lost."""
        beginning = _DATA_URL.match(url)
        try:
            data = base64.b64decode(url[beginning.end() :], validate=True) if beginning else b""
        except (binascii.Error, ValueError):
            data = b""
        self.attach_image(name, data)

    def lose_images(self) -> None:
        """Record that the images are lost: only questions have some."""
        kept = [attachment for attachment in self._attachments if not attachment.image]
        self.lost[Lost.IMAGE] += len(self._attachments) - len(kept)
        self._attachments, self.images = kept, {}

    def lose(self, what: Lost) -> None:
        """Record that something cannot be kept."""
        self.lost[what] += 1

    def lose_file(self, name: str, kind: str = "") -> None:
        """Record that a file cannot be kept, by its name or media type."""
        suffix = f".{name.rpartition('.')[2].lower()}" if "." in name else ""
        self.lose(Lost.IMAGE if kind.startswith("image") or suffix in PICTURES else Lost.FILE)

    def join(self, later: "MessageParts") -> None:
        """Add all parts of another message after those of this one."""
        self.created = self.created or later.created
        self.model = later.model or self.model
        self.state = later.state
        self.lost += later.lost
        if later.recap and self._seconds and not self._seconds[-1]:
            self._seconds[-1] = later.recap
        self._texts += later._texts  # noqa: SLF001 - the same class
        self._seconds += later._seconds  # noqa: SLF001
        self._attachments += later._attachments  # noqa: SLF001
        self.images |= later.images

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing in it, not even something that is lost."""
        return not (self._texts or self._attachments or self.lost)

    @property
    def is_too_long(self) -> bool:
        """Whether the message has to be cut."""
        return sum(map(len, self._texts)) > LONGEST_MESSAGE

    @property
    def size(self) -> int:
        """The number of characters in all parts."""
        return sum(map(len, self._texts)) + sum(len(attachment.text) for attachment in self._attachments)

    def as_message(self, role: Role, parent: int | None) -> WholeMessage:
        """Return the message, cut if it is too long; one that has lost everything names what that was."""
        texts = self._texts or ([] if self._attachments else [f"({lost.value})" for lost in list(self.lost)[:1]])
        text = clean("\n\n".join(texts).replace("\x00", ""))[:LONGEST_MESSAGE]
        is_answer = role is Role.ASSISTANT
        return WholeMessage(
            role=role,
            text=text,
            parent=parent,
            created=self.created,
            model=clean(self.model)[:_LONGEST_MODEL] if is_answer else "",
            state=self.state,
            figures={"thoughts": self._seconds} if is_answer and any(self._seconds) else {},
            attachments=tuple(self._attachments),
        )
