"""`sotto runner`: an engine in a process of its own, for the process that started it."""

from sotto.errors import InvalidRequestError
from sotto.runner.child import serve as serve_child


def serve(model: str | None, port: int) -> int:
    """Serve one engine, with a model loaded first if one is named; does not return.

    Raises:
        SottoError: There is no such model, or no such port.
    """
    from sotto.cli.opening import opened

    if not 0 <= port < 1 << 16:
        raise InvalidRequestError(f"--port must be from 0 to {(1 << 16) - 1}, not {port}.")
    serve_child(opened(model).record if model else None, port)
