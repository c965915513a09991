"""The models on this machine, each with whether the engine can run it."""

from collections.abc import Sequence

from sotto.engine.config.supported_models import refusal
from sotto.store.chosen_folders import chosen_folders
from sotto.store.discovery import Listing, discover
from sotto.store.opening import resolve
from sotto.store.records import ModelRecord
from sotto.store.roots import default_roots


def catalogue(folders: Sequence[str] | None = None) -> Listing:
    """Return every model found, with the reason for those that cannot run.

    Args:
        folders: Folders to search in addition to the default ones; None for those added in the app.
    """
    return discover(default_roots(folders=chosen_folders() if folders is None else folders), judge=refusal)


def find(target: str) -> ModelRecord:
    """Return the model given by a name or digest, a prefix of either, a manifest file or a folder.

    Raises:
        StoreError: No model matches, or more than one does.
    """
    return resolve(target, catalogue())
