"""Random heads for multi-token prediction and their logits, for `make_references.py`.

transformers has no such heads. They are put together here from the formula that vLLM computes, and a model of the same
family with a single layer, which transformers computes, in place of the head's layer and last norm:

- `predicted`: row t is the logits for token t + 2, from the hidden state after token t and the embedding of the next;
- `chained`: the logits of the steps after the first `START` rows of `predicted`, each from the head's own hidden state
  before and the embedding of the next token of the prompt.
"""

import copy
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

SEED = 20261124
START, STEPS = 20, 4
ONE_LAYER: Mapping[str, Any] = {
    "num_hidden_layers": 1,
    "first_k_dense_replace": 0,
    "layer_types": ["full_attention"],
    "mlp_layer_types": ["sparse"],
}
# Where each family's checkpoints hold the parts of a head. `{}` is the number of the first layer that is not counted.
_DEEPSEEK: Mapping[str, str] = {
    "fc": "model.layers.{}.eh_proj.weight",
    "embedding": "model.layers.{}.enorm.weight",
    "hidden": "model.layers.{}.hnorm.weight",
    "norm": "model.layers.{}.shared_head.norm.weight",
    "layer": "model.layers.{}.",
    "head": "model.layers.{}.shared_head.head.weight",
    "embed": "model.layers.{}.embed_tokens.weight",
}
_QWEN: Mapping[str, str] = {
    "fc": "mtp.fc.weight",
    "embedding": "mtp.pre_fc_norm_embedding.weight",
    "hidden": "mtp.pre_fc_norm_hidden.weight",
    "norm": "mtp.norm.weight",
    "layer": "mtp.layers.0.",
}
LAYOUTS: Mapping[str, Mapping[str, str]] = {
    "deepseek-v3-mtp": _DEEPSEEK,
    "glm4-moe-mtp": _DEEPSEEK,
    "glm4-moe-lite-mtp": _DEEPSEEK,
    "qwen3-next-mtp": _QWEN,
    "qwen3-5-mtp": _QWEN,
    "qwen3-5-moe-mtp": _QWEN,
}


@torch.no_grad()
def add_head(name: str, model: nn.Module, layer: nn.Module, folder: Path, ids: Tensor) -> dict[str, Tensor]:
    """Add a head to the model saved in `folder`, and return its logits.

    Args:
        name: The case.
        model: The model.
        layer: A model of the same family with a single layer.
        folder: Where the model is saved.
        ids: The prompt [T].
    """
    generator = torch.Generator().manual_seed(SEED)
    width = model.config.hidden_size
    for weight in layer.parameters():
        weight += 0.05 * torch.randn(weight.shape, generator=generator)
    fc = torch.randn(width, 2 * width, generator=generator) / (2 * width) ** 0.5
    norms = [copy.deepcopy(layer.model.norm) for _ in range(2)]
    for norm in norms:
        norm.weight += 0.2 * torch.randn(width, generator=generator)
    embedding, hidden = norms

    def entries(tokens: Tensor, states: Tensor) -> Tensor:
        return torch.cat([embedding(model.model.embed_tokens(tokens)), hidden(states)], dim=-1) @ fc.T

    def after(fed: Tensor) -> Tensor:
        return layer.model(inputs_embeds=fed[None], use_cache=False).last_hidden_state[0]

    states = model.model(ids[None], use_cache=False).last_hidden_state[0]
    fed = entries(ids[1:], states[:-1])
    found = {"predicted": model.lm_head(after(fed)).contiguous()}
    chain, rows = fed[:START], []
    for token in ids[START + 1 : START + 1 + STEPS]:
        chain = torch.cat([chain, entries(token[None], after(chain)[-1:])])
        rows.append(after(chain)[-1])
    found["chained"] = model.lm_head(torch.stack(rows)).contiguous()
    _save(folder, LAYOUTS[name], model, layer, {"fc": fc, "embedding": embedding.weight, "hidden": hidden.weight})
    return found


def _save(
    folder: Path, layout: Mapping[str, str], model: nn.Module, layer: nn.Module, parts: Mapping[str, Tensor]
) -> None:
    """Add the tensors of a head to a saved model, with the names of real checkpoints."""
    with tempfile.TemporaryDirectory() as temporary:
        layer.save_pretrained(temporary)
        single = load_file(Path(temporary) / "model.safetensors")
    number = model.config.num_hidden_layers
    names = {part: name.format(number) for part, name in layout.items()}
    tensors = {names[part]: tensor for part, tensor in parts.items()}
    tensors[names["norm"]] = single["model.norm.weight"]
    for name, tensor in single.items():
        if name.startswith("model.layers.0."):
            tensors[names["layer"] + name.removeprefix("model.layers.0.")] = tensor
    for part, name in (("head", "lm_head.weight"), ("embed", "model.embed_tokens.weight")):
        if part in names:
            tensors[names[part]] = load_file(folder / "model.safetensors")[name]
    whole = load_file(folder / "model.safetensors") | {name: part.contiguous() for name, part in tensors.items()}
    save_file(whole, folder / "model.safetensors", metadata={"format": "pt"})
