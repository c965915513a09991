"""The app's own asynchronous flows, on Qt's event loop through qasync."""

import asyncio
import sys
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class AsyncTasks:
    """Starts coroutines and keeps them alive; does slow things off the window's thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Run flows on `loop`."""
        self._loop = loop
        self._pool = ThreadPoolExecutor(2, thread_name_prefix="flow")
        self._closed = False
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, flow: Coroutine[Any, Any, None]) -> "asyncio.Task[None] | None":
        """Start a flow, unless the end has come, and return it. What it raises goes to `sys.excepthook`."""
        if self._closed:
            flow.close()
            return None
        task = self._loop.create_task(flow)
        self._tasks.add(task)  # the loop itself keeps tasks only weakly
        task.add_done_callback(self._ended)
        return task

    async def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call `function` on another thread and return what it returns."""
        return await self._loop.run_in_executor(self._pool, lambda: function(*args, **kwargs))

    async def close(self) -> None:
        """Cancel every flow and wait for their ends."""
        self._closed = True
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _ended(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            sys.excepthook(type(error), error, error.__traceback__)
