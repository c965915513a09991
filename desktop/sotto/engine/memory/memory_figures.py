"""Values that the engine reports about memory: what is held, and what a model needs."""

from dataclasses import dataclass

from sotto.engine.memory.memory_needs import ModelNeeds


@dataclass(frozen=True, slots=True)
class ModelFigures:
    """The memory held by one loaded model, in bytes.

    Attributes:
        seat: Where it is loaded; see `sotto.runner.loop`.
        weights: Its weights, and those of its draft model.
        cache: Caches of running answers and of the prefix cache.
        live: Part of `cache` that belongs to running answers.
    """

    seat: str
    weights: int
    cache: int
    live: int


@dataclass(frozen=True, slots=True)
class MemoryFigures:
    """The memory held by MLX, in bytes.

    Attributes:
        weights: The weights of all loaded models, and those of their draft models.
        cache: Caches of running answers and of the prefix caches.
        active: All live arrays.
        pool: Freed buffers that MLX keeps for reuse.
        peak: Peak of `active` since the last load.
        budget: The present limit of `cache`.
        live: Part of `cache` that belongs to running answers, and is kept until they end.
        models: The same for each model.
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
        """The bytes held by each model, by its seat."""
        return {model.seat: model.weights + model.cache for model in self.models}


@dataclass(frozen=True, slots=True)
class Measured:
    """The memory needs of a model, loaded or not.

    Attributes:
        digest: The record's digest.
        needs: Its needs; None if they could not be determined.
        reason: Why not, in one sentence; empty if they could.
        device: The device that computes: `cpu`, `metal` or `cuda`.
        device_total: Bytes that the graphics processor can use; 0 on a CPU.
        usual_context: Context length of its own options, in tokens; None if they have none.
    """

    digest: str
    needs: ModelNeeds | None
    reason: str = ""
    device: str = "cpu"
    device_total: int = 0
    usual_context: int | None = None
