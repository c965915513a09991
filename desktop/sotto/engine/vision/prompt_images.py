"""Images in the tokens of a prompt: each row of features has a token of its own, which names what is seen there.

Placeholder tokens are the same for every image, so a cache that is looked up by tokens would take one image for
another. Therefore a prompt holds pseudo-tokens in their places, which a model does not have: numbers from
`FIRST_IMAGE_TOKEN` on, drawn from the digest of the pixels and of how they were read.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sotto.engine.vision.image_reader import ReadImage

FIRST_IMAGE_TOKEN = 1 << 31
_TOKEN_BYTES = 4


@dataclass(frozen=True, slots=True)
class PromptImage:
    """An image of a prompt.

    Attributes:
        image: The image.
        tokens: Its pseudo-tokens, one for each row of features.
    """

    image: ReadImage
    tokens: tuple[int, ...] = field(repr=False)

    @classmethod
    def of(cls, image: ReadImage) -> "PromptImage":
        """Return an image with its pseudo-tokens."""
        drawn = hashlib.shake_128(image.key.encode()).digest(_TOKEN_BYTES * image.layout.rows)
        words = (drawn[start : start + _TOKEN_BYTES] for start in range(0, len(drawn), _TOKEN_BYTES))
        return cls(image, tuple(int.from_bytes(word, "little") | FIRST_IMAGE_TOKEN for word in words))


@dataclass(frozen=True, slots=True)
class PlacedImage:
    """An image at its places in a prompt.

    Attributes:
        image: The image.
        places: The position of each row of features in the prompt, ascending.
    """

    image: ReadImage
    places: tuple[int, ...] = field(repr=False)

    @property
    def start(self) -> int:
        """Position of the first row."""
        return self.places[0]

    @property
    def end(self) -> int:
        """Position after the last row."""
        return self.places[-1] + 1


def is_image_token(token: int) -> bool:
    """Return whether a token stands for a row of features."""
    return token >= FIRST_IMAGE_TOKEN


def text_tokens(tokens: Iterable[int]) -> list[int]:
    """Return tokens without those of images."""
    return [token for token in tokens if token < FIRST_IMAGE_TOKEN]


def place_images(tokens: Sequence[int], images: Sequence[PromptImage]) -> tuple[PlacedImage, ...]:
    """Return the images that stand in tokens, with their places.

    Args:
        tokens: A prompt, perhaps without some of the images that it had.
        images: The images in their order. Each stands in the prompt as a whole, or not at all.
    """
    marked = [place for place, token in enumerate(tokens) if token >= FIRST_IMAGE_TOKEN]
    placed: list[PlacedImage] = []
    done = 0
    for each in images:
        if done < len(marked) and tokens[marked[done]] == each.tokens[0]:
            placed.append(PlacedImage(each.image, tuple(marked[done : done + len(each.tokens)])))
            done += len(each.tokens)
    return tuple(placed)


def without_torn_images(tokens: Sequence[int], images: Sequence[PromptImage]) -> tuple[int, ...]:
    """Return tokens without those of images of which only a part is left."""
    runs: list[tuple[int, ...]] = [each.tokens for each in images]
    rest = [token for token in tokens if token >= FIRST_IMAGE_TOKEN]
    whole: list[bool] = []
    done = 0
    while done < len(rest):
        run = next((run for run in runs if tuple(rest[done : done + len(run)]) == run), None)
        length = len(run) if run else 1
        whole += [run is not None] * length
        done += length
    marks = iter(whole)
    return tuple(token for token in tokens if token < FIRST_IMAGE_TOKEN or next(marks))


@dataclass(frozen=True, slots=True)
class Positions:
    """Positions of a prompt with three axes: time, height and width.

    Attributes:
        axes: For each axis the position of each token.
        after: The position of the token after the last one, on all axes.
    """

    axes: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]] = field(repr=False)
    after: int


def positions_of(length: int, placed: Sequence[PlacedImage]) -> Positions:
    """Return the positions of the tokens of a prompt.

    The tokens of an image stand at its rows and columns, from the position after the text before it; the text after it
    goes on after the larger of both. The formula is that of `get_rope_index` in transformers' Qwen2.5-VL.

    Args:
        length: Number of tokens.
        placed: The images in them.
    """
    time: list[int] = []
    height: list[int] = []
    width: list[int] = []
    following = 0
    for each in placed:
        rows, columns = each.image.layout.grid
        text = range(following, following + each.start - len(time))
        following = text.stop
        for axis in (time, height, width):
            axis.extend(text)
        time.extend([following] * (rows * columns))
        height.extend(following + row for row in range(rows) for _ in range(columns))
        width.extend(following + column for _ in range(rows) for column in range(columns))
        following += max(rows, columns)
    text = range(following, following + length - len(time))
    for axis in (time, height, width):
        axis.extend(text)
    return Positions((tuple(time), tuple(height), tuple(width)), text.stop)
