"""The first forward pass of a loaded model: whether it can be computed, and which caches it has."""

import json
from dataclasses import dataclass
from functools import partial

import mlx.core as mx

from sotto.engine.architectures.cache_types import PlannedKVCache
from sotto.engine.caches.caches import leaves, make_caches
from sotto.engine.caches.prefix_cache import PrefixCache
from sotto.engine.caches.prefix_disk import PrefixDisk
from sotto.engine.caches.sequence import Sequence
from sotto.engine.config.context_limit import longest_context
from sotto.engine.config.load_errors import as_load_error
from sotto.engine.contract.engine_settings import EngineSettings
from sotto.engine.kernels.cpu_linear import adapt_to_cpu
from sotto.engine.kernels.device import device
from sotto.engine.weights.loader import LoadedModel
from sotto.store.records import ModelSource


@dataclass(frozen=True, slots=True)
class FirstForward:
    """A model that was fed one token.

    Attributes:
        source: The source of the model.
        loaded: The model.
        settings: The user's choices.
        sequence: Caches that were fed the token, but not evaluated.
        rows: Width of the logits.
    """

    source: ModelSource
    loaded: LoadedModel
    settings: EngineSettings
    sequence: Sequence
    rows: int

    @property
    def keeps_states(self) -> bool:
        """Whether some caches can only be copied as a whole."""
        return bool(self.sequence.stateful)

    @property
    def longest(self) -> int | None:
        """Maximum context length of the model in tokens; None if unknown."""
        return longest_context(self.source, self.loaded.model, self.loaded.config)

    def prefix(self, budget: int, most: int) -> PrefixCache:
        """Return a prefix cache for the model, including its entries on the disk.

        Args:
            budget: Bytes that it may take in memory.
            most: Maximum tokens of a context.
        """
        return PrefixCache(partial(make_caches, self.loaded.model, self.settings.kv_bits, most), budget, self._disks())

    def _disks(self) -> tuple[PrefixDisk, ...]:
        """Return the disk tiers, one for each way in which contexts are computed; none if switched off."""
        settings, source = self.settings, self.source
        if settings.disk_root is None or not settings.disk_budget:
            return ()
        layout = [type(leaf).__name__ for leaf in leaves(self.sequence.caches)]
        # The same file can be held in several ways, which give different bits; each has a size of its own.
        held = [self.loaded.weight_bytes, self.loaded.compute_type, device()]
        parts = [source.digest, source.config, layout, settings.kv_bits, *held]
        key = json.dumps(parts, sort_keys=True, default=dict)
        ways = 2 if any(isinstance(leaf, PlannedKVCache) for leaf in self.sequence.ranged) else 1
        return tuple(PrefixDisk(settings.disk_root, f"{key} {way}", settings.disk_budget) for way in range(ways))


def first_forward(source: ModelSource, loaded: LoadedModel, settings: EngineSettings) -> FirstForward:
    """Adapt a model to the device, and feed it a token.

    Raises:
        UnsupportedModelError: It cannot be computed.
    """
    if device() == "cpu":
        adapt_to_cpu(loaded.model)
        if loaded.tower is not None:
            adapt_to_cpu(loaded.tower)
    with as_load_error(source):
        sequence = Sequence(partial(make_caches, loaded.model, settings.kv_bits))
        # Shapes are known without computing anything.
        logits = loaded.model(mx.array([[0]]), cache=sequence.caches)
    if device() != "cpu":
        # Compile the kernels now, or the first answer would wait for them. A CPU has none to compile.
        mx.eval(logits)
    return FirstForward(source, loaded, settings, sequence, logits.shape[-1])
