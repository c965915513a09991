"""BERT and RoBERTa: encoders, in which each token of a text sees all others.

As in "BERT" (arXiv 1810.04805) and "RoBERTa" (1907.11692): layers normalise after each residual sum, positions are
learned, and there is an embedding for the segment or none at all; all tokens belong to the first segment. RoBERTa's
positions start after the id of its padding token. Task-specific weights of checkpoints (a pooler, a head that predicts
masked words) are left out.
"""

import inspect
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import mlx.core as mx
from mlx import nn

from sotto.engine.architectures.definitions.activation import activation
from sotto.store.facts import first_position

# Checkpoints with a task head have a prefix before the encoder's names, and further weights for the head.
_PREFIXES = re.compile(r"(bert|roberta)\.")
_TASKS = ("pooler.", "cls.", "lm_head.", "embeddings.position_ids")
_RENAMED = (
    (re.compile(r"^encoder\.layer\."), "layers."),
    (re.compile(r"\.attention\.self\."), "."),
    (re.compile(r"\.attention\.output\.dense\."), ".out."),
    (re.compile(r"\.attention\.output\.LayerNorm\."), ".attention_norm."),
    (re.compile(r"\.intermediate\.dense\."), ".up."),
    (re.compile(r"\.output\.dense\."), ".down."),
    (re.compile(r"\.output\.LayerNorm\."), ".output_norm."),
    (re.compile(r"^embeddings\.LayerNorm\."), "embeddings.norm."),
    # The names in the oldest checkpoints.
    (re.compile(r"\.gamma$"), ".weight"),
    (re.compile(r"\.beta$"), ".bias"),
)


@dataclass
class EncoderArgs:
    """The keys of `config.json` that all encoders have."""

    model_type: str
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    vocab_size: int

    @classmethod
    def from_dict(cls, config: Mapping[str, Any]) -> Self:
        """Return the arguments from a config, ignoring keys that are not read here."""
        return cls(**{name: value for name, value in config.items() if name in inspect.signature(cls).parameters})


@dataclass
class ModelArgs(EncoderArgs):
    """The keys of `config.json` that are read."""

    max_position_embeddings: int
    type_vocab_size: int = 2
    layer_norm_eps: float = 1e-12
    hidden_act: str = "gelu"
    pad_token_id: int | None = None

    @property
    def first_position(self) -> int:
        """The index of a text's first position embedding."""
        return first_position(self.model_type, self.pad_token_id)

    @property
    def longest(self) -> int:
        """The most tokens that a text may have."""
        return self.max_position_embeddings - self.first_position


class Embeddings(nn.Module):  # type: ignore[misc]
    """The normalised sum of the embeddings of a token, its position and its segment."""

    def __init__(self, args: ModelArgs) -> None:
        """Build the module without its weights."""
        super().__init__()
        self.word_embeddings = nn.Embedding(args.vocab_size, args.hidden_size)
        self.position_embeddings = nn.Embedding(args.max_position_embeddings, args.hidden_size)
        if args.type_vocab_size:
            self.token_type_embeddings = nn.Embedding(args.type_vocab_size, args.hidden_size)
        self.norm = nn.LayerNorm(args.hidden_size, eps=args.layer_norm_eps)
        self._first = args.first_position

    def __call__(self, tokens: mx.array) -> mx.array:
        """Return vectors [B, L, D] for tokens [B, L]."""
        positions = mx.arange(self._first, self._first + tokens.shape[1])
        offsets = self.position_embeddings(positions)
        if "token_type_embeddings" in self:
            offsets = offsets + self.token_type_embeddings(mx.array([0]))
        vectors: mx.array = self.norm(self.word_embeddings(tokens) + offsets)
        return vectors


class Layer(nn.Module):  # type: ignore[misc]
    """Attention, followed by the feed-forward part."""

    def __init__(self, args: ModelArgs) -> None:
        """Build the module without its weights.

        Raises:
            ValueError: The hidden size is not a multiple of the number of heads.
        """
        super().__init__()
        if args.hidden_size % args.num_attention_heads:
            raise ValueError(f"hidden_size {args.hidden_size} is not a multiple of {args.num_attention_heads} heads")
        self.query = nn.Linear(args.hidden_size, args.hidden_size)
        self.key = nn.Linear(args.hidden_size, args.hidden_size)
        self.value = nn.Linear(args.hidden_size, args.hidden_size)
        self.out = nn.Linear(args.hidden_size, args.hidden_size)
        self.attention_norm = nn.LayerNorm(args.hidden_size, eps=args.layer_norm_eps)
        self.up = nn.Linear(args.hidden_size, args.intermediate_size)
        self.down = nn.Linear(args.intermediate_size, args.hidden_size)
        self.output_norm = nn.LayerNorm(args.hidden_size, eps=args.layer_norm_eps)
        self._heads = args.num_attention_heads
        self._activation = activation(args.hidden_act)

    def __call__(self, x: mx.array, mask: mx.array | None) -> mx.array:
        """Return the result [B, L, D] for `x` [B, L, D]; `mask` [B, 1, 1, L] is true where there is a token."""
        batch, length, width = x.shape

        def heads(y: mx.array) -> mx.array:
            return y.reshape(batch, length, self._heads, -1).transpose(0, 2, 1, 3)

        seen = mx.fast.scaled_dot_product_attention(
            heads(self.query(x)),
            heads(self.key(x)),
            heads(self.value(x)),
            scale=(width // self._heads) ** -0.5,
            mask=mask,
        )
        x = self.attention_norm(x + self.out(seen.transpose(0, 2, 1, 3).reshape(batch, length, width)))
        output: mx.array = self.output_norm(x + self.down(self._activation(self.up(x))))
        return output


class Model(nn.Module):  # type: ignore[misc]
    """An encoder.

    Attributes:
        embeddings_kind: The module that turns tokens into vectors.
        layer_kind: The module of each layer.
        args: The arguments that it was built from.
    """

    embeddings_kind: type[nn.Module] = Embeddings
    layer_kind: type[nn.Module] = Layer

    def __init__(self, args: Any) -> None:
        """Build the module without its weights.

        Raises:
            ValueError: There is no position for a token.
        """
        super().__init__()
        if args.longest < 1:
            raise ValueError(f"max_position_embeddings {args.max_position_embeddings} leaves no position for a token")
        self.args = args
        self.embeddings = self.embeddings_kind(args)
        self.layers = [self.layer_kind(args) for _ in range(args.num_hidden_layers)]

    def __call__(self, tokens: mx.array, mask: mx.array | None = None) -> mx.array:
        """Return the last hidden states [B, L, D].

        Args:
            tokens: [B, L]; each row is a text, padded at its end.
            mask: [B, L], true where there is a token; None if nothing is padded.
        """
        x: mx.array = self.embeddings(tokens)
        seen = None if mask is None else mask[:, None, None, :]
        for layer in self.layers:
            x = layer(x, seen)
        return x

    def sanitize(self, weights: dict[str, mx.array]) -> dict[str, mx.array]:
        """Return the weights by the names used here."""
        return rename_weights(weights, _PREFIXES, _TASKS, _RENAMED)


def rename_weights(
    weights: Mapping[str, mx.array],
    prefixes: re.Pattern[str],
    tasks: tuple[str, ...],
    names: Iterable[tuple[re.Pattern[str], str]],
) -> dict[str, mx.array]:
    """Return the weights of an encoder by the names used here, without those of a task head.

    Args:
        weights: By their names in the checkpoint.
        prefixes: Matches the prefix of checkpoints with a task head.
        tasks: Beginnings of the names that belong to a task head.
        names: Pairs of a pattern and its replacement, applied in order.
    """
    renamed = {}
    for name, array in weights.items():
        new_name = prefixes.sub("", name, count=1) if prefixes.match(name) else name
        if new_name.startswith(tasks):
            continue
        for pattern, replacement in names:
            new_name = pattern.sub(replacement, new_name)
        renamed[new_name] = array
    return renamed
