"""Conversion of errors into events with a message for the user."""

import logging
import re
import traceback

from sotto.engine.contract.events import Failed
from sotto.errors import EngineError, SottoError

_log = logging.getLogger(__name__)

# Ollama's wording, which its clients recognise; the lengths follow it.
TEXT_TOO_LONG = "the input length exceeds the context length"
OUT_OF_MEMORY = "Memory ran out; start a new chat, choose a smaller model or close other programs."

# What MLX says on a CPU, on Metal and on CUDA.
_NO_MEMORY = re.compile(r"alloc|out.?of.?memory|insufficient memory", re.IGNORECASE)


def failure_of(request_id: str, error: BaseException) -> Failed:
    """Return the event that reports `error`, which ended the request, or a load if the id is empty."""
    known = as_engine_error(error)
    if isinstance(known, SottoError):
        return Failed(request_id, known.message)
    _log.error("A request failed.", exc_info=error)
    details = "".join(traceback.format_exception(error))
    return Failed(
        request_id, f"An internal error occurred ({type(error).__name__}: {error}).", bug=True, details=details
    )


def as_engine_error(error: BaseException) -> BaseException:
    """Return an EngineError with a message for the user if memory ran out, else the error unchanged."""
    return EngineError(OUT_OF_MEMORY) if is_out_of_memory(error) else error


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error says that memory ran out."""
    if isinstance(error, EngineError):
        return error.message == OUT_OF_MEMORY
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and bool(_NO_MEMORY.search(str(error))))
