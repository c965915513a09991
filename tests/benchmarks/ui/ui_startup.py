"""Measure the time from the start of the app's process to the first paint and the first token, as one JSON line.

`python ui_startup.py STARTED [empty]`: STARTED is `time.time()` just before the process was started. The real app runs,
with its built-in model; the first token is that of its greeting. With `empty` an empty Qt window is painted instead,
which is the minimum that any app needs.
"""

import json
import os
import sys
import time

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

STARTED = float(sys.argv[1])
marks: dict[str, float] = {}


def mark(name: str) -> None:
    """Record the seconds since the process was started, unless the mark already exists."""
    marks.setdefault(name, time.time() - STARTED)


def empty_window() -> None:
    """Paint an empty window and end."""
    from PySide6.QtGui import QPaintEvent
    from PySide6.QtWidgets import QApplication, QWidget

    class Window(QWidget):
        def paintEvent(self, event: QPaintEvent) -> None:
            mark("paint")
            QApplication.quit()

    app = QApplication([])
    window = Window()
    window.resize(900, 600)
    window.show()
    app.exec()


def whole_app() -> None:
    """Run the app until the first token."""
    from PySide6.QtCore import QObject, Slot

    from sotto.engine.contract.events import Loaded, TextChunk
    from sotto.ui.app import app

    paint, live = app.show_window, app.run_event_loop

    class EventWatcher(QObject):
        @Slot(object)
        def receive(self, event: object) -> None:
            if isinstance(event, Loaded):
                mark("loaded")
            elif isinstance(event, TextChunk):
                mark("token")
                self.shell.quit()

    watcher = EventWatcher()

    def painted(window):
        paint(window)
        mark("paint")

    def lived(application, shell, thread, *rest):
        watcher.shell = shell
        thread.event_received.connect(watcher.receive)
        return live(application, shell, thread, *rest)

    app.show_window, app.run_event_loop = painted, lived
    app.run()


if sys.argv[2:] == ["empty"]:
    empty_window()
else:
    whole_app()
print(json.dumps(marks))
