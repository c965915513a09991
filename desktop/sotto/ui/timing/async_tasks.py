"""Asynchronous tasks on Qt's event loop, which qasync drives, and slow calls on worker threads."""

import asyncio
import sys
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class AsyncTasks:
    """Starts coroutines, keeps references to them, and runs blocking functions in a thread pool."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Run tasks on `loop`."""
        self._loop = loop
        self._pool = ThreadPoolExecutor(2, thread_name_prefix="task")
        self._closed = False
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def running(self) -> bool:
        """Whether any task has not ended yet."""
        return bool(self._tasks)

    def start(self, coroutine: Coroutine[Any, Any, None]) -> "asyncio.Task[None] | None":
        """Start and return a task; return None after `close`. Its exceptions go to `sys.excepthook`."""
        if self._closed:
            coroutine.close()
            return None
        task = self._loop.create_task(coroutine)
        self._tasks.add(task)  # the loop itself keeps only weak references
        task.add_done_callback(self._finish)
        return task

    async def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call `function` on a worker thread and return its result."""
        return await self._loop.run_in_executor(self._pool, lambda: function(*args, **kwargs))

    async def close(self) -> None:
        """Cancel all tasks and wait until they have ended."""
        self._closed = True
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _finish(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            sys.excepthook(type(error), error, error.__traceback__)
