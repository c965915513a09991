"""Errors that a person may read.

Every message is one sentence that names the file or field, what is wrong and what would be right::

    SottoError
    ├── StoreError
    │   ├── InvalidNameError        a name that can never name a model
    │   ├── ModelNotFoundError      a good name, and nothing there
    │   ├── BrokenModelError        a file of the model is missing, damaged or lies
    │   └── DownloadError           a registry, the way to it or the disk keeps a model from coming
    └── EngineError
        ├── UnsupportedModelError   whole and well-formed, but the engine cannot compute it right
        │   └── NoRoomError         memory is too short for it as it is now
        ├── InvalidRequestError     an option, prompt or message that cannot be honoured
        ├── FaultError              nothing that was asked is wrong: the engine itself failed
        │   └── ProcessEndedError   the process that computed is gone, and nobody asked it to go
        └── CancelledError          somebody asked to stop; never shown as a failure

Anything else that is raised is a bug in Sotto.
"""

NO_MODEL = "No model is loaded: load one before asking it."
NOTHING_TO_COUNT_FOR = "No model is loaded: load one before anything is counted."


class SottoError(Exception):
    """Base of all errors whose text is written for people."""

    @property
    def message(self) -> str:
        """The sentence itself."""
        return str(self)


class StoreError(SottoError):
    """Something on disk cannot be read as a model."""


class InvalidNameError(StoreError):
    """A text is no model name."""


class ModelNotFoundError(StoreError):
    """No model of that name is in any store."""


class BrokenModelError(StoreError):
    """A model's files are missing, damaged or contradict each other."""


class DownloadError(StoreError):
    """A model cannot be downloaded now; what is here of it stays."""


class EngineError(SottoError):
    """Loading or generating failed."""


class UnsupportedModelError(EngineError):
    """The model is whole, but this engine cannot run it correctly."""


class NoRoomError(UnsupportedModelError):
    """Memory is too short for the model as it is now.

    Attributes:
        missing: Bytes that it would take more than there are.
    """

    def __init__(self, message: str, missing: int) -> None:
        """Say it in a sentence, and in bytes."""
        super().__init__(message)
        self.missing = missing


class InvalidRequestError(EngineError):
    """A request cannot be honoured as it stands."""


class FaultError(EngineError):
    """The engine itself failed, whatever was asked.

    Attributes:
        details: More for a bug report, as a traceback or what a process said of errors; may be empty.
    """

    def __init__(self, message: str, details: str = "") -> None:
        """Say why."""
        super().__init__(message)
        self.details = details


class ProcessEndedError(FaultError):
    """The engine's process ended by itself."""


class CancelledError(EngineError):
    """The work was stopped on request."""
