"""`sotto runner`: an engine in its own process, controlled by the process that started it."""

from sotto.runner.isolated import child
from sotto.store.records import ModelRecord


def serve(model: str | None, port: int) -> int:
    """Serve one engine, and load `model` first if it is not None; does not return.

    Raises:
        SottoError: There is no such model.
    """
    child.serve(_record(model) if model else None, port)


def _record(model: str) -> ModelRecord:
    from sotto.cli.model_opening import open_target

    return open_target(model).record
