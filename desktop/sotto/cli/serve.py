"""`sotto serve`: the API without a window."""

import argparse
import os
import signal
import threading
from types import FrameType

from sotto.api.server import Address, ApiServer
from sotto.cli.interrupts import until_interrupt
from sotto.engine.contract.engine_settings import read_settings
from sotto.errors import EngineError
from sotto.reports import fatal, logs
from sotto.runner.host import PROCESS, kind_of_host
from sotto.runner.isolated.held_memory import most_memory
from sotto.runner.isolated.process import RunnerProcess
from sotto.runner.loop_host import LoopHost
from sotto.store.removal import own_store
from sotto.store.upkeep.pruning import prune_regularly


def serve(parsed: argparse.Namespace) -> int:
    """Serve until Ctrl-C or SIGTERM; return 0.

    Raises:
        SottoError: `SOTTO_ENGINE_HOST` is neither thread nor process, the address is not available, or the engine did
            not stop.
    """
    key = os.environ.get("SOTTO_API_KEY", "") if parsed.key is None else parsed.key
    origins = os.environ.get("OLLAMA_ORIGINS", "") if parsed.origins is None else parsed.origins
    most_memory(read_settings())  # reports an invalid setting before anything is served
    logs.begin("serve")
    fatal.begin()
    host = LoopHost(read_settings, make_loop=RunnerProcess if kind_of_host() == PROCESS else None)
    server = ApiServer(host, Address(parsed.host, parsed.port, key, origins))
    ended = threading.Event()

    def end(number: int, frame: FrameType | None) -> None:
        ended.set()

    with until_interrupt(ended):
        signal.signal(signal.SIGTERM, end)
        server.start()
        # What this thread leaves when the process ends, the next one does.
        threading.Thread(target=prune_regularly, args=(own_store(), ended), name="pruning", daemon=True).start()
        print(f"Listening on {server.url} (Ctrl-C to stop)", flush=True)
        ended.wait()
    # Wait for both, as the engine writes its caches to the disk.
    stopped = server.stop(), host.close()
    if not all(stopped):
        raise EngineError("The engine did not stop in time.")
    return 0
