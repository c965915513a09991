"""The images of one request while its prompt is fed: where they stand, and what the model has seen of them."""

from collections.abc import Sequence

from sotto.engine.architectures.image_view import View
from sotto.engine.architectures.towers.tower import Features
from sotto.engine.generation.looking import Looking, Vision, view_of
from sotto.engine.vision.prompt_images import (
    FIRST_IMAGE_TOKEN,
    PlacedImage,
    Positions,
    PromptImage,
    place_images,
    positions_of,
)


class ShownImages:
    """The images of a request. Belongs to the thread that owns MLX."""

    def __init__(self, images: Sequence[PromptImage], vision: Vision) -> None:
        """Start with the images of a prompt, in their order."""
        self._images = images
        self._vision = vision
        self._placed: tuple[PlacedImage, ...] = ()
        self._positions: Positions | None = None
        # What was seen, or is being seen, by the key of an image.
        self._seen: dict[str, Features | Looking] = {}

    def place(self, prompt: Sequence[int]) -> tuple[range, ...]:
        """Find the images in the tokens to feed, and return which of these must be fed as a whole."""
        self._placed = place_images(prompt, self._images)
        reader = self._vision.reader
        self._positions = positions_of(len(prompt), self._placed) if reader.multi_axis else None
        return tuple(range(each.start, each.end) for each in self._placed) if reader.both_ways else ()

    def shift_at(self, length: int) -> int:
        """Return what the position of the token after the first `length` is ahead of that number."""
        if self._positions is None:
            return 0
        time = self._positions.axes[0]
        return (time[length] if length < len(time) else self._positions.after) - length

    def fitting_end(self, done: int, end: int) -> int:
        """Return where a chunk ends that begins at `done` and should end at `end`, without tearing images apart."""
        if not self._vision.reader.both_ways:
            return end
        torn = next((each for each in self._placed if each.start < end < each.end), None)
        if torn is None:
            return end
        return torn.start if torn.start > done else torn.end

    def look(self, done: int, end: int) -> bool:
        """Compute the next part of what a chunk shows, and return whether nothing was left to compute."""
        self._seen = {each.image.key: self._seen[each.image.key] for each in self._placed if self._needs(each, done)}
        for each in self._between(done, end):
            seen = self._seen.get(each.image.key) or self._vision.look(each.image)
            self._seen[each.image.key] = seen
            if isinstance(seen, Looking):
                if seen.step() and seen.features is not None:
                    self._seen[each.image.key] = seen.features
                    self._vision.keep(each.image, seen.features)
                return False
        return True

    def view(self, done: int, end: int) -> View | None:
        """Return what a chunk shows; None if it has no images. `look` must have returned True for it."""
        shown = []
        for each in self._between(done, end):
            features = self._seen[each.image.key]
            assert isinstance(features, Features)
            shown.append((each, features))
        if not shown:
            return None
        return view_of(shown, done, end, self._positions, both_ways=self._vision.reader.both_ways)

    def release(self) -> None:
        """Hold nothing of what was seen, as the prompt has been fed; whoever keeps features for later counts them."""
        self._seen.clear()

    def _needs(self, placed: PlacedImage, done: int) -> bool:
        """Return whether what was seen of an image is needed for tokens from `done` on."""
        return placed.end > done and placed.image.key in self._seen

    def _between(self, done: int, end: int) -> list[PlacedImage]:
        return [each for each in self._placed if each.start < end and each.end > done]


def without_images(tokens: Sequence[int]) -> list[int]:
    """Return tokens with 0 in the places of images, where the model looks at the view instead."""
    return [token if token < FIRST_IMAGE_TOKEN else 0 for token in tokens]
