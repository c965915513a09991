"""Where models are searched for: the stores of this machine, or a replacement in tests."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sotto.store.records import ModelRecord
from sotto.ui.state.names import join_sentences

if TYPE_CHECKING:
    from sotto.store.discovery import Listing
    from sotto.store.roots import Root
    from sotto.store.watching import WatchedFolders


class ModelSource(Protocol):
    """Searches for models. Its methods are called off the window's thread."""

    def find(self, folders: Sequence[str]) -> "Listing":
        """Return all models of this machine and of `folders`, including those on disks that are absent."""

    def devices(self, roots: "Sequence[Root]") -> Mapping[Path, int]:
        """Return the disk of each root that may disappear, 0 for a missing one."""

    def open(self, path: Path) -> ModelRecord:
        """Return the model at a path.

        Raises:
            SottoError: There is no model at this path.
        """

    def folders(self, roots: "Sequence[Root]") -> "WatchedFolders":
        """Return the folders to watch for models that are added or removed."""

    def verify(self, record: ModelRecord, cancelled: Callable[[], bool]) -> str:
        """Compare the files of a model with their digests; return what is wrong with them, or an empty string.

        Raises:
            SottoError: The files cannot be compared, or `cancelled` returned True.
        """


class StoreModels:
    """The models in the stores of this machine."""

    def find(self, folders: Sequence[str]) -> "Listing":
        """Return all models of this machine and of `folders`, including those on disks that are absent."""
        from sotto.runner.catalogue import catalogue
        from sotto.store.remembered import with_absent_models

        return with_absent_models(catalogue(folders))

    def devices(self, roots: "Sequence[Root]") -> Mapping[Path, int]:
        """Return the disk of each root that may disappear, 0 for a missing one."""
        from sotto.store.roots import root_devices

        return root_devices(roots)

    def open(self, path: Path) -> ModelRecord:
        """Return the model at a path.

        Raises:
            SottoError: There is no model at this path.
        """
        from sotto.engine.config.supported_models import refusal
        from sotto.store.opening import record_of

        return record_of(path, judge=refusal)

    def folders(self, roots: "Sequence[Root]") -> "WatchedFolders":
        """Return the folders to watch for models that are added or removed."""
        from sotto.store.watching import watched_folders

        return watched_folders(roots)

    def verify(self, record: ModelRecord, cancelled: Callable[[], bool]) -> str:
        """Compare the files of a model with their digests; return what is wrong with them, or an empty string.

        Raises:
            SottoError: The files cannot be compared, or `cancelled` returned True.
        """
        from sotto.store.verify import verify

        report = verify(record, lambda done, total: None, cancelled)
        return join_sentences(problem.message for problem in report.problems)
