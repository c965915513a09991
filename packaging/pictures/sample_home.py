"""A home folder with sample models, whose weight files are sparse."""

import json
import math
import struct
from pathlib import Path


def furnish(home: Path) -> dict[str, str]:
    """Put sample models into `home`, and return the environment variables that name their folders."""
    cache = home / "hub"
    for name, shape, bits in (
        ("mlx-community/Llama-3.2-3B-Instruct-4bit", SHAPES["3B"], 4),
        ("mlx-community/Llama-3.1-8B-Instruct-8bit", SHAPES["8B"], 8),
    ):
        commit = "0123456789abcdef0123456789abcdef01234567"
        folder = cache / f"models--{name.replace('/', '--')}"
        snapshot = folder / "snapshots" / commit
        snapshot.mkdir(parents=True)
        (folder / "refs").mkdir()
        (folder / "refs" / "main").write_text(commit)
        write_model(snapshot, shape, bits)
    community = home / ".lmstudio" / "models" / "lmstudio-community"
    write_model(community / "Meta-Llama-3-8B-MLX-4bit", SHAPES["8B"], 4)
    write_model(community / "Llama-33B-Instruct-MLX-4bit", SHAPES["33B"], 4)
    write_model(community / "Llama-3.3-70B-Instruct-MLX-4bit", SHAPES["70B"], 4)
    write_model(community / "Llama-3.2-1B-experiment", SHAPES["1B"], 4, config={"num_hidden_layers": 17})
    # A copy of a model in the Hugging Face cache.
    write_model(home / "disk" / "Llama-3.2-3B-Instruct-4bit", SHAPES["3B"], 4)
    write_model(home / "disk" / "Llama-3.2-1B-Instruct-4bit", SHAPES["1B"], 4)
    write_gguf(home / "ollama", "llama3.2", 2_019_377_376)
    return {"HF_HUB_CACHE": str(cache), "OLLAMA_MODELS": str(home / "ollama"), "SOTTO_FOLDERS": str(home / "disk")}


# Hidden size, layers, heads, key-value heads, intermediate size.
SHAPES = {
    "1B": (2048, 16, 32, 8, 8192),
    "3B": (3072, 28, 24, 8, 8192),
    "8B": (4096, 32, 32, 8, 14336),
    "33B": (6656, 60, 52, 4, 17920),
    "70B": (8192, 80, 64, 8, 28672),
}
VOCABULARY = 128_256


def write_model(
    folder: Path, shape: tuple[int, int, int, int, int], bits: int, config: dict[str, int] | None = None
) -> None:
    """Write a model folder that looks like a Llama, with a sparse weight file.

    Args:
        folder: The folder to create.
        shape: One of `SHAPES`.
        bits: Bits of the quantized weights.
        config: Values that override those of `config.json`.
    """
    hidden, layers, heads, groups, inner = shape
    folder.mkdir(parents=True, exist_ok=True)
    written = {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": groups,
        "intermediate_size": inner,
        "vocab_size": VOCABULARY,
        "rms_norm_eps": 1e-5,
        "rope_theta": 500_000.0,
        "max_position_embeddings": 131_072,
        "tie_word_embeddings": True,
        "quantization": {"group_size": 64, "bits": bits},
    }
    (folder / "config.json").write_text(json.dumps(written | (config or {})))
    (folder / "tokenizer.json").write_text("{}")
    (folder / "tokenizer_config.json").write_text("{}")
    header: dict[str, object] = {}
    end = 0

    def add(name: str, dtype: str, shape: tuple[int, ...], width: int) -> None:
        nonlocal end
        begin, end = end, end + math.prod(shape) * width
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}

    def add_matrix(name: str, rows: int, columns: int) -> None:
        add(f"{name}.weight", "U32", (rows, columns * bits // 32), 4)
        add(f"{name}.scales", "BF16", (rows, columns // 64), 2)
        add(f"{name}.biases", "BF16", (rows, columns // 64), 2)

    add_matrix("model.embed_tokens", VOCABULARY, hidden)
    for number in range(layers):
        layer = f"model.layers.{number}"
        for name, rows in (("q", heads), ("k", groups), ("v", groups), ("o", heads)):
            add_matrix(f"{layer}.self_attn.{name}_proj", hidden // heads * rows, hidden)
        add_matrix(f"{layer}.mlp.gate_proj", inner, hidden)
        add_matrix(f"{layer}.mlp.up_proj", inner, hidden)
        add_matrix(f"{layer}.mlp.down_proj", hidden, inner)
        for norm in ("input_layernorm", "post_attention_layernorm"):
            add(f"{layer}.{norm}.weight", "BF16", (hidden,), 2)
    add("model.norm.weight", "BF16", (hidden,), 2)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with (folder / "model.safetensors").open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + end)


def write_gguf(store: Path, name: str, size: int) -> None:
    """Write an Ollama store with a GGUF model of `size` bytes."""
    blobs = store / "blobs"
    blobs.mkdir(parents=True)
    digest, config = "b" * 64, "c" * 64
    (blobs / f"sha256-{config}").write_text(
        json.dumps({"model_format": "gguf", "model_family": "llama", "model_type": "3.2B", "file_type": "Q4_K_M"})
    )
    with (blobs / f"sha256-{digest}").open("wb") as file:
        file.write(b"GGUF")
        file.truncate(size)
    manifest = store / "manifests" / "registry.ollama.ai" / "library" / name
    manifest.mkdir(parents=True)
    kind = "application/vnd.ollama.image.model"
    docker = "application/vnd.docker"
    (manifest / "3b").write_text(
        json.dumps(
            {
                "schemaVersion": 2,
                "mediaType": f"{docker}.distribution.manifest.v2+json",
                "config": {
                    "mediaType": f"{docker}.container.image.v1+json",
                    "digest": f"sha256:{config}",
                    "size": (blobs / f"sha256-{config}").stat().st_size,
                },
                "layers": [{"mediaType": kind, "digest": f"sha256:{digest}", "size": size}],
            }
        )
    )
