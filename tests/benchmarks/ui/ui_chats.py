"""Measure how the window copes with many and long chats: `python ui_chats.py FOLDER MESSAGES CHATS`.

The script creates a database in FOLDER, with one chat of MESSAGES messages and CHATS chats of 40 messages. It prints
one JSON line: `open` has the milliseconds from choosing the long chat until its end is painted, `scroll` the lateness
of a 16 ms timer while the whole chat is scrolled from the end to the beginning, and `memory` the bytes of the process
after a tenth of the chats were opened and after all of them.
"""

import asyncio
import json
import sys
import time
from pathlib import Path

import psutil
from PySide6.QtCore import QEvent, QObject
from ui_window import Lateness, in_window, until

from sotto.chats.chat_records import State
from sotto.chats.chat_store import ChatStore
from sotto.chats.database import Database
from sotto.ui.window.main_window import MainWindow

ROUNDS = 5
STEP = 120
QUESTION = "How would I read a file line by line, and what is the difference between the two ways you named?"
ANSWER = """There are **two ways**, and the second is the one to take:

1. Read all of it, and split it into lines.
2. Go through the file itself, which gives a line at a time.

```python
with open(path, encoding="utf-8") as file:
    for number, line in enumerate(file, 1):
        print(number, line.rstrip())
```

| way | memory | speed |
| --- | --- | --- |
| all at once | as large as the file | good |
| line by line | one line | as good |

A file that is larger than memory can only be read the second way, see [the documentation](https://docs.python.org).
"""


class PaintTimer(QObject):
    """Records when a widget was last painted."""

    def __init__(self, widget: QObject) -> None:
        super().__init__()
        self.at = 0.0
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            self.at = time.perf_counter()
        return False


def write_chats(path: Path, messages: int, chats: int) -> tuple[int, list[int]]:
    """Write the database; return the id of the long chat and those of the others."""
    store = ChatStore(Database(path))
    store.database.connection.execute("PRAGMA synchronous = OFF")

    def chat(count: int, name: str) -> int:
        number = store.keep_draft(None, "draft")
        parent = None
        for index in range(count // 2):
            question = store.ask(number, f"{name}, {index}: {QUESTION}", parent)
            parent = store.begin_answer(question, "sotto:latest")
            store.end_answer(parent, ANSWER, State.COMPLETE, {})
        return number

    long = chat(messages, "The long one")
    return long, [chat(40, f"Chat {index}") for index in range(chats)]


async def measure(window: MainWindow, long: int, others: list[int]) -> dict[str, object]:
    transcript, current = window.chat.transcript, window.current
    painted = PaintTimer(transcript.viewport())

    async def opened(chat: int) -> float:
        started = time.perf_counter()
        current.open(chat)
        await until(lambda: current.session.chat == chat and bool(transcript.messages) and painted.at > started)
        # The first layout may change once more, so the time of the last paint counts.
        last = 0.0
        while last != painted.at:
            last = painted.at
            await asyncio.sleep(0.05)
        return (last - started) * 1000

    times = []
    for _ in range(ROUNDS):
        await opened(others[0])
        times.append(await opened(long))
    bar = transcript.verticalScrollBar()
    bar.triggerAction(bar.SliderAction.SliderPageStepSub)
    lateness = Lateness(lambda: bar.setValue(bar.value() - STEP))
    lateness.start()
    await until(lambda: bar.value() == 0, 600)
    lateness.stop()
    memory = []
    for part in (others[: len(others) // 10], others):
        for chat in part:
            await opened(chat)
        memory.append(psutil.Process().memory_info().rss)
    return {"open": sorted(times), "scroll": lateness.figures(), "ticks": len(lateness.late), "memory": memory}


def main() -> None:
    folder, messages, chats = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    path = folder / "chats.sqlite3"
    long, others = write_chats(path, messages, chats)
    found = {}

    async def script(window: MainWindow) -> None:
        await until(lambda: bool(window.session.library.models) and window.session.state.loaded)
        found.update(await measure(window, long, others))

    in_window(script, path)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
