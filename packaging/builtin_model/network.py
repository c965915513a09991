"""The network in PyTorch: a Llama with tied embeddings and the parameter names of public checkpoints."""

import torch
from torch import Tensor, nn
from torch.nn import functional

# Without dropout the network memorizes the wordings and distinguishes new ones less well.
DROPOUT = 0.1
CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "attention_bias": False,
    "attention_dropout": 0.0,
    "head_dim": 64,
    "hidden_act": "silu",
    "hidden_size": 256,
    "initializer_range": 0.02,
    "intermediate_size": 704,
    "max_position_embeddings": 4096,
    "mlp_bias": False,
    "model_type": "llama",
    "num_attention_heads": 4,
    "num_hidden_layers": 4,
    "num_key_value_heads": 4,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "tie_word_embeddings": True,
    "torch_dtype": "float32",
}


class Attention(nn.Module):
    """Attention with rotary positions."""

    def __init__(self) -> None:
        super().__init__()
        width, self.size = CONFIG["hidden_size"], CONFIG["head_dim"]
        self.q_proj = nn.Linear(width, CONFIG["num_attention_heads"] * self.size, bias=False)
        self.k_proj = nn.Linear(width, CONFIG["num_attention_heads"] * self.size, bias=False)
        self.v_proj = nn.Linear(width, CONFIG["num_attention_heads"] * self.size, bias=False)
        self.o_proj = nn.Linear(CONFIG["num_attention_heads"] * self.size, width, bias=False)

    def forward(self, x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
        """Compute causal attention over x [rows, length, width]."""
        rows, length, _ = x.shape
        query, key, value = (
            p(x).view(rows, length, -1, self.size).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj)
        )
        query, key = _rotate(query, cosine, sine).to(value.dtype), _rotate(key, cosine, sine).to(value.dtype)
        # Not fused: for rows as short as ours this is several times faster on a CPU than the fused kernel.
        future = torch.full((length, length), float("-inf"), dtype=query.dtype).triu(1)
        weights = torch.softmax(query @ key.transpose(-1, -2) * self.size**-0.5 + future, -1)
        return self.o_proj((weights.to(value.dtype) @ value).transpose(1, 2).reshape(rows, length, -1))


def _rotate(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    first, second = x.chunk(2, -1)
    return x * cosine + torch.cat((-second, first), -1) * sine


class FeedForward(nn.Module):
    """SwiGLU."""

    def __init__(self) -> None:
        super().__init__()
        width, inner = CONFIG["hidden_size"], CONFIG["intermediate_size"]
        self.gate_proj = nn.Linear(width, inner, bias=False)
        self.up_proj = nn.Linear(width, inner, bias=False)
        self.down_proj = nn.Linear(inner, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(functional.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    """One decoder layer."""

    def __init__(self) -> None:
        super().__init__()
        self.self_attn, self.mlp = Attention(), FeedForward()
        self.input_layernorm = nn.RMSNorm(CONFIG["hidden_size"], CONFIG["rms_norm_eps"])
        self.post_attention_layernorm = nn.RMSNorm(CONFIG["hidden_size"], CONFIG["rms_norm_eps"])

    def forward(self, x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
        x = x + self._dropout(self.self_attn(self.input_layernorm(x), cosine, sine))
        return x + self._dropout(self.mlp(self.post_attention_layernorm(x)))

    def _dropout(self, x: Tensor) -> Tensor:
        """Drop features in training, the same ones at all positions of a row, which needs few random numbers."""
        if not self.training:
            return x
        kept = torch.rand(x.shape[0], 1, x.shape[2]) >= DROPOUT
        return x * (kept.to(x.dtype) / (1 - DROPOUT))


class Network(nn.Module):
    """The decoder: `hidden` computes the final states, `logits` their products with the embeddings."""

    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(vocabulary, CONFIG["hidden_size"])
        self.layers = nn.ModuleList(Layer() for _ in range(CONFIG["num_hidden_layers"]))
        self.norm = nn.RMSNorm(CONFIG["hidden_size"], CONFIG["rms_norm_eps"])
        for name, parameter in self.named_parameters():
            if parameter.ndim == 2:
                residual = name.endswith(("o_proj.weight", "down_proj.weight"))
                nn.init.normal_(parameter, std=0.02 / ((2 * CONFIG["num_hidden_layers"]) ** 0.5 if residual else 1))

    def hidden(self, ids: Tensor) -> Tensor:
        """Return the final states [rows, length, width] of ids [rows, length]."""
        size = CONFIG["head_dim"]
        frequency = CONFIG["rope_theta"] ** (-torch.arange(0, size, 2, dtype=torch.float32) / size)
        angle = torch.outer(torch.arange(ids.shape[1], dtype=torch.float32), frequency).repeat(1, 2)
        x = self.embed_tokens(ids)
        for layer in self.layers:
            x = layer(x, angle.cos(), angle.sin())
        return self.norm(x)

    def logits(self, hidden: Tensor) -> Tensor:
        return functional.linear(hidden, self.embed_tokens.weight)
