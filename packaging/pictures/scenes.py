"""Scenes for pictures: every part of the window in many situations, for a look at the whole app after a change."""

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

from pictures.sample_home import SHAPES, write_model
from pictures.stage import Stage

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from sotto.chats.chat_store import ChatStore

QUESTION = "How do I load a bigger model?"
# Text that the built-in model is too small to generate, shown as its answer.
THOUGHT = """<think>
The user wants to see how the roots of a quadratic equation are computed. I should name the formula first.

Then two short programs, in **Python** and in JavaScript, that do the same. A negative discriminant has to be caught:
there are no real roots then. A table of examples would help, and a list of what has been checked. Let me keep it short.
"""
ANSWER = """</think>

The roots of $ax^2 + bx + c = 0$ are, with $\\Delta = b^2 - 4ac$,

$$ x_{1,2} = \\frac{-b \\pm \\sqrt{\\Delta}}{2a} $$

In Python:
```python
def roots(a: float, b: float, c: float) -> tuple[float, float] | None:
    # None where there are no real roots
    delta = b * b - 4 * a * c
    if delta < 0:
        return None
    return (-b - delta**0.5) / (2 * a), (-b + delta**0.5) / (2 * a)
```
And in JavaScript:
```js
const roots = (a, b, c) => [1, -1].map((sign) => (-b - sign * Math.sqrt(b * b - 4 * a * c)) / (2 * a));
```

| equation | $\\Delta$ | roots |
| --- | --: | :-: |
| $x^2 - 3x + 2 = 0$ | 1 | 1 and 2 |
| $x^2 + 1 = 0$ | -4 | none that are real |

- [x] two roots
- [x] no real root
- [ ] numbers so large that the square overflows
"""


class Scenes:
    """Brings the window into one situation after another, and takes a picture of each."""

    def __init__(self, stage: Stage, folder: Path, name: str) -> None:
        """Take pictures into `folder`; `name` is a format string for the name of the scene."""
        self.stage = stage
        self._folder, self._name = folder, name

    async def play(self) -> None:
        """Take all pictures."""
        from sotto.engine.contract.events import LoadProgress, TextChunk
        from sotto.engine.contract.requests import SamplingOptions
        from sotto.ui.state.model_state import ChatSettings, Phase
        from sotto.ui.transcript.user_message import UserMessage

        session, window = self.stage.session, self.stage.window
        window.resize(1120, 740)
        session.settings = ChatSettings(sampling=SamplingOptions(temperature=0.0))
        self.stage.held = lambda event: isinstance(event, LoadProgress) and event.done > 0.3 * event.total > 0
        self.stage.begin()
        await self.stage.until(lambda: session.state.fraction is not None and session.state.pace.shown)
        await self._take("loading")
        self.stage.release()

        await self.stage.until(lambda: session.state.phase is Phase.READY)
        await asyncio.sleep(2.0)  # the greeting
        await self._take("empty")
        await self._take_details()
        await self._take_downloads()

        window.chat.composer.draft.setPlainText("What can you do?")
        window.chat.composer.button.click()
        await self.stage.until(lambda: not window.current.session.busy)
        chunks: list[str] = []

        def has_begun(event: object) -> bool:
            if isinstance(event, TextChunk):
                chunks.append(event.text)
            return len("".join(chunks)) > 60

        self.stage.held = has_begun
        window.chat.composer.draft.setPlainText(QUESTION)
        window.chat.composer.button.click()
        await self.stage.until(lambda: len("".join(chunks)) > 60 or not window.current.session.busy)
        await self._take("streaming")
        self.stage.release()
        await self.stage.until(lambda: not window.current.session.busy)
        await asyncio.sleep(0.5)  # the list of chats
        await self._take("answer")

        transcript = window.chat.transcript
        transcript.messages[-1].again.click()
        await self.stage.until(lambda: not window.current.session.busy)
        await asyncio.sleep(0.5)
        await self._take("versions")
        question = transcript.messages[-2]
        assert isinstance(question, UserMessage)
        question.edit.click()
        await self._take("editing")
        question.end_edit()
        window.chat.toggle_choices()
        await self._take("choices")
        await self._take_presets()
        window.chat.hide_choices()
        await self._take_palette()
        await self._take_settings()

        await self._attach()

        await self._fold()

        await self._take_answer()

        self.stage.drag(
            Path(os.environ["HOME"]) / ".lmstudio" / "models" / "lmstudio-community" / "Meta-Llama-3-8B-MLX-4bit"
        )
        await self._take("drag-over")
        window.overlay.hide()

        broken = Path(os.environ["HOME"]) / "Llama-3.2-1B-Instruct-4bit"
        write_model(broken, SHAPES["1B"], 4)
        with (broken / "model.safetensors").open("r+b") as file:
            file.truncate(412_000_000)
        from sotto.ui.state.drop_contents import DropContents

        session.library.open(DropContents((broken,), ()))
        await self.stage.until(window.chat.notice.isVisible)
        await self._take("error")

        await self._quick()

    async def _take_presets(self) -> None:
        """Take the settings of a chat with a preset, and an attempt to rename it to an existing name."""
        window = self.stage.window
        window.presets.save("Brief and exact", "Answer in one sentence.", {"temperature": 0.2, "top_k": 20})
        window.presets.save("Storyteller", "Answer with a short story.", {"temperature": 1.1})
        bar = window.chat.choices.presets
        bar.applied.emit(window.presets.with_name("Brief and exact"))
        await self._take("preset")
        rename = next(action for action in bar.menu().actions() if action.text() == "Rename…")
        rename.trigger()
        bar.name.setText("Storyteller")
        bar.name.returnPressed.emit()
        await self._take("preset-refused")
        bar.name.escaped.emit()
        window.chat.choices.reset.click()

    async def _take_palette(self) -> None:
        """Take the command palette, unfiltered and filtered."""
        commands = self.stage.window.commands
        commands.open()
        await self._take("palette")
        commands.palette.field.setText("mo")
        await self._take("palette-found")
        commands.palette.dismiss()

    async def _take_settings(self) -> None:
        """Take each page of the settings, also with invalid values and with text of twice the size."""
        from sotto.ui.settings.folders_page import FoldersPage
        from sotto.ui.settings.memory_page import MemoryPage
        from sotto.ui.toolkit import theme

        self.stage.preferences.change(folders=(str(Path(os.environ["HOME"]) / "models"), "/Volumes/Backup/models"))
        self.stage.window.dialogs.show_settings()
        settings = self.stage.window.dialogs.settings
        assert settings is not None
        for page in settings.names:
            settings.open(page)
            await self._take(f"settings-{page}", settings)
        settings.open("folders")
        folders = settings.page(FoldersPage)
        folders.speed.setText("fast")
        folders.speed.editingFinished.emit()
        await asyncio.sleep(0.2)
        folders.verticalScrollBar().setValue(folders.verticalScrollBar().maximum())
        await self._take("settings-downloads", settings)
        settings.open("memory")
        limit = settings.page(MemoryPage).limit
        limit.setText("900 GB")
        limit.editingFinished.emit()
        await self._take("settings-refused", settings)
        for page in settings.names:
            settings.open(page)
            theme.current().set_appearance(os.environ["SOTTO_APPEARANCE"], 2.0)
            settings.resize(settings.minimumSize())
            await self._take(f"settings-{page}-large", settings)
        theme.current().set_appearance(os.environ["SOTTO_APPEARANCE"], 1.0)
        settings.close()

    async def _quick(self) -> None:
        """Take the quick prompt and the tray's menu."""
        from PySide6.QtGui import QGuiApplication
        from PySide6.QtWidgets import QMenu

        from sotto.engine.contract.events import TextChunk
        from sotto.ui.app import tray

        QGuiApplication.clipboard().setText("Text from elsewhere")
        quick = self.stage.shell.quick
        quick.show()
        await self._take("quick-empty", quick.panel)
        self.stage.held = lambda event: isinstance(event, TextChunk)
        quick.panel.composer.draft.setPlainText("What does 4-bit mean?")
        quick.panel.composer.button.click()
        await self.stage.until(
            lambda: quick.panel.transcript.answer is not None and bool(quick.panel.transcript.answer.body.markdown)
        )
        await self._take("quick-answering", quick.panel)
        self.stage.release()
        await self.stage.until(lambda: not quick.current.session.busy)
        await self._take("quick-answered", quick.panel)
        quick.hide()
        menu = QMenu()
        names = [model.name for model in self.stage.session.library.models if model.runnable]
        recent = tray.recent_models(self.stage.session.library.models, names)
        tray.fill_menu(menu, tray.menu_entries(self.stage.session.state, recent, "Ctrl+Alt+Space"), tray.escape)
        menu.ensurePolished()
        menu.resize(menu.sizeHint())
        await self._take("tray", menu)

    async def _attach(self) -> None:
        """Take attachments, and contexts that are overfull and nearly full."""
        window, home = self.stage.window, Path(os.environ["HOME"])
        composer, draft = window.chat.composer, window.current.session.draft
        recipe, poem = home / "rice pilaf.md", home / "a rather long name of a poem that nobody ever finished.txt"
        recipe.write_text("# Rice pilaf\n\n" + "Toast the rice in butter, add twice as much stock, and wait.\n" * 12)
        poem.write_text("Roses are red.\n" * 40)
        self.stage.drag(recipe)
        await self._take("drag-document")
        window.overlay.hide()
        window.composing.attach((recipe, poem))
        composer.draft.setPlainText("Which of these would you cook?")
        await self.stage.until(
            lambda: len(draft.attachments) == 2 and all(attachment.tokens for attachment in draft.attachments)
        )
        await self._take("attachments")
        draft.detach(1)
        composer.button.click()
        await self.stage.until(lambda: not window.current.session.busy)
        await asyncio.sleep(0.5)
        await self._take("attached")

        report = home / "report.txt"
        report.write_text("".join(f"On day {day} it rained, and nobody minded.\n" for day in range(400)))
        window.composing.attach((report,))
        composer.draft.setPlainText("When did it rain?")
        await self.stage.until(composer.panel.isVisible)
        await self._take("context-over")
        draft.detach(0)
        await self.stage.until(composer.panel.isHidden)
        use = window.composing.meter.use
        assert use is not None
        composer.draft.setPlainText("word " * round(0.93 * use.limit - use.tokens))
        await self.stage.until(composer.panel.isVisible)
        await self._take("context-tight")
        composer.draft.clear()

    async def _fold(self) -> None:
        """Take chats in folders."""
        window, folders = self.stage.window, ("Cooking", "Garden & house", "Work")

        def fill(store: "ChatStore") -> None:
            numbers = [store.add_folder(name) for name in folders]
            store.close_folder(numbers[2], closed=True)
            for title, folder in (
                ("Rice for six people", numbers[0]),
                ("What to do with so many plums", numbers[0]),
                ("When to cut roses", numbers[1]),
                ("Minutes of Monday", numbers[2]),
                ("A letter to the landlord", None),
            ):
                store.change(chat := store.add_chat(), title=title, folder=folder)
                store.ask(chat, title, None)

        window.chat_library.refresh()
        self.stage.keeper.do(fill, lambda _: window.chat_library.refresh())
        await self.stage.until(lambda: len(window.sidebar.chats.model.rows) > 7)
        # Make room for the chats by shrinking the list of models.
        self.stage.preferences.change(sidebar_share=0.72)
        await self._take("folders")

    async def _take_details(self) -> None:
        """Take the details of models that fit, barely fit, do not fit, and cannot be measured."""
        panel, card = self.stage.window.models.panel, self.stage.window.models.card
        await self.stage.until_measured()
        await asyncio.sleep(0.5)
        for scene, name in (
            ("fits", "Llama-3.2-3B-Instruct-4bit"),
            ("tight", "Llama-33B-Instruct-MLX-4bit"),
            ("unfit", "Llama-3.3-70B-Instruct-MLX-4bit"),
            ("unknown", "Llama-3.2-1B-experiment"),
        ):
            (row,) = [row for row in panel.rows if row.record.name.endswith(name)]
            panel.bring_into_view(row)
            row.click()
            await self._take(f"details-{scene}")
        card.closed.emit()
        self.stage.window.chat.welcome.finds.toggle.click()
        await self._take("places")
        self.stage.window.chat.welcome.finds.toggle.click()
        disk = Path(os.environ["HOME"]) / "disk"
        disk.rename(disk.with_name("away"))
        (row,) = [row for row in panel.rows if row.record.name.endswith("Llama-3.2-1B-Instruct-4bit")]
        await self.stage.until(lambda: not all(row.record.present for row in panel.rows))
        panel.bring_into_view(panel.rows[-1])
        await self._take("absent")
        disk.with_name("away").rename(disk)
        await self.stage.until(lambda: all(row.record.present for row in panel.rows))
        panel.clear_selection()
        panel.area.verticalScrollBar().setValue(0)

    async def _take_downloads(self) -> None:
        """Take the download form, and downloads in each state."""
        from sotto.store.pull.progress import PullProgress, PullState
        from sotto.ui.toolkit import theme

        models, tell = self.stage.window.models, self.stage.registry.tell
        card, downloads = models.downloading.form, models.downloading.downloads
        models.downloading.open()
        await self._take("get")
        card.field.setText("llama3.2:3b")
        await self._take("get-named")
        card.field.setText("llama 3.2: the one with 3b")
        card.get.click()
        await self._take("get-refused")
        card.close_card()
        first, second, third = names = ("llama3.2:3b", "someone/a-model-with-a-long-name:8b-q4", "qwen3:30b-a3b")
        for name in names:
            downloads.add(name)
        states = PullState
        running = PullProgress(first, states.DOWNLOADING, 1_264_000_000, 4_100_000_000, 34_300_000, 128)
        tell(PullProgress(second, states.PAUSED, 3_310_000_000, 5_200_000_000))
        tell(running)
        await self._take("downloading")
        why = "Nothing has come for 15 s; trying again."
        tell(PullProgress(first, states.STALLED, 1_264_000_000, 4_100_000_000, note=why))
        await self._take("download-stalled")
        why = "registry.ollama.ai answered 404: there is no model qwen3:30b-a3b; look for its name on ollama.com."
        tell(PullProgress(third, states.FAILED, 0, None, note=why))
        tell(PullProgress(first, states.VERIFYING, 4_100_000_000, 4_100_000_000))
        await self._take("download-failed")
        theme.current().set_appearance(os.environ["SOTTO_APPEARANCE"], 2.0)
        tell(running)
        await self._take("download-large")
        models.downloading.open()
        card.field.setText("llama 3.2: the one with 3b")
        card.get.click()
        await self._take("get-large")
        card.close_card()
        theme.current().set_appearance(os.environ["SOTTO_APPEARANCE"], 1.0)
        downloads.cancel(second)
        await self._take("download-cancelled")
        self.stage.window.chat.notice.hide()
        downloads.cancel(third)
        tell(PullProgress(first, states.DONE, 4_100_000_000, 4_100_000_000))
        await self._take("download-done")
        self.stage.window.chat.notice.hide()

    async def _take_answer(self) -> None:
        """Take an answer with every kind of content."""
        from sotto.chats.chat_records import Role, State, Turn
        from sotto.ui.transcript.collapsible_parts import ThoughtPart

        transcript = self.stage.window.chat.transcript
        transcript.clear()
        transcript.add_question(Turn(1, None, Role.USER, "How are quadratic equations solved?", State.COMPLETE, 0.0))
        answer = transcript.add_answer("sotto")
        answer.append(THOUGHT)
        await self._take("thinking")
        await asyncio.sleep(2.0)  # so that the thought has a duration
        answer.append(ANSWER)
        transcript.end_answer(Turn(2, 1, Role.ASSISTANT, THOUGHT + ANSWER, State.COMPLETE, 0.0))
        await asyncio.sleep(2.0)  # formulas and colours
        bar = transcript.verticalScrollBar()
        bar.setValue(0)
        await self._take("rendering")
        bar.setValue(bar.maximum())
        await self._take("rendering-end")
        bar.setValue(0)
        thought = answer.body.parts[0]
        assert isinstance(thought, ThoughtPart)
        thought.button.click()
        await self._take("thought")

    async def _take(self, scene: str, widget: "QWidget | None" = None) -> None:
        await asyncio.sleep(0.4)
        (widget or self.stage.window).grab().save(str(self._folder / self._name.format(scene)))
