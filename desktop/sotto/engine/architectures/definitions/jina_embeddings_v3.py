"""Jina Embeddings v3 without its adapters: an encoder like RoBERTa, with rotary positions.

As in "jina-embeddings-v3" (arXiv 2409.10173); rotary positions replace the learned ones.
"""

import re
from dataclasses import dataclass

import mlx.core as mx
from mlx import nn

from sotto.engine.architectures.definitions import bert, nomic_bert
from sotto.engine.architectures.definitions.activation import activation

_PREFIXES = re.compile(r"roberta\.")
_TASKS = ("pooler.", "lm_head.")
_RENAMED = (
    (re.compile(r"^encoder\.layers\."), "layers."),
    (re.compile(r"^emb_ln\."), "embeddings.norm."),
    (re.compile(r"\.mixer\.Wqkv\."), ".qkv."),
    (re.compile(r"\.mixer\.out_proj\."), ".out."),
    (re.compile(r"\.norm1\."), ".attention_norm."),
    (re.compile(r"\.mlp\.fc1\."), ".up."),
    (re.compile(r"\.mlp\.fc2\."), ".down."),
    (re.compile(r"\.norm2\."), ".output_norm."),
)


@dataclass
class ModelArgs(nomic_bert.ModelArgs):
    """The keys of `config.json` that are read."""

    type_vocab_size: int = 1
    layer_norm_eps: float = 1e-5
    rope_theta: float = 20_000.0
    hidden_act: str = "gelu"


class Layer(nn.Module):  # type: ignore[misc]
    """Attention, followed by the feed-forward part."""

    def __init__(self, args: ModelArgs) -> None:
        """Build the module without its weights.

        Raises:
            ValueError: The hidden size is not a multiple of twice the number of heads.
        """
        super().__init__()
        if args.hidden_size % (2 * args.num_attention_heads):
            raise ValueError(
                f"hidden_size {args.hidden_size} cannot be split into {args.num_attention_heads} heads of two halves"
            )
        self.qkv = nn.Linear(args.hidden_size, 3 * args.hidden_size)
        self.out = nn.Linear(args.hidden_size, args.hidden_size)
        self.attention_norm = nn.LayerNorm(args.hidden_size, eps=args.layer_norm_eps)
        self.up = nn.Linear(args.hidden_size, args.intermediate_size)
        self.down = nn.Linear(args.intermediate_size, args.hidden_size)
        self.output_norm = nn.LayerNorm(args.hidden_size, eps=args.layer_norm_eps)
        self.rope = nn.RoPE(args.hidden_size // args.num_attention_heads, base=args.rope_theta)
        self._heads = args.num_attention_heads
        self._activation = activation(args.hidden_act)

    def __call__(self, x: mx.array, mask: mx.array | None) -> mx.array:
        """Return the result [B, L, D] for `x` [B, L, D]; `mask` [B, 1, 1, L] is true where there is a token."""
        seen = self.out(nomic_bert.attend(self.qkv(x), self._heads, self.rope, mask))
        x = self.attention_norm(x + seen)
        output: mx.array = self.output_norm(x + self.down(self._activation(self.up(x))))
        return output


class Model(bert.Model):
    """An encoder."""

    embeddings_kind = nomic_bert.Embeddings
    layer_kind = Layer

    def sanitize(self, weights: dict[str, mx.array]) -> dict[str, mx.array]:
        """Return the weights by the names used here."""
        return bert.rename_weights(weights, _PREFIXES, _TASKS, _RENAMED)
