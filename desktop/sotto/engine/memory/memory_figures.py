"""What the engine says about memory: what is held, and what a model would need."""

from dataclasses import dataclass

from sotto.engine.memory.memory_needs import ModelNeeds


@dataclass(frozen=True, slots=True)
class ModelFigures:
    """What one loaded model holds, in bytes.

    Attributes:
        seat: Where it is loaded; see `sotto.runner.loop`.
        weights: Its weights, and those of its draft model.
        cache: Everything computed for contexts: of answers under way, and kept for later prompts.
        live: What of `cache` belongs to answers under way.
    """

    seat: str
    weights: int
    cache: int
    live: int


@dataclass(frozen=True, slots=True)
class MemoryFigures:
    """What MLX holds, in bytes.

    Attributes:
        weights: The weights of all loaded models, and those of their draft models.
        cache: Everything computed for contexts: of answers under way, and kept for later prompts.
        active: All live arrays.
        pool: Freed buffers that MLX keeps for reuse.
        peak: The most that was ever active since the last load.
        budget: The most that `cache` may be now.
        live: What of `cache` belongs to answers under way, and is not given up before they end.
        models: The same of each model by itself.
    """

    weights: int
    cache: int
    active: int
    pool: int
    peak: int
    budget: int = 0
    live: int = 0
    models: tuple[ModelFigures, ...] = ()

    @property
    def held(self) -> dict[str, int]:
        """What each model holds, by its seat."""
        return {model.seat: model.weights + model.cache for model in self.models}


@dataclass(frozen=True, slots=True)
class Measured:
    """What a model that need not be loaded needs in memory.

    Attributes:
        digest: The record's digest.
        needs: What it needs; None when that could not be found out.
        reason: Why not, in one sentence; empty when it could.
        device: What computes here: `cpu`, `metal` or `cuda`.
        device_total: Bytes that a graphics processor can work with; 0 where the processor itself computes.
        usual_context: Tokens of context that its own options ask for; None when they do not.
    """

    digest: str
    needs: ModelNeeds | None
    reason: str = ""
    device: str = "cpu"
    device_total: int = 0
    usual_context: int | None = None
