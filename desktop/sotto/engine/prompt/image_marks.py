"""Images in rendered conversations: from the parts of messages to the text that stands for them, and to tokens.

A template that knows images prints its family's mark for each; for others, the mark is put into the text of the
message. Either way the mark is then replaced by the markup of the image's layout, which has a slot for each row of
features, and the tokens of the slots by those of the image.
"""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from sotto.engine.contract.message_content import ImagePart, TextPart, content_of
from sotto.engine.contract.requests import Message
from sotto.engine.tokens.tokenizer import Tokenizer
from sotto.engine.vision.image_reader import ImageLayout, ImageReader, ReadImage
from sotto.engine.vision.prompt_images import PromptImage, is_image_token
from sotto.errors import BrokenModelError, InvalidRequestError

# Images that are kept as they were read: a conversation shows them again with each turn.
_IMAGES_KEPT = 16


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
        self._slot = tokenizer.added.get(reader.slot)
        # Where these are no tokens, texts of people may contain them: others are used inside of prompts.
        self._mark = reader.mark if reader.mark in tokenizer.added else f"\ufffc{secrets.token_hex(16)}\ufffc"
        self._slot_text = reader.slot if self._slot is not None else f"\ufffc{secrets.token_hex(16)}\ufffc"
        # Keyed by the part, which compares by its data and is hashed by its digest.
        self._known = lru_cache(_IMAGES_KEPT)(self._read)

    def prints_mark(self, text: str) -> bool:
        """Return whether a text that a template made of a single image has the mark, and nobody can type the mark."""
        return self._mark == self.reader.mark and text.count(self._mark) == 1

    def are_in(self, text: str, images: Sequence[ImagePart]) -> bool:
        """Return whether a rendered conversation has a mark for each image."""
        return text.count(self._mark) == len(images)

    def layout(self, part: ImagePart) -> ImageLayout:
        """Return how an image stands in a prompt.

        Raises:
            InvalidRequestError: It cannot be decoded, or the model does not take images of these proportions.
        """
        return self._known(part).image.layout

    def placed_in(self, message: Message) -> Message:
        """Return a message with the reader's placeholders in the places of its images."""
        placeholder = self.reader.placeholder.replace(self.reader.mark, self._mark)
        parts = (TextPart(placeholder) if isinstance(part, ImagePart) else part for part in message.parts)
        return replace(message, content=content_of(parts))

    def expand(self, text: str, images: Sequence[ImagePart], label: str) -> str:
        """Replace each mark in a rendered conversation by the markup of its image.

        Args:
            text: The conversation.
            images: Its images in their order.
            label: What the template is called.

        Raises:
            InvalidRequestError: There are not as many marks as images.
        """
        pieces = text.split(self._mark)
        if len(pieces) - 1 != len(images):
            raise InvalidRequestError(
                f"{label} has places for {len(pieces) - 1} of {len(images)} images: send images in the messages of "
                "the user alone."
            )
        marked = [self._markup(image) + piece for image, piece in zip(images, pieces[1:], strict=True)]
        return "".join((pieces[0], *marked))

    def encode(self, text: str, add_bos: bool | None = None) -> list[int]:
        """Return the tokens of an expanded text, with the slots' own token, or 0 where the slot is no token.

        Args:
            text: The text.
            add_bos: As for `Tokenizer.encode`.
        """
        if self._slot is not None:
            return self._tokenizer.encode(text, add_bos)
        first, *others = text.split(self._slot_text)
        tokens = list(self._tokenizer.encode(first, add_bos))
        for piece in others:
            tokens.append(0)
            tokens += self._tokenizer.encode(piece, add_bos=False) if piece else ()
        return tokens

    def size(self, part: ImagePart) -> int:
        """Return how many tokens an image takes, with the marks around it."""
        return len(self.encode(self._markup(part), add_bos=False))

    def fill(self, text: str, images: Sequence[ImagePart]) -> tuple[tuple[int, ...], tuple[PromptImage, ...]]:
        """Return the tokens of an expanded text with the pseudo-tokens of its images, and these.

        Raises:
            BrokenModelError: The tokenizer does not keep the slots apart.
        """
        shown = tuple(self._known(image) for image in images)
        rows = [token for image in shown for token in image.tokens]
        tokens = self._filled(text, rows)
        if is_image_token(tokens[-1]):
            raise BrokenModelError("The chat template ends with an image; it should ask for an answer after it.")
        return tuple(tokens), shown

    def plain(self, tokens: Sequence[int]) -> tuple[int, ...]:
        """Return tokens as `encode` has them, without the pseudo-tokens of images."""
        slot = self._slot or 0
        return tuple(slot if is_image_token(token) else token for token in tokens)

    def _filled(self, text: str, rows: Sequence[int]) -> list[int]:
        if self._slot is None:
            first, *others = text.split(self._slot_text)
            tokens = list(self._tokenizer.encode(first))
            self._check(len(others), len(rows))
            for row, piece in zip(rows, others, strict=True):
                tokens.append(row)
                tokens += self._tokenizer.encode(piece, add_bos=False) if piece else ()
            return tokens
        tokens = list(self._tokenizer.encode(text))
        places = [place for place, token in enumerate(tokens) if token == self._slot]
        self._check(len(places), len(rows))
        for place, row in zip(places, rows, strict=True):
            tokens[place] = row
        return tokens

    def _markup(self, part: ImagePart) -> str:
        return self.layout(part).markup.replace(self.reader.slot, self._slot_text)

    def _check(self, slots: int, rows: int) -> None:
        if slots != rows:
            raise BrokenModelError(
                f"The prompt has {slots} places for {rows} rows of image features: the tokenizer should have a token "
                f"for {self.reader.slot}."
            )

    def _read(self, part: ImagePart) -> PromptImage:
        # Imported when there is an image, as most requests have none.
        from sotto.engine.vision.shrinking import shrink
        from sotto.images.image_decoding import ImageError, decode_image

        try:
            image = shrink(decode_image(part.data), self._largest)
        except ImageError as error:
            raise InvalidRequestError(error.message) from error
        layout = self.reader.lay_out(image.width, image.height)
        tiles = self.reader.read(image)
        key = hashlib.sha256(repr((layout, self.reader.normalization)).encode())
        for tile in tiles:
            key.update(f"{tile.width} {tile.height} ".encode())
            key.update(tile.pixels)
        return PromptImage.of(ReadImage(layout, tiles, key.hexdigest()))


def images_in(messages: Sequence[Message]) -> tuple[ImagePart, ...]:
    """Return the images of a conversation in their order."""
    return tuple(image for message in messages for image in message.images)
