"""`sotto runner`: an engine in a process of its own, for the process that started it."""

from sotto.runner.isolated import child
from sotto.store.records import ModelRecord


def serve(model: str | None, port: int) -> int:
    """Serve one engine, with a model loaded first if one is named; does not return.

    Raises:
        SottoError: There is no such model.
    """
    child.serve(_record(model) if model else None, port)


def _record(model: str) -> ModelRecord:
    from sotto.cli.model_opening import opened

    return opened(model).record
