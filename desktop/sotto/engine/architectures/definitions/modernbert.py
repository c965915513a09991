"""ModernBERT: an encoder with rotary positions, gates, and layers of which two of three see only a window.

As in "Smarter, Better, Faster, Longer" (arXiv 2412.13663): layers normalise what they take instead of their sums; the
first one takes the normalised embeddings as they are. Positions of layers with a window rotate faster.
"""

import re
from dataclasses import dataclass

import mlx.core as mx
from mlx import nn

from sotto.engine.architectures.definitions import bert
from sotto.engine.architectures.definitions.activation import activation
from sotto.engine.architectures.definitions.nomic_bert import attend

_PREFIXES = re.compile(r"model\.")
_TASKS = ("head.", "decoder.")
_RENAMED = (
    (re.compile(r"^embeddings\.tok_embeddings\."), "embeddings.word_embeddings."),
    (re.compile(r"\.attn\.Wqkv\."), ".qkv."),
    (re.compile(r"\.attn\.Wo\."), ".out."),
    (re.compile(r"\.attn_norm\."), ".attention_norm."),
    (re.compile(r"\.mlp\.Wi\."), ".up."),
    (re.compile(r"\.mlp\.Wo\."), ".down."),
    (re.compile(r"\.mlp_norm\."), ".output_norm."),
)


@dataclass
class ModelArgs(bert.EncoderArgs):
    """The keys of `config.json` that are read."""

    max_position_embeddings: int = 8192
    norm_eps: float = 1e-5
    norm_bias: bool = False
    attention_bias: bool = False
    mlp_bias: bool = False
    hidden_activation: str = "gelu"
    local_attention: int = 128
    global_attn_every_n_layers: int = 3
    layer_types: list[str] | None = None
    rope_theta: float = 160_000.0
    rope_local_base_freq: float = 10_000.0

    @property
    def longest(self) -> int:
        """The most tokens that a text may have."""
        return self.max_position_embeddings

    def is_windowed(self, layer: int) -> bool:
        """Return whether a layer sees only a window."""
        if self.layer_types is not None:
            return self.layer_types[layer] == "sliding_attention"
        return layer % self.global_attn_every_n_layers != 0


class Embeddings(nn.Module):  # type: ignore[misc]
    """The normalised embeddings of tokens."""

    def __init__(self, args: ModelArgs) -> None:
        """Build the module without its weights."""
        super().__init__()
        self.word_embeddings = nn.Embedding(args.vocab_size, args.hidden_size)
        self.norm = nn.LayerNorm(args.hidden_size, eps=args.norm_eps, bias=args.norm_bias)

    def __call__(self, tokens: mx.array) -> mx.array:
        """Return vectors [B, L, D] for tokens [B, L]."""
        vectors: mx.array = self.norm(self.word_embeddings(tokens))
        return vectors


class Layer(nn.Module):  # type: ignore[misc]
    """Attention, followed by the feed-forward part."""

    def __init__(self, args: ModelArgs, number: int) -> None:
        """Build layer `number` without its weights.

        Raises:
            ValueError: The hidden size is not a multiple of twice the number of heads.
        """
        super().__init__()
        if args.hidden_size % (2 * args.num_attention_heads):
            raise ValueError(
                f"hidden_size {args.hidden_size} cannot be split into {args.num_attention_heads} heads of two halves"
            )
        if number:
            self.attention_norm = nn.LayerNorm(args.hidden_size, eps=args.norm_eps, bias=args.norm_bias)
        self.qkv = nn.Linear(args.hidden_size, 3 * args.hidden_size, bias=args.attention_bias)
        self.out = nn.Linear(args.hidden_size, args.hidden_size, bias=args.attention_bias)
        self.output_norm = nn.LayerNorm(args.hidden_size, eps=args.norm_eps, bias=args.norm_bias)
        self.up = nn.Linear(args.hidden_size, 2 * args.intermediate_size, bias=args.mlp_bias)
        self.down = nn.Linear(args.intermediate_size, args.hidden_size, bias=args.mlp_bias)
        self.is_windowed = args.is_windowed(number)
        base = args.rope_local_base_freq if self.is_windowed else args.rope_theta
        self.rope = nn.RoPE(args.hidden_size // args.num_attention_heads, base=base)
        self._heads = args.num_attention_heads
        self._activation = activation(args.hidden_activation)

    def __call__(self, x: mx.array, mask: mx.array | None) -> mx.array:
        """Return the result [B, L, D] for `x` [B, L, D]; `mask` is true where a token sees another."""
        normed = self.attention_norm(x) if "attention_norm" in self else x
        x = x + self.out(attend(self.qkv(normed), self._heads, self.rope, mask))
        taken, gate = mx.split(self.up(self.output_norm(x)), 2, axis=-1)
        output: mx.array = x + self.down(self._activation(taken) * gate)
        return output


class Model(nn.Module):  # type: ignore[misc]
    """An encoder."""

    def __init__(self, args: ModelArgs) -> None:
        """Build the module without its weights.

        Raises:
            ValueError: There is no position for a token.
        """
        super().__init__()
        if args.longest < 1:
            raise ValueError(f"max_position_embeddings {args.max_position_embeddings} leaves no position for a token")
        self.args = args
        self.embeddings = Embeddings(args)
        self.layers = [Layer(args, number) for number in range(args.num_hidden_layers)]
        self.final_norm = nn.LayerNorm(args.hidden_size, eps=args.norm_eps, bias=args.norm_bias)

    def __call__(self, tokens: mx.array, mask: mx.array | None = None) -> mx.array:
        """Return the last hidden states [B, L, D].

        Args:
            tokens: [B, L]; each row is a text, padded at its end.
            mask: [B, L], true where there is a token; None if nothing is padded.
        """
        places = mx.arange(tokens.shape[1])
        # A window reaches as far to both sides.
        near = (mx.abs(places[:, None] - places) <= self.args.local_attention // 2)[None, None]
        whole = None if mask is None else mask[:, None, None, :]
        windowed = near if whole is None else near & whole
        x: mx.array = self.embeddings(tokens)
        for layer in self.layers:
            x = layer(x, windowed if layer.is_windowed else whole)
        normed: mx.array = self.final_norm(x)
        return normed

    def sanitize(self, weights: dict[str, mx.array]) -> dict[str, mx.array]:
        """Return the weights by the names used here."""
        return bert.rename_weights(weights, _PREFIXES, _TASKS, _RENAMED)
