"""Where models are found: in the stores of this machine, or where a test says."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sotto.store.records import ModelRecord

if TYPE_CHECKING:
    from sotto.store.discovery import Listing
    from sotto.store.roots import Root
    from sotto.store.watching import WatchedFolders


class Models(Protocol):
    """Where models are found. Called off the window's thread."""

    def find(self, folders: Sequence[str]) -> "Listing":
        """Return every model on this machine, also those in `folders`, and those whose disk is away."""

    def presence(self, roots: "Sequence[Root]") -> object:
        """Return something that is another one when folders that may go away have come or gone; None if none may."""

    def open(self, path: Path) -> ModelRecord:
        """Return the model at a path.

        Raises:
            SottoError: There is none.
        """

    def folders(self, roots: "Sequence[Root]") -> "WatchedFolders":
        """Return the folders that change when a model comes or goes."""

    def verify(self, record: ModelRecord, cancelled: Callable[[], bool]) -> str:
        """Compare the files of a model with their digests; return what is wrong with them, or nothing.

        Raises:
            SottoError: They cannot be compared, or it was cancelled.
        """


class StoreModels:
    """The models in the stores of this machine, as far as the engine can run them."""

    def find(self, folders: Sequence[str]) -> "Listing":
        """Return every model on this machine, also those in `folders`, and those whose disk is away."""
        from sotto.runner.catalogue import catalogue
        from sotto.store.remembered import with_absent_models

        return with_absent_models(catalogue(folders))

    def presence(self, roots: "Sequence[Root]") -> object:
        """Return something that is another one when folders that may go away have come or gone; None if none may."""
        from sotto.store.remembered import root_devices

        return root_devices(roots)

    def open(self, path: Path) -> ModelRecord:
        """Return the model at a path.

        Raises:
            SottoError: There is none.
        """
        from sotto.engine.config.supported_models import refusal
        from sotto.store.opening import record_of

        return record_of(path, judge=refusal)

    def folders(self, roots: "Sequence[Root]") -> "WatchedFolders":
        """Return the folders that change when a model comes or goes."""
        from sotto.store.watching import watched_folders

        return watched_folders(roots)

    def verify(self, record: ModelRecord, cancelled: Callable[[], bool]) -> str:
        """Compare the files of a model with their digests; return what is wrong with them, or nothing.

        Raises:
            SottoError: They cannot be compared, or it was cancelled.
        """
        from sotto.store.verify import verify

        report = verify(record, lambda done, total: None, cancelled)
        return " ".join(problem.message for problem in report.problems)
