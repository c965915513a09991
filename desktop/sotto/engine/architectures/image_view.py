"""How a language model takes images: rows of features in the place of embeddings, with their positions and masks."""

from dataclasses import dataclass

import mlx.core as mx


@dataclass(frozen=True, slots=True)
class View:
    """What a chunk of a prompt shows a model besides tokens.

    A definition whose models see takes it as `model(tokens, cache=..., view=...)`; without images, `view` is None.

    Attributes:
        features: [1, L, D], the rows of features in the place of the embeddings of image tokens; zero elsewhere.
        shows: [1, L], whether a token is an image token.
        deep: Each [1, L, D], what to add after the first layers; zero where `shows` is false.
        positions: [3, L], positions in time, height and width; None for models that count tokens.
        together: First and last-plus-one places in the chunk of each image whose tokens attend to each other in both
            directions; empty for models that look back alone.
    """

    features: mx.array
    shows: mx.array
    deep: tuple[mx.array, ...] = ()
    positions: mx.array | None = None
    together: tuple[tuple[int, int], ...] = ()

    def embeddings(self, embedded: mx.array) -> mx.array:
        """Return embeddings [1, L, D] with the rows of features in the places of image tokens.

        Args:
            embedded: The embeddings of the tokens; those of image tokens are replaced.
        """
        return mx.where(self.shows[..., None], self.features.astype(embedded.dtype), embedded)
