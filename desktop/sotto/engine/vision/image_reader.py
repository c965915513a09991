"""How a family of models takes images: the values, and what a reader of images does."""

from dataclasses import dataclass, field
from typing import Protocol

from sotto.images.decoded_image import DecodedImage


@dataclass(frozen=True, slots=True)
class ImageLayout:
    """How an image stands in a prompt; depends on its size alone.

    Attributes:
        markup: The text that stands for it in the prompt. It has the reader's `slot` once for each row of features, in
            their order.
        rows: How many rows of features it has, that is, how often `slot` occurs.
        grid: Rows and columns of its features, where they have places in two dimensions (multi-axis positions).
        tiles: Width and height of each piece that the tower sees, in pixels.
    """

    markup: str
    rows: int
    grid: tuple[int, int]
    tiles: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class ReadImage:
    """An image as a tower takes it.

    Attributes:
        layout: How it stands in the prompt.
        tiles: Its pieces, resized as the layout says.
        key: Identifies the pixels and how they were read, for caches: hex digits.
    """

    layout: ImageLayout
    tiles: tuple[DecodedImage, ...] = field(repr=False)
    key: str


@dataclass(frozen=True, slots=True)
class Normalization:
    """How the channels of pixels are scaled: (value / 255 - mean) / std, for red, green and blue."""

    mean: tuple[float, float, float]
    std: tuple[float, float, float]


class ImageReader(Protocol):
    """Reads images for one model, as its `preprocessor_config.json` says. Used by any thread.

    Attributes:
        placeholder: What stands for an image in a template that knows nothing of images.
        mark: The part of it, and of what templates print for an image, that `ImageLayout.markup` replaces.
        slot: The text of the token in whose place a row of features stands.
        normalization: What the tower does first with pixels.
        both_ways: Whether the tokens of an image attend to each other in both directions.
        multi_axis: Whether positions have three axes: time, height and width. The tokens of an image then stand at its
            rows and columns, from where the text before it ends, and the text after it goes on after the larger of
            both; text has the same position on all axes.
    """

    @property
    def placeholder(self) -> str: ...  # noqa: D102

    @property
    def mark(self) -> str: ...  # noqa: D102

    @property
    def slot(self) -> str: ...  # noqa: D102

    @property
    def normalization(self) -> Normalization: ...  # noqa: D102

    @property
    def both_ways(self) -> bool: ...  # noqa: D102

    @property
    def multi_axis(self) -> bool: ...  # noqa: D102

    def lay_out(self, width: int, height: int) -> ImageLayout:
        """Return how an image of so many pixels stands in a prompt.

        Raises:
            InvalidRequestError: Its proportions are more than the family allows.
        """

    def read(self, image: DecodedImage) -> tuple[DecodedImage, ...]:
        """Return the pieces of an image that the tower sees, resized as `lay_out` says."""
