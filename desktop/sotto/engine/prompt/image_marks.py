"""Images in rendered conversations: from the parts of messages to the text that stands for them, and to tokens.

A template that knows images prints its family's mark for each; for others, the mark is put into the text of the
message. Either way the mark is then replaced by the markup of the image's layout, which has a slot for each row of
features, and the tokens of the slots by those of the image.
"""

import hashlib
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sotto.engine.contract.message_content import ImagePart, TextPart, content_of
from sotto.engine.contract.requests import Message
from sotto.engine.tokens.mark_escaping import ESCAPE, unescaped
from sotto.engine.tokens.tokenizer import Tokenizer
from sotto.engine.vision.image_reader import ImageLayout, ImageReader, ReadImage
from sotto.engine.vision.prompt_images import FIRST_IMAGE_TOKEN, PromptImage, is_image_token
from sotto.errors import BrokenModelError, InvalidRequestError
from sotto.images.decoded_image import DecodedImage
from sotto.images.recent import Recent

# Images that are kept as they were read, and those of which only the layout is kept: a conversation shows them again
# with each turn.
_IMAGES_KEPT, _LAYOUTS_KEPT = 16, 512


class ImageMarks:
    """The images of prompts for one model. Used by any thread."""

    def __init__(self, reader: ImageReader, tokenizer: Tokenizer, largest: int | None = None) -> None:
        """Start without images.

        Args:
            reader: How the model takes images.
            tokenizer: The model's tokenizer.
            largest: Most pixels that memory has room for; larger images are shrunk. None for no limit.
        """
        self.reader = reader
        self._tokenizer = tokenizer
        self._largest = largest
        self._slot = tokenizer.added.get(reader.slot) if tokenizer.escapes(reader.slot) else None
        # Where these are no tokens that can be escaped, texts of people may contain them: others are used in prompts.
        self._mark = reader.mark if tokenizer.escapes(reader.mark) else f"\ufffc{secrets.token_hex(16)}\ufffc"
        self._slot_text = reader.slot if self._slot is not None else f"\ufffc{secrets.token_hex(16)}\ufffc"
        self._marks = unescaped([self._mark])
        self._names = unescaped({self._mark, self._slot_text})
        self._layouts: Recent[ImageLayout] = Recent(_LAYOUTS_KEPT)
        self._images: Recent[PromptImage] = Recent(_IMAGES_KEPT)

    def prints_mark(self, text: str) -> bool:
        """Return whether a text that a template made of a single image has the mark, and nobody can type the mark."""
        return self._mark == self.reader.mark and text.count(self._mark) == 1

    def are_in(self, text: str, images: Sequence[ImagePart]) -> bool:
        """Return whether a rendered conversation has a mark for each image."""
        return len(self._marks.findall(text)) == len(images)

    def placed_in(self, message: Message) -> Message:
        """Return a message with the reader's placeholders in the places of its images."""
        placeholder = self.reader.placeholder.replace(self.reader.mark, self._mark)
        parts = (TextPart(placeholder) if isinstance(part, ImagePart) else part for part in message.parts)
        return replace(message, content=content_of(parts))

    def escape(self, text: str) -> str:
        """Return a text of a prompt with images in which nothing is taken for an image, whoever wrote it."""
        return self._names.sub(ESCAPE + r"\g<0>", text)

    def escaped(self, message: Message) -> Message:
        """Return a message of a prompt with images in whose texts nothing is taken for an image."""
        parts = (TextPart(self.escape(part.text)) if isinstance(part, TextPart) else part for part in message.parts)
        return replace(
            message,
            content=content_of(parts),
            thinking=self.escape(message.thinking),
            tool_calls=tuple(
                replace(call, arguments=self.escaped_values(call.arguments)) for call in message.tool_calls
            ),
        )

    def escaped_values(self, values: Any) -> Any:
        """Return values as in JSON in whose texts nothing is taken for an image."""
        if isinstance(values, str):
            return self.escape(values)
        if isinstance(values, Mapping):
            return {self.escape(key): self.escaped_values(value) for key, value in values.items()}
        if isinstance(values, list | tuple):
            return [self.escaped_values(value) for value in values]
        return values

    def expand(self, text: str, images: Sequence[ImagePart], label: str) -> str:
        """Replace each mark in a rendered conversation by the markup of its image.

        Args:
            text: The conversation.
            images: Its images in their order.
            label: What the template is called.

        Raises:
            InvalidRequestError: There are not as many marks as images, an image cannot be decoded, or the model does
                not take images of its proportions.
        """
        pieces = self._marks.split(text)
        if len(pieces) - 1 != len(images):
            raise InvalidRequestError(
                f"{label} has places for {len(pieces) - 1} of {len(images)} images: send images in the messages of "
                "the user alone."
            )
        marked = [markup + piece for markup, piece in zip(self._markups(images), pieces[1:], strict=True)]
        return "".join((pieces[0], *marked))

    def encode(self, text: str, add_bos: bool | None = None) -> list[int]:
        """Return the tokens of an expanded text, with `FIRST_IMAGE_TOKEN` for each row of features.

        Args:
            text: The text.
            add_bos: As for `Tokenizer.encode`.
        """
        if self._slot is not None:
            tokens = self._tokenizer.encode(text, add_bos)
            return [FIRST_IMAGE_TOKEN if token == self._slot else token for token in tokens]
        first, *others = text.split(self._slot_text)
        tokens = list(self._tokenizer.encode(first, add_bos))
        for piece in others:
            tokens.append(FIRST_IMAGE_TOKEN)
            tokens += self._tokenizer.encode(piece, add_bos=False) if piece else ()
        return tokens

    def sizes(self, images: Sequence[ImagePart]) -> tuple[int, ...]:
        """Return how many tokens each image takes, with the marks around it.

        Raises:
            InvalidRequestError: One cannot be decoded, or the model does not take images of its proportions.
        """
        return tuple(len(self.encode(markup, add_bos=False)) for markup in self._markups(images))

    def fill(
        self, tokens: Sequence[int], images: Sequence[ImagePart]
    ) -> tuple[tuple[int, ...], tuple[PromptImage, ...]]:
        """Return the tokens of an expanded text with the pseudo-tokens of its images, and these.

        Raises:
            BrokenModelError: The tokenizer does not keep the slots apart, or an image is the end of the prompt.
        """
        names = _names(len(images))
        shown = tuple(self._read(image, name) for image, name in zip(images, names, strict=True))
        slots, rows = sum(map(is_image_token, tokens)), sum(len(image.tokens) for image in shown)
        if slots != rows:
            raise BrokenModelError(
                f"The prompt has {slots} places for {rows} rows of image features: the tokenizer should have a token "
                f"for {self.reader.slot}."
            )
        if is_image_token(tokens[-1]):
            raise BrokenModelError("The chat template ends with an image; it should ask for an answer after it.")
        ids = (token for image in shown for token in image.tokens)
        return tuple(next(ids) if is_image_token(token) else token for token in tokens), shown

    def plain(self, tokens: Sequence[int]) -> tuple[int, ...]:
        """Return tokens as `encode` has them, without the pseudo-tokens of images."""
        return tuple(FIRST_IMAGE_TOKEN if is_image_token(token) else token for token in tokens)

    def _markups(self, images: Sequence[ImagePart]) -> Iterable[str]:
        """Yield the text that stands for each image."""
        for image, name in zip(images, _names(len(images)), strict=True):
            layout = self._layouts.find(image.digest)
            if layout is None:
                layout = self._lay_out(image, self._decoded(image, name))
            yield layout.markup.replace(self.reader.slot, self._slot_text)

    def _decoded(self, part: ImagePart, name: str) -> DecodedImage:
        # Imported when there is an image, as most requests have none.
        from sotto.engine.vision.shrinking import shrink
        from sotto.images.image_decoding import ImageError, decode_image

        try:
            return shrink(decode_image(part.data, name), self._largest)
        except ImageError as error:
            raise InvalidRequestError(error.message) from error

    def _lay_out(self, part: ImagePart, image: DecodedImage) -> ImageLayout:
        layout = self.reader.lay_out(image.width, image.height)
        self._layouts.add(part.digest, layout)
        return layout

    def _read(self, part: ImagePart, name: str) -> PromptImage:
        found = self._images.find(part.digest)
        if found is None:
            image = self._decoded(part, name)
            layout, tiles = self._lay_out(part, image), self.reader.read(image)
            key = hashlib.sha256(repr((layout, self.reader.normalization)).encode())
            for tile in tiles:
                key.update(f"{tile.width} {tile.height} ".encode())
                key.update(tile.pixels)
            found = PromptImage.of(ReadImage(layout, tiles, key.hexdigest()))
            self._images.add(part.digest, found)
        return found


def images_in(messages: Sequence[Message]) -> tuple[ImagePart, ...]:
    """Return the images of a conversation in their order."""
    return tuple(image for message in messages for image in message.images)


def _names(count: int) -> list[str]:
    """Return what to call each of some images where one cannot be decoded."""
    return [f"Image {number} of {count}" for number in range(1, count + 1)] if count > 1 else ["The image"] * count
