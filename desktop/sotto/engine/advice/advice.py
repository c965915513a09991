"""All that would make this machine faster, in sentences."""

from collections.abc import Iterator, Sequence
from typing import Any

from sotto.engine.advice.graphics_advice import graphics_advice
from sotto.engine.advice.mac_advice import Mac, mac_advice
from sotto.engine.advice.machine import Machine
from sotto.engine.advice.memory_advice import memory_advice
from sotto.engine.advice.model_advice import model_advice
from sotto.engine.advice.processor_advice import processor_advice
from sotto.engine.kernels import device, native
from sotto.store.records import ModelRecord


def advice(records: Sequence[ModelRecord]) -> Iterator[str]:
    """Yield sentences that each say what slows this machine down and what mends it; none where nothing does.

    Args:
        records: The models on this machine.
    """
    machine, described = Machine(), device.describe()
    yield from graphics_advice(machine, described, device.cuda_distribution())
    yield from processor_advice(machine, described, native.status())
    yield from memory_advice(machine)
    yield from model_advice(machine, records, on_cpu=described.device == "cpu", kept=native.kept_modes())
    if machine.system == "darwin":
        yield from mac_advice(Mac.here(_working_set(described.device)), [record.size for record in records])


def _working_set(kind: str) -> int:
    """Return the bytes that Metal recommends to hold; 0 if something else computes."""
    import mlx.core as mx

    info: dict[str, Any] = mx.device_info() if kind == "metal" else {}
    return int(info.get("max_recommended_working_set_size", 0))
