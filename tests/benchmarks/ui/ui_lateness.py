"""Measure the lateness of a timer on the window's thread while the engine works, as one JSON line.

`python ui_lateness.py [--host thread|process] FOLDER TOKENS` prints the lateness of a 16 ms timer in milliseconds, idle
and while generating, with the interpreter's switch interval and the signal that the app uses. The timer repaints a text
view that shows the answer.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QElapsedTimer, QObject, Qt, QTimer, Slot
from PySide6.QtWidgets import QApplication, QPlainTextEdit

from sotto.engine.contract.events import Failed, Finished, Loaded, TextChunk
from sotto.engine.contract.requests import GenerateRequest
from sotto.runner.commands import Generate, Load
from sotto.runner.host import PROCESS, THREAD
from sotto.store.opening import record_of
from sotto.ui.app.app import SWITCH_INTERVAL_SECONDS
from sotto.ui.session.engine_hosts import make_host
from sotto.ui.session.engine_thread import EngineLost, EngineThread

INTERVAL_MS = 16
IDLE_MS = 2000


class Monitor(QObject):
    """Ticks every 16 ms, records the lateness, and shows the answer."""

    def __init__(self, thread: EngineThread, folder: Path, tokens: int) -> None:
        super().__init__()
        self._thread, self._tokens = thread, tokens
        self.late: list[float] = []
        self.idle: list[float] = []
        self.times: list[float] = []
        self._view = QPlainTextEdit()
        self._view.resize(600, 400)
        self._view.show()
        self._clock = QElapsedTimer()
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(INTERVAL_MS)
        self._timer.timeout.connect(self.tick)
        thread.event_received.connect(self.receive)
        thread.send(Load(record_of(folder)))

    @Slot()
    def tick(self) -> None:
        self.late.append(self._clock.nsecsElapsed() / 1e6 - INTERVAL_MS)
        self._clock.restart()
        self._view.viewport().update()

    @Slot()
    def begin(self) -> None:
        self.idle, self.late = self.late, []
        request = GenerateRequest(id="u", prompt="a b c d", num_predict=self._tokens, ignore_eos=True)
        self._thread.send(Generate(request))

    @Slot(object)
    def receive(self, event: object) -> None:
        if isinstance(event, Loaded):
            self._clock.start()
            self._timer.start()
            QTimer.singleShot(IDLE_MS, self.begin)
        elif isinstance(event, TextChunk):
            self.times += [time.perf_counter()] * len(event.token_ids)
            self._view.insertPlainText(event.text)
        elif isinstance(event, Finished):
            self._timer.stop()
            QApplication.quit()
        elif isinstance(event, Failed | EngineLost):
            print(event, file=sys.stderr)
            QApplication.exit(1)


def percentile(values: list[float], share: float) -> float:
    """Return the value that a `share` of all values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", choices=(THREAD, PROCESS), default=THREAD)
    parser.add_argument("folder", type=Path)
    parser.add_argument("tokens", type=int)
    chosen = parser.parse_args()
    sys.setswitchinterval(SWITCH_INTERVAL_SECONDS)
    app = QApplication([])
    thread = make_host(chosen.host)
    monitor = Monitor(thread, chosen.folder, chosen.tokens)
    status = app.exec()
    thread.close()
    if status == 0:
        figures = {
            name: [percentile(values, share) for share in (0.5, 0.99, 1.0)]
            for name, values in (("idle", monitor.idle), ("busy", monitor.late))
        }
        rate = (len(monitor.times) - 1) / (monitor.times[-1] - monitor.times[0])
        print(json.dumps({**figures, "rate": rate, "ticks": len(monitor.late)}))
    return status


sys.exit(main())
