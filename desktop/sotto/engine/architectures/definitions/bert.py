"""BERT and RoBERTa: encoders, in which each token of a text sees all others.

As in "BERT" (arXiv 1810.04805) and "RoBERTa" (1907.11692): layers that normalise what they have added up, learned
positions, and a vector for the segment, of which there is one here, or none at all. RoBERTa counts positions from
behind the number of its padding token. What checkpoints hold for tasks of their own, a pooler or the scores of masked
words, is left out.
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

# What stands before the names of checkpoints with a task, and what those hold for it.
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
    # As the first checkpoints have it.
    (re.compile(r"\.gamma$"), ".weight"),
    (re.compile(r"\.beta$"), ".bias"),
)


@dataclass
class EncoderArgs:
    """What `config.json` says of every encoder."""

    model_type: str
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    vocab_size: int

    @classmethod
    def from_dict(cls, config: Mapping[str, Any]) -> Self:
        """Return what a config says, without what is not read here."""
        return cls(**{name: value for name, value in config.items() if name in inspect.signature(cls).parameters})


@dataclass
class ModelArgs(EncoderArgs):
    """What `config.json` says."""

    max_position_embeddings: int
    type_vocab_size: int = 2
    layer_norm_eps: float = 1e-12
    hidden_act: str = "gelu"
    pad_token_id: int | None = None

    @property
    def first_position(self) -> int:
        """The number of a text's first position."""
        return first_position(self.model_type, self.pad_token_id)

    @property
    def longest(self) -> int:
        """Most tokens that a text may have."""
        return self.max_position_embeddings - self.first_position


class Embeddings(nn.Module):  # type: ignore[misc]
    """From tokens to vectors: the sum of what stands for a token, its position and its segment."""

    def __init__(self, args: ModelArgs) -> None:
        """Build it with weights yet to be loaded."""
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
        places = self.position_embeddings(positions)
        if "token_type_embeddings" in self:
            places = places + self.token_type_embeddings(mx.array([0]))
        vectors: mx.array = self.norm(self.word_embeddings(tokens) + places)
        return vectors


class Layer(nn.Module):  # type: ignore[misc]
    """Attention, and then the feed-forward part."""

    def __init__(self, args: ModelArgs) -> None:
        """Build it with weights yet to be loaded."""
        super().__init__()
        if args.hidden_size % args.num_attention_heads:
            raise ValueError(f"hidden_size {args.hidden_size} is no multiple of {args.num_attention_heads} heads")
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
        embeddings_kind: What makes vectors of tokens.
        layer_kind: What one layer is.
        args: What it was built from.
    """

    embeddings_kind: type[nn.Module] = Embeddings
    layer_kind: type[nn.Module] = Layer

    def __init__(self, args: Any) -> None:
        """Build it with weights yet to be loaded."""
        super().__init__()
        if args.longest < 1:
            raise ValueError(f"max_position_embeddings {args.max_position_embeddings} leaves no position for a token")
        self.args = args
        self.embeddings = self.embeddings_kind(args)
        self.layers = [self.layer_kind(args) for _ in range(args.num_hidden_layers)]

    def __call__(self, tokens: mx.array, mask: mx.array | None = None) -> mx.array:
        """Return the last hidden states [B, L, D].

        Args:
            tokens: [B, L], of which each row is a text, filled up behind its end.
            mask: [B, L], true where there is a token; None where all are.
        """
        x: mx.array = self.embeddings(tokens)
        seen = None if mask is None else mask[:, None, None, :]
        for layer in self.layers:
            x = layer(x, seen)
        return x

    def sanitize(self, weights: dict[str, mx.array]) -> dict[str, mx.array]:
        """Return the weights by the names that they have here."""
        return rename_weights(weights, _PREFIXES, _TASKS, _RENAMED)


def rename_weights(
    weights: Mapping[str, mx.array],
    prefixes: re.Pattern[str],
    tasks: tuple[str, ...],
    names: Iterable[tuple[re.Pattern[str], str]],
) -> dict[str, mx.array]:
    """Return the weights of an encoder by other names.

    Args:
        weights: By the names that a checkpoint has.
        prefixes: What stands before the names of checkpoints with a task.
        tasks: What the names of weights begin with that belong to a task; they are left out.
        names: Pairs of what to replace and by what, in order.
    """
    arranged = {}
    for name, array in weights.items():
        own = prefixes.sub("", name, count=1) if prefixes.match(name) else name
        if own.startswith(tasks):
            continue
        for pattern, new in names:
            own = pattern.sub(new, own)
        arranged[own] = array
    return arranged
