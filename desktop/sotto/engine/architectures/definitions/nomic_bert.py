"""Nomic BERT: an encoder like BERT, with rotary positions and a gate, and without biases.

As in "Nomic Embed" (arXiv 2402.01613): rotary positions replace the learned ones, and the feed-forward part has three
matrices, one of them a gate (SwiGLU). Two sets of names are in use: those of transformers, and those of the first
checkpoints, which keep queries, keys and values in a single matrix.
"""

import re
from dataclasses import dataclass

import mlx.core as mx
from mlx import nn

from sotto.engine.architectures.definitions import bert

_PREFIXES = re.compile(r"(nomic_bert|bert)\.")
_TASKS = ("pooler.", "cls.", "lm_head.")
_RENAMED = (
    (re.compile(r"^encoder\.layers\."), "layers."),
    (re.compile(r"^emb_ln\."), "embeddings.norm."),
    (re.compile(r"^embeddings\.LayerNorm\."), "embeddings.norm."),
    (re.compile(r"\.(?:self_attn\.o_proj|attn\.out_proj)\."), ".out."),
    (re.compile(r"\.(?:post_attention_layernorm|norm1)\."), ".attention_norm."),
    (re.compile(r"\.(?:post_mlp_layernorm|norm2)\."), ".output_norm."),
    (re.compile(r"\.mlp\.(?:up_proj|fc11)\."), ".up."),
    (re.compile(r"\.mlp\.(?:gate_proj|fc12)\."), ".gate."),
    (re.compile(r"\.mlp\.(?:down_proj|fc2)\."), ".down."),
    (re.compile(r"\.attn\.Wqkv\."), ".qkv."),
)
_SEPARATE_QUERIES = re.compile(r"(.+)\.self_attn\.q_proj\.(\w+)")


@dataclass
class ModelArgs(bert.EncoderArgs):
    """The keys of `config.json` that are read."""

    max_position_embeddings: int = 2048
    type_vocab_size: int = 2
    layer_norm_eps: float = 1e-12
    rope_theta: float = 1000.0

    @property
    def longest(self) -> int:
        """The most tokens that a text may have."""
        return self.max_position_embeddings


class Embeddings(nn.Module):  # type: ignore[misc]
    """The normalised sum of the embeddings of a token and its segment."""

    def __init__(self, args: ModelArgs) -> None:
        """Build the module without its weights."""
        super().__init__()
        self.word_embeddings = nn.Embedding(args.vocab_size, args.hidden_size)
        if args.type_vocab_size:
            self.token_type_embeddings = nn.Embedding(args.type_vocab_size, args.hidden_size)
        self.norm = nn.LayerNorm(args.hidden_size, eps=args.layer_norm_eps)

    def __call__(self, tokens: mx.array) -> mx.array:
        """Return vectors [B, L, D] for tokens [B, L]."""
        vectors = self.word_embeddings(tokens)
        if "token_type_embeddings" in self:
            vectors = vectors + self.token_type_embeddings(mx.array([0]))
        normed: mx.array = self.norm(vectors)
        return normed


def attend(qkv: mx.array, heads: int, rope: nn.RoPE, mask: mx.array | None) -> mx.array:
    """Return what each token sees [B, L, D].

    Args:
        qkv: Queries, keys and values [B, L, 3 x D].
        heads: Number of heads.
        rope: Rotates queries and keys by their positions.
        mask: True where a token sees another.
    """
    batch, length, width = qkv.shape
    queries, keys, values = (
        part.reshape(batch, length, heads, -1).transpose(0, 2, 1, 3) for part in mx.split(qkv, 3, axis=-1)
    )
    scale = (width // 3 // heads) ** -0.5
    seen: mx.array = mx.fast.scaled_dot_product_attention(rope(queries), rope(keys), values, scale=scale, mask=mask)
    return seen.transpose(0, 2, 1, 3).reshape(batch, length, width // 3)


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
        self.qkv = nn.Linear(args.hidden_size, 3 * args.hidden_size, bias=False)
        self.out = nn.Linear(args.hidden_size, args.hidden_size, bias=False)
        self.attention_norm = nn.LayerNorm(args.hidden_size, eps=args.layer_norm_eps)
        self.up = nn.Linear(args.hidden_size, args.intermediate_size, bias=False)
        self.gate = nn.Linear(args.hidden_size, args.intermediate_size, bias=False)
        self.down = nn.Linear(args.intermediate_size, args.hidden_size, bias=False)
        self.output_norm = nn.LayerNorm(args.hidden_size, eps=args.layer_norm_eps)
        self.rope = nn.RoPE(args.hidden_size // args.num_attention_heads, base=args.rope_theta)
        self._heads = args.num_attention_heads

    def __call__(self, x: mx.array, mask: mx.array | None) -> mx.array:
        """Return the result [B, L, D] for `x` [B, L, D]; `mask` [B, 1, 1, L] is true where there is a token."""
        x = self.attention_norm(x + self.out(attend(self.qkv(x), self._heads, self.rope, mask)))
        output: mx.array = self.output_norm(x + self.down(nn.silu(self.gate(x)) * self.up(x)))
        return output


class Model(bert.Model):
    """An encoder."""

    embeddings_kind = Embeddings
    layer_kind = Layer

    def sanitize(self, weights: dict[str, mx.array]) -> dict[str, mx.array]:
        """Return the weights by the names used here, with queries, keys and values in one matrix."""
        renamed = bert.rename_weights(weights, _PREFIXES, _TASKS, _RENAMED)
        for name in [name for name in renamed if _SEPARATE_QUERIES.fullmatch(name)]:
            parts = [renamed.pop(name.replace("q_proj", f"{part}_proj")) for part in "qkv"]
            renamed[_SEPARATE_QUERIES.sub(r"\1.qkv.\2", name)] = mx.concatenate(parts)
        return renamed
