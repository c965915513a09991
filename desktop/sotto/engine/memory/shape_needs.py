"""The memory needs of a model that is not on this machine, from the shapes in its config. Does not import MLX.

Caches are counted as `sotto.engine.footprint` counts them from the model itself, to the byte. The work memory is fitted
to what it finds by tracing: tests compare both for every model that Sotto suggests. A config may come from the network,
so it is only read, and nothing is built from it.
"""

from collections.abc import Mapping
from typing import Any

from sotto.engine.memory.memory_needs import CacheKind, CacheNeed, ModelNeeds, WorkPoint

# Model types whose layers all have keys and values for each token, or for those of a window.
_KNOWN = frozenset(
    """
    cohere gemma gemma3 gemma3_text glm4 gpt_oss granite llama ministral3 mistral mixtral olmo2 phi3 qwen2 qwen3
    qwen3_moe smollm3 starcoder2
    """.split()
)
# Of these, layers with a window whatever `layer_types` says.
_WINDOWED = frozenset({"mistral", "mixtral", "phi3", "starcoder2"})
_WINDOW_KEY = "sliding_window"
_WINDOW_OF_OLD_CONFIGS = {"mistral": 4096}
# Caches of a window grow in steps; they hold a quarter more tokens, so that these are seldom moved, and some beyond.
_STEP, _BEYOND = 256, 64
# Numbers that computing holds for a token at a time, for each channel: between the matrices of the feed-forward part,
# around them, and where one matrix computes the inputs of several.
_INNER, _OUTER, _FUSED_OUTER = 12, 18, 25
# How often the keys and values of a whole context are held while the buffers of layers grow one after the other; where
# layers with a window are between them, once.
_COPIES = 3
# How often layers with a window hold the keys and values of the tokens that are fed.
_FED_COPIES = 26
_CHUNK = 2048
_MAX_LAYERS, _MAX_SIZE, _MAX_CONTEXT = 4096, 1 << 24, 1 << 31


def shape_needs(config: Mapping[str, Any], weight_bytes: int, number_bytes: int) -> ModelNeeds:
    """Return the needs of a model, as far as its config tells.

    Args:
        config: The content of its `config.json`, which need not be complete or true.
        weight_bytes: Bytes of its weights.
        number_bytes: Bytes of a number while computing: 4 on a CPU, 2 elsewhere.
    """
    body = config.get("text_config")
    shapes = _Shapes(body if isinstance(body, Mapping) else config)
    longest = shapes.number("max_position_embeddings", _MAX_CONTEXT)
    layers = _caches(shapes, number_bytes) if shapes.known else None
    if layers is None:
        return ModelNeeds(weight_bytes, 0, None, (), longest, unknown="its shapes are not known.")
    work = _work(shapes, layers, longest or _CHUNK, number_bytes)
    table = (shapes.number("vocab_size") or 0) * (shapes.number("hidden_size") or 0)
    return ModelNeeds(weight_bytes, min(table, weight_bytes), layers, work, longest)


class _Shapes:
    """Reads numbers of a config, of which none is taken on trust."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.config = config
        self.kind = config.get("model_type")
        self.known = isinstance(self.kind, str) and self.kind in _KNOWN

    def number(self, key: str, most: int = _MAX_SIZE) -> int | None:
        """Return a whole number above 0; None if there is none, or a larger one than any model has."""
        value = self.config.get(key)
        return value if type(value) is int and 0 < value <= most else None

    @property
    def heads(self) -> tuple[int, int, int] | None:
        """The numbers of query heads and of key heads, and the channels of each; None if they are not known."""
        heads, width = self.number("num_attention_heads"), self.number("hidden_size")
        if heads is None or width is None:
            return None
        return heads, self.number("num_key_value_heads") or heads, self.number("head_dim") or width // heads

    def window_of(self, layer: int) -> int | None:
        """Return the tokens that a layer sees; None for all."""
        window = self.number(_WINDOW_KEY)
        if window is None and _WINDOW_KEY not in self.config:
            window = _WINDOW_OF_OLD_CONFIGS.get(str(self.kind))
        if window is None or self.config.get("use_sliding_window") is False:
            return None
        types = self.config.get("layer_types")
        if isinstance(types, list) and layer < len(types):
            return window if types[layer] == "sliding_attention" else None
        if self.kind == "gpt_oss":
            return None if layer % 2 else window
        pattern = self.number("sliding_window_pattern") or self.number("_sliding_window_pattern")
        if pattern is not None:
            return window if (layer + 1) % pattern else None
        return window if self.kind in _WINDOWED else None


def _caches(shapes: _Shapes, number_bytes: int) -> tuple[CacheNeed, ...] | None:
    count, heads = shapes.number("num_hidden_layers", _MAX_LAYERS), shapes.heads
    if count is None or heads is None:
        return None
    _, keys, channels = heads
    per_token = 2 * keys * channels * number_bytes
    full = CacheNeed(CacheKind.FULL, per_token)
    windows = [shapes.window_of(layer) for layer in range(count)]
    return tuple(full if window is None else _sliding(per_token, window) for window in windows)


def _sliding(per_token: int, window: int) -> CacheNeed:
    most = -(-(window + window // 4 + _BEYOND) // _STEP) * _STEP
    return CacheNeed(CacheKind.SLIDING, per_token, 0, most, _STEP)


def _work(shapes: _Shapes, layers: tuple[CacheNeed, ...], longest: int, number_bytes: int) -> tuple[WorkPoint, ...]:
    heads = shapes.heads
    assert heads is not None
    width = max(shapes.number("hidden_size") or 0, heads[0] * heads[2])
    inner = shapes.number("intermediate_size") or 0
    # Of experts, as many as compute a token.
    used = shapes.number("num_experts_per_tok")
    if used is not None:
        inner = used * (shapes.number("moe_intermediate_size") or inner)
        width += used * (shapes.number("hidden_size") or 0) // 9
    fused = shapes.kind == "phi3"
    per_token = number_bytes * ((2 if fused else 1) * _INNER * inner + (_FUSED_OUTER if fused else _OUTER) * width)
    by_window = {layer.window is not None: layer.bytes_per_token or 0 for layer in layers}
    growing = by_window.get(False, 0) * (1 if True in by_window else _COPIES)
    per_token += by_window.get(True, 0) * _FED_COPIES
    chunks = sorted({1, min(_CHUNK, longest)})
    return tuple(
        WorkPoint(chunk, context, chunk * per_token + context * growing)
        for chunk in chunks
        for context in sorted({chunk, longest})
    )
