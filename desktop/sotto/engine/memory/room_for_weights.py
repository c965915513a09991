"""How much memory of this machine is for the weights of a model that is not here yet."""

from sotto.engine.memory.system_memory import SystemMemory

# The rest is for contexts, and for what the system and other programs need at the same time.
_SHARE = 0.7


def room_for_weights() -> int | None:
    """Return how many bytes of weights fit into the memory beside a context; None if the system does not tell."""
    total = SystemMemory().limits().total
    return None if total is None else int(total * _SHARE)
