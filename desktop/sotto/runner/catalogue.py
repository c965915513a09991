"""The models on this machine, each judged by what the engine can run."""

from collections.abc import Sequence

from sotto.engine.config.supported_models import refusal
from sotto.store.chosen_folders import chosen_folders
from sotto.store.discovery import Listing, discover
from sotto.store.opening import resolve
from sotto.store.records import ModelRecord
from sotto.store.roots import default_roots


def catalogue(folders: Sequence[str] | None = None) -> Listing:
    """Return every model that can be found, with the reason beside those that cannot run.

    Args:
        folders: Where to look beside the usual places; None for the folders that were added in the app.
    """
    return discover(default_roots(folders=chosen_folders() if folders is None else folders), judge=refusal)


def find(target: str) -> ModelRecord:
    """Return the model that is meant by a name, the beginning of one or of a digest, a manifest file or a folder.

    Raises:
        StoreError: There is no such model, or more than one.
    """
    return resolve(target, catalogue())
