"""How the window copes with a long answer that comes fast, as one JSON line: `python ui_stream.py FOLDER CHARACTERS`.

200 tokens of four characters a second of Markdown with tables, lists and code, up to so many characters. `late` has the
lateness of a 16 ms timer in milliseconds; `cost` the processor time of the window's thread per character, in
microseconds, in the first and in the last 10,000 of them; `share` the part of the time that the thread was busy.
"""

import json
import sys
import time
from pathlib import Path

from ui_window import Lateness, in_window, until

from sotto.ui.session.engine_thread import EngineThread
from sotto.ui.window.main_window import MainWindow

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support" / "runner"))

from scripted_loop import Script, ScriptedLoop, record

SPAN, TOKEN, A_SECOND = 10_000, 4, 200
SECTION = """## Section {0}

A paragraph with **strong** and *soft* words, `code`, and [a link](https://example.org/{0}), long enough to be broken
into several lines wherever the column ends, as most paragraphs of an answer are.

- [x] an item that is done
- another item, with `code` in it
  1. and one inside it

| name | value | note |
| --- | --: | --- |
| first {0} | 1 | in a table |
| second | 20 | as wide as its words |

```python
def number_{0}(value: int = {0}) -> str:
    \"\"\"Say which section this is.\"\"\"
    return f"section {{value}}"  # and nothing else
```

"""


class Loop(ScriptedLoop):
    """Says its chunks at an even rate, whatever a turn of it takes."""

    def _wait(self, hold, stopped) -> None:
        now = time.perf_counter()
        self._due = max(getattr(self, "_due", now), now - 0.1) + 1 / A_SECOND
        time.sleep(max(0.0, self._due - now))


def main() -> None:
    folder, length = Path(sys.argv[1]), int(sys.argv[2])
    text = "".join(SECTION.format(number) for number in range(length // 400))[:length]
    chunks = [text[place : place + TOKEN] for place in range(0, len(text), TOKEN)]
    script = Script(chunks=chunks, prefill_steps=0)
    thread = EngineThread(make_loop=lambda emit: Loop(emit, script))
    found: dict[str, object] = {}

    async def measure(window: MainWindow) -> None:
        window.session.load(record())
        await until(lambda: window.session.state.loaded)
        transcript = window.chat.transcript
        marks: list[tuple[int, float, float]] = []

        def note() -> None:
            shown = len(transcript.answer.body.markdown) if transcript.answer is not None else 0
            marks.append((shown, time.thread_time(), time.perf_counter()))

        lateness = Lateness(note)
        window.send("Tell me everything.")
        await until(lambda: transcript.answer is not None and bool(transcript.answer.body.markdown))
        lateness.start()
        await until(lambda: transcript.answer is None, 600)
        lateness.stop()
        begun = [mark for mark in marks if mark[0]]

        def cost(first: int, last: int) -> float:
            part = [mark for mark in begun if first <= mark[0] <= last]
            return (part[-1][1] - part[0][1]) / (part[-1][0] - part[0][0]) * 1e6

        busy = (begun[-1][1] - begun[0][1]) / (begun[-1][2] - begun[0][2])
        found.update(late=lateness.figures(), cost=[cost(0, SPAN), cost(length - SPAN, length)], share=busy)

    in_window(measure, folder / "chats.sqlite3", thread)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
