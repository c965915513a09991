"""Measure how the window copes with a long answer that streams fast: `python ui_stream.py FOLDER CHARACTERS`.

The answer is Markdown with tables, lists and code, at 200 tokens of four characters per second, up to CHARACTERS
characters. The script prints one JSON line: `late` has the lateness of a 16 ms timer in milliseconds, `cost` the
processor time of the window's thread per character, in microseconds, for the first and the last 10,000 characters, and
`share` the fraction of the time that the thread was busy.
"""

import json
import sys
import time
from pathlib import Path

from ui_window import Lateness, in_window, until

from sotto.ui.session.engine_thread import EngineThread
from sotto.ui.window.main_window import MainWindow

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support" / "runner"))

from scripted_loop import Script, ScriptedLoop, record

SPAN_CHARACTERS, TOKEN_CHARACTERS, TOKENS_PER_SECOND = 10_000, 4, 200
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
    """Emits its chunks at a constant rate, whatever the duration of an iteration."""

    def _wait(self, hold, stopped) -> None:
        now = time.perf_counter()
        self._due = max(getattr(self, "_due", now), now - 0.1) + 1 / TOKENS_PER_SECOND
        time.sleep(max(0.0, self._due - now))


def main() -> None:
    folder, length = Path(sys.argv[1]), int(sys.argv[2])
    text = "".join(SECTION.format(number) for number in range(length // 400))[:length]
    chunks = [text[place : place + TOKEN_CHARACTERS] for place in range(0, len(text), TOKEN_CHARACTERS)]
    script = Script(chunks=chunks, prefill_steps=0)
    thread = EngineThread(make_loop=lambda emit: Loop(emit, script))
    found: dict[str, object] = {}

    async def measure(window: MainWindow) -> None:
        window.session.load(record())
        await until(lambda: window.session.state.loaded)
        transcript = window.chat.transcript
        marks: list[tuple[int, float, float]] = []

        def record_mark() -> None:
            shown = len(transcript.answer.body.markdown) if transcript.answer is not None else 0
            marks.append((shown, time.thread_time(), time.perf_counter()))

        lateness = Lateness(record_mark)
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
        found.update(
            late=lateness.figures(), cost=[cost(0, SPAN_CHARACTERS), cost(length - SPAN_CHARACTERS, length)], share=busy
        )

    in_window(measure, folder / "chats.sqlite3", thread)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
