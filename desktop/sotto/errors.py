"""Errors whose messages are shown to people.

A message is one sentence that names the file or field, what is wrong and what would be right::

    SottoError
    ├── StoreError
    │   ├── InvalidNameError        not a valid name of a model
    │   ├── ModelNotFoundError      a valid name, but there is no such model
    │   ├── BrokenModelError        a file of the model is missing, damaged or contradicts another
    │   └── DownloadError           a registry, the network or the disk prevents a download
    └── EngineError
        ├── UnsupportedModelError   complete and well-formed, but the engine cannot run it correctly
        │   └── NoRoomError         it does not fit into memory now
        ├── InvalidRequestError     an option, prompt or message that the engine cannot honour
        ├── FaultError              the request is valid, but the engine itself failed
        │   └── ProcessEndedError   the process of the engine ended unexpectedly
        └── CancelledError          the work was stopped on request; never shown as a failure

Any other exception is a bug in Sotto.
"""

NO_MODEL = "No model is loaded: load one before asking it."
NOTHING_TO_COUNT_FOR = "No model is loaded: load one before anything is counted."


class SottoError(Exception):
    """Base of all errors whose messages are shown to people."""

    @property
    def message(self) -> str:
        """The message, one sentence."""
        return str(self)


class StoreError(SottoError):
    """Something on disk cannot be read as a model."""


class InvalidNameError(StoreError):
    """A text is not a valid name of a model."""


class ModelNotFoundError(StoreError):
    """No store has a model of that name."""


class BrokenModelError(StoreError):
    """A model's files are missing, damaged or contradict each other."""


class DownloadError(StoreError):
    """A model cannot be downloaded now; what has been downloaded is kept."""


class EngineError(SottoError):
    """Loading or generating failed."""


class UnsupportedModelError(EngineError):
    """The model is complete, but this engine cannot run it correctly."""


class NoRoomError(UnsupportedModelError):
    """The model does not fit into the memory that is available now.

    Attributes:
        missing: Bytes that it needs beyond those available.
    """

    def __init__(self, message: str, missing: int) -> None:
        """Store the message and the missing bytes."""
        super().__init__(message)
        self.missing = missing


class InvalidRequestError(EngineError):
    """A request cannot be honoured as it stands."""


class FaultError(EngineError):
    """The engine itself failed, through no fault of the request.

    Attributes:
        details: More for a bug report, such as a traceback or the stderr of a process; may be empty.
    """

    def __init__(self, message: str, details: str = "") -> None:
        """Store the message and the details."""
        super().__init__(message)
        self.details = details


class ProcessEndedError(FaultError):
    """The process of the engine ended unexpectedly."""


class CancelledError(EngineError):
    """The work was stopped on request."""
