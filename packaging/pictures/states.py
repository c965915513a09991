"""The states of the app whose look is approved: fifteen pictures at three sizes, and a description of each."""

import os
import re
import shutil
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from pictures.chat_images import DRAWN, SHOWN
from pictures.scenes import ANSWER, QUESTION
from pictures.stage import Stage

if TYPE_CHECKING:
    from PySide6.QtGui import QPixmap
    from PySide6.QtWidgets import QWidget

    from sotto.chats.chat_store import ChatStore

SIZES = ((720, 480), (1280, 800), (1920, 1080))
# Sheets of thumbnails are what is approved: four in a row.
_ACROSS, _THUMBNAIL = 4, 320
# A window is settled once its description has been the same this often, at this interval in seconds.
_SAME, _INTERVAL = 4, 0.06
_CODE = """Read the file line by line, so that it may be larger than memory:

```python
def longest(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return max(file, key=len, default="").rstrip("\\n")
```

The same in a shell, with `awk`:

```sh
awk 'length > most { most = length; line = $0 } END { print line }' "$1"
```

# Why not `readlines`?

It keeps **every** line in memory at once.

1. `max` takes an iterator.
2. The file is closed even if a line cannot be decoded.

> The longest of no lines is the empty text.
"""
_LONG = 30
# A model that sees, which comes with the tests.
_SEEING = Path(__file__).parents[2] / "tests" / "engine" / "vision" / "drawings"


async def take_states(stage: Stage, folder: Path, name: str) -> None:
    """Take every state at every size.

    Args:
        stage: The app; nothing has been loaded yet.
        folder: Where the pictures go, with a sheet of thumbnails and a description for each size.
        name: Format string for names without their ending.
    """
    from sotto.ui.state.model_state import Problem

    album = _Album(stage, folder, name)
    window, session = stage.window, stage.session
    stage.begin()
    await stage.until(lambda: bool(window.greeting.text) and window.chat.welcome.finds.isVisible())
    await stage.until_measured()
    await album.add("first-run")

    chats: dict[str, int] = {}
    stage.keeper.do(_write_chats, chats.update)
    await stage.until(lambda: bool(chats))
    window.chat_library.refresh()

    window.chat.composer.draft.setPlainText(QUESTION)
    window.chat.composer.button.click()
    await stage.until(lambda: bool(window.current.session.turns) and not window.current.session.busy)
    await stage.until(lambda: len(window.sidebar.chats.model.rows) > 3)
    await album.add("chat")
    for title in ("long-chat", "code", "maths"):
        window.current.open(chats[title])
        await stage.until(lambda: bool(window.chat.transcript.messages))
        # The long one is shown at its end.
        await album.add(title, prepare=None if title == "long-chat" else partial(_scroll_to_top, stage))
    window.current.new_chat()

    (row,) = [row for row in window.models.panel.rows if row.record.name.endswith("Llama-33B-Instruct-MLX-4bit")]
    row.click()
    await stage.until(window.models.card.isVisible)
    await album.add("card")
    window.models.card.closed.emit()
    window.models.open_page()
    await album.add("models-page")
    window.current.new_chat()
    # Not the page of folders, which has paths of this machine.
    window.dialogs.show_settings("answers")
    assert window.dialogs.settings is not None
    await album.add("settings", window.dialogs.settings)
    window.dialogs.settings.close()
    window.commands.open()
    window.commands.palette.field.setText("mo")
    await album.add("palette")
    window.commands.palette.dismiss()
    await _show_downloads(stage)
    await album.add("download")
    window.models.downloading.form.close_card()
    session.problem.emit(
        Problem(
            "The model was not loaded",
            "model.safetensors ends after 412 MB of 695 MB, so the file is incomplete; download the model again.",
        )
    )
    await album.add("error")
    quick = stage.shell.quick
    quick.show()
    quick.panel.composer.draft.setPlainText("What does 4-bit mean?")
    quick.panel.composer.button.click()
    await stage.until(lambda: bool(quick.current.session.turns) and not quick.current.session.busy)
    await album.add("quick-prompt", quick.panel)
    quick.hide()
    await _take_images(stage, album)
    album.save()


async def _take_images(stage: Stage, album: "_Album") -> None:
    """Take images in a chat, and in the draft for a model that does not see them and for one that does."""
    from sotto.ui.conversation.pictures import thumbnails
    from sotto.ui.transcript.user_message import UserMessage

    window, session = stage.window, stage.session
    window.notices.hide()
    shutil.copytree(_SEEING, Path(os.environ["SOTTO_FOLDERS"]) / "Drawings")
    session.library.rescan()
    await stage.until(lambda: session.library.named("Drawings") is not None)
    stage.keeper.do(_write_chat_with_images, window.current.open)
    await stage.until(lambda: bool(window.chat.transcript.messages))
    window.chat_library.refresh()
    await stage.until(lambda: any(entry.chat.title == "Two places" for entry in window.sidebar.chats.model.entries))
    question = window.chat.transcript.messages[0]
    assert isinstance(question, UserMessage)
    shown = question.attachments.pictures
    await stage.until(lambda: not any(thumbnails.current().pixmap(each.digest).isNull() for each in shown))
    await album.add("images")
    draft = window.current.session.draft
    for name, draw in DRAWN.items():
        window.composing.attachments.attaching.attach_image(name, draw, draft)
    panel, bar = window.chat.composer.sight_panel, window.chat.composer.attachments
    await stage.until(lambda: len(draft.attachments) == len(DRAWN) and not draft.pending and panel.isVisible())
    await album.add("blind")
    panel.buttons[0].click()
    await stage.until(lambda: session.state.loaded and session.state.sees and panel.isHidden())
    await stage.until(lambda: all("token" in chip.line.text() for chip in bar.chips))
    await album.add("seeing")


def _write_chats(store: "ChatStore") -> dict[str, int]:
    from sotto.chats.chat_records import State

    figures = {"eval_count": 96, "eval_duration": 768_000_000}
    found = {}
    for name, title, turns in (
        ("long-chat", "Thirty questions", [(f"What is {n} times {n}?", f"{n} × {n} = {n * n}.") for n in range(_LONG)]),
        ("code", "The longest line of a file", [("How do I find the longest line of a file?", _CODE)]),
        (
            "maths",
            "Quadratic equations",
            [("How are quadratic equations solved?", ANSWER.split("</think>")[1].strip())],
        ),
    ):
        chat, parent = store.add_chat(), None
        for question, answer in turns:
            asked = store.ask(chat, question, parent)
            parent = store.begin_answer(asked, "sotto", figures)
            store.end_answer(parent, answer, State.COMPLETE, figures)
        store.change(chat, title=title)
        found[name] = chat
    return found


def _write_chat_with_images(store: "ChatStore") -> int:
    from sotto.chats.attachable import attachable_image
    from sotto.chats.chat_records import State

    seen = [attachable_image(draw(), name, lambda: False) for name, draw in SHOWN.items()]
    for each in seen:
        store.keep_image(each.image)
    chat, figures = store.add_chat(), {"eval_count": 12, "eval_duration": 96_000_000}
    attachments = [replace(each.attachment, tokens=256) for each in seen]
    asked = store.ask(chat, "Where is it evening?", None, attachments)
    answer = store.begin_answer(asked, "sotto", figures)
    store.end_answer(answer, "Where the sun is red and low: by the sea.", State.COMPLETE, figures)
    store.change(chat, title="Two places")
    return chat


def _scroll_to_top(stage: Stage) -> None:
    stage.window.chat.transcript.verticalScrollBar().setValue(0)


async def _show_downloads(stage: Stage) -> None:
    from sotto.store.pull.progress import PullProgress, PullState

    downloading, tell = stage.window.models.downloading, stage.registry.tell
    first, second, third = names = ("llama3.2:3b", "someone/a-model-with-a-long-name:8b-q4", "qwen3:30b-a3b")
    for name in names:
        downloading.downloads.add(name)
    tell(PullProgress(second, PullState.PAUSED, 3_310_000_000, 5_200_000_000))
    tell(PullProgress(first, PullState.DOWNLOADING, 1_264_000_000, 4_100_000_000, 34_300_000, 128))
    why = "registry.ollama.ai answered 404: there is no model qwen3:30b-a3b; look for its name on ollama.com."
    tell(PullProgress(third, PullState.FAILED, 0, None, note=why))
    downloading.open()
    downloading.form.field.setText("llama3.2:3b")


class _Album:
    """The pictures taken so far, by their size."""

    def __init__(self, stage: Stage, folder: Path, name: str) -> None:
        self._stage, self._folder, self._name = stage, folder, name
        self._taken: dict[tuple[int, int], list[tuple[str, QPixmap, str]]] = {size: [] for size in SIZES}

    async def add(self, state: str, panel: "QWidget | None" = None, prepare: Callable[[], None] | None = None) -> None:
        """Take the window, or a panel, at every size; `prepare` is called once it has that size."""
        for size in SIZES:
            self._stage.window.resize(*size)
            widget = panel or self._stage.window
            await self._settle(widget)
            if prepare is not None:
                prepare()
                await self._settle(widget)
            picture = widget.grab()
            picture.save(str(self._folder / f"{self._name.format(state)}-{size[0]}.png"))
            self._taken[size].append((state, picture, "\n".join(describe(widget))))

    async def _settle(self, widget: "QWidget") -> None:
        """Wait until nothing moves, and formulas and the size of the context have been computed."""
        session = self._stage.window.current.session
        seen: deque[list[str]] = deque(maxlen=_SAME)

        def settled() -> bool:
            seen.append(describe(widget))
            still = len(seen) == _SAME and all(other == seen[0] for other in seen)
            return (
                still
                and not any(text.awaits_formulas for text in widget.findChildren(MarkdownText))
                and (not session.turns or self._stage.window.composing.meter.use is not None)
            )

        from sotto.ui.markdown.view import MarkdownText

        await self._stage.until(settled, _INTERVAL)

    def save(self) -> None:
        """Write a sheet of thumbnails and a description for each size."""
        from PySide6.QtCore import Qt
        from PySide6.QtGui import QImage, QPainter

        for (width, height), taken in self._taken.items():
            high = _THUMBNAIL * height // width
            sheet = QImage(_ACROSS * _THUMBNAIL, -(-len(taken) // _ACROSS) * high, QImage.Format.Format_RGB32)
            sheet.fill(0)
            painter = QPainter(sheet)
            for number, (_, picture, _) in enumerate(taken):
                small = picture.toImage().scaled(
                    _THUMBNAIL,
                    high,
                    Qt.AspectRatioMode.KeepAspectRatio,
                    Qt.TransformationMode.SmoothTransformation,
                )
                small.setDevicePixelRatio(1)
                painter.drawImage(number % _ACROSS * _THUMBNAIL, number // _ACROSS * high, small)
            painter.end()
            sheet.save(str(self._folder / f"{self._name.format('sheet')}-{width}.png"))
            text = "".join(f"## {state}\n{described}\n\n" for state, _, described in taken)
            (self._folder / f"{self._name.format('sheet')}-{width}.txt").write_text(text, encoding="utf-8")


def describe(window: "QWidget") -> list[str]:
    """Return a line for each visible widget that shows something, from the top: its place, kind and text.

    Digits are replaced by `#`, because some figures are measured, and folders of the user by `~`. The width of a text
    with digits is left out.
    """
    from PySide6.QtCore import QPoint, QRect
    from PySide6.QtWidgets import QWidget

    lines = []
    for child in window.findChildren(QWidget):
        if not child.isVisibleTo(window) or child.visibleRegion().isEmpty() or child.objectName().startswith("qt_"):
            continue
        text = _text_of(child)
        if not text and type(child).__name__ in ("QWidget", "QStackedWidget", "QScrollArea", "QSplitter"):
            continue
        place = QRect(child.mapTo(window, QPoint()), child.size())
        width = "?" if re.search(r"\d", text) else place.width()
        shown = re.sub(r"\d[\d.,]*", "#", text.replace(os.environ["HOME"], "~").replace("\n", " ")[:80])
        line = f"{place.x()},{place.y()} {width}x{place.height()} {type(child).__name__} {shown}".rstrip()
        lines.append(((place.y(), place.x()), line))
    # Not in the order of the widgets, which also depends on what was raised above what and when.
    return [line for _, line in sorted(lines, key=itemgetter(0))]


def _text_of(widget: "QWidget") -> str:
    for name in ("text", "toPlainText", "title", "placeholderText"):
        read: Callable[[], str] | None = getattr(widget, name, None)
        if callable(read) and (text := read()):
            return text
    return ""
