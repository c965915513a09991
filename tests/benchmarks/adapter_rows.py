"""The speed of a model with an adapter, compared with that of the model alone."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import mlx.core as mx
from bench_models import Models
from hosting import Host
from peers import Rates
from rows import Row, ratio, turns

from sotto.engine.architectures import zoo
from sotto.engine.weights.low_rank import is_embedding, takes_additions, width_of

_RANK = 16
_DECODE_TARGET = 0.8


def adapter_rows(models: Models, *, quick: bool) -> Iterator[Row]:
    """Compare a model with an addition to all of its linear layers with the same model without."""
    model = models.get("smollm2-135m" if quick else "llama-3.2-1b", "4bit")
    rounds, tokens, prompt = (1, 16, 128) if quick else (5, 48, 512)
    adapter = _write(models.folder / "adapter", model.config)
    with ExitStack() as stack:
        hosts = {
            name: stack.enter_context(Host(model.folder, adapters=adapters))
            for name, adapters in (("alone", ()), ("with", (adapter,)))
        }

        def rates(host: Host) -> Rates:
            host.forget()
            return Rates(host.prefill(prompt), host.decode(tokens))

        found = turns(rounds, **{name: lambda host=host: rates(host) for name, host in hosts.items()})
        for at, (what, limit) in enumerate((("prefill", None), ("decode", None if quick else _DECODE_TARGET))):
            name = f"{model.name}: {what}, with an adapter of rank {_RANK} / alone"
            yield ratio(name, [each[at] for each in found["with"]], [each[at] for each in found["alone"]], limit)


def _write(folder: Path, config) -> Path:
    """Write an adapter for all linear layers of a model, and return its folder."""
    folder.mkdir()
    model, _ = zoo.build(config)
    tensors = {}
    for path, layer in model.named_modules():
        if ".layers." in path and takes_additions(layer) and not is_embedding(layer):
            rows, columns = width_of(layer)
            tensors[f"{path}.lora_a"] = 0.01 * mx.random.normal((columns, _RANK))
            tensors[f"{path}.lora_b"] = 0.01 * mx.random.normal((_RANK, rows))
    mx.save_safetensors(str(folder / "adapters.safetensors"), tensors)
    said = {"lora_parameters": {"rank": _RANK, "scale": 1.0, "dropout": 0.0}}
    (folder / "adapter_config.json").write_text(json.dumps(said), encoding="utf-8")
    return folder
