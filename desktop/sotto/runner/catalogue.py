"""The models on this machine, each judged by what the engine can run."""

from sotto.engine.support import refusal
from sotto.store.discovery import Listing, discover


def catalogue() -> Listing:
    """Return every model that can be found, with the reason beside those that cannot run."""
    return discover(judge=refusal)
