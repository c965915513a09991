"""Take screenshots of the real window: `python packaging/screenshots.py FOLDER`.

The window runs offscreen with the real engine and the built-in model, in a temporary home folder with a few sample
models whose weight files are sparse. Nothing is drawn by hand: a load or an answer is merely paused while a picture is
taken. With `--readme` the pictures of the README are also written to packaging/screenshots.
"""

import argparse
import asyncio
import json
import math
import os
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from sotto.chats.chat_store import ChatStore
    from sotto.store.pull.progress import PullProgress

ROOT = Path(__file__).resolve().parents[1]
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


def main() -> int:
    """Take every picture, with a process for each appearance and scale."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the pictures go")
    parser.add_argument("--readme", action="store_true", help="write the README's pictures to packaging/screenshots")
    parser.add_argument("--only", nargs=2, metavar=("APPEARANCE", "SCALE"), help="take those of one look")
    parser.add_argument("--one", nargs=2, metavar=("APPEARANCE", "SCALE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.one:
        return take(options.folder, *options.one)
    for appearance in ("light", "dark"):
        for scale in ("1", "2"):
            if options.only and options.only != [appearance, scale]:
                continue
            with tempfile.TemporaryDirectory() as home:
                environment = {
                    **os.environ,
                    "QT_QPA_PLATFORM": "offscreen",
                    "QT_SCALE_FACTOR": scale,
                    "SOTTO_APPEARANCE": appearance,
                    "HOME": home,
                    **furnish(Path(home)),
                }
                command = [sys.executable, __file__, str(options.folder), "--one", appearance, scale]
                subprocess.run(command, env=environment, check=True)
    if options.readme:
        target = ROOT / "packaging" / "screenshots"
        target.mkdir(parents=True, exist_ok=True)
        for appearance in ("light", "dark"):
            (target / f"sotto-{appearance}.png").write_bytes(
                (options.folder / f"{appearance}-answer@2x.png").read_bytes()
            )
    return 0


def furnish(home: Path) -> dict[str, str]:
    """Put sample models into `home`, and return the environment variables that name their folders."""
    cache = home / "hub"
    for name, shape, bits in (
        ("mlx-community/Llama-3.2-3B-Instruct-4bit", SHAPES["3B"], 4),
        ("mlx-community/Llama-3.1-8B-Instruct-8bit", SHAPES["8B"], 8),
    ):
        commit = "0123456789abcdef0123456789abcdef01234567"
        folder = cache / f"models--{name.replace('/', '--')}"
        snapshot = folder / "snapshots" / commit
        snapshot.mkdir(parents=True)
        (folder / "refs").mkdir()
        (folder / "refs" / "main").write_text(commit)
        write_model(snapshot, shape, bits)
    community = home / ".lmstudio" / "models" / "lmstudio-community"
    write_model(community / "Meta-Llama-3-8B-MLX-4bit", SHAPES["8B"], 4)
    write_model(community / "Llama-33B-Instruct-MLX-4bit", SHAPES["33B"], 4)
    write_model(community / "Llama-3.3-70B-Instruct-MLX-4bit", SHAPES["70B"], 4)
    write_model(community / "Llama-3.2-1B-experiment", SHAPES["1B"], 4, config={"num_hidden_layers": 17})
    # A copy of a model in the Hugging Face cache.
    write_model(home / "disk" / "Llama-3.2-3B-Instruct-4bit", SHAPES["3B"], 4)
    write_model(home / "disk" / "Llama-3.2-1B-Instruct-4bit", SHAPES["1B"], 4)
    write_gguf(home / "ollama", "llama3.2", 2_019_377_376)
    return {"HF_HUB_CACHE": str(cache), "OLLAMA_MODELS": str(home / "ollama"), "SOTTO_FOLDERS": str(home / "disk")}


# Hidden size, layers, heads, key-value heads, intermediate size.
SHAPES = {
    "1B": (2048, 16, 32, 8, 8192),
    "3B": (3072, 28, 24, 8, 8192),
    "8B": (4096, 32, 32, 8, 14336),
    "33B": (6656, 60, 52, 4, 17920),
    "70B": (8192, 80, 64, 8, 28672),
}
VOCABULARY = 128_256


def write_model(
    folder: Path, shape: tuple[int, int, int, int, int], bits: int, config: dict[str, int] | None = None
) -> None:
    """Write a model folder that looks like a Llama, with a sparse weight file.

    Args:
        folder: The folder to create.
        shape: One of `SHAPES`.
        bits: Bits of the quantized weights.
        config: Values that override those of `config.json`.
    """
    hidden, layers, heads, groups, inner = shape
    folder.mkdir(parents=True, exist_ok=True)
    written = {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": groups,
        "intermediate_size": inner,
        "vocab_size": VOCABULARY,
        "rms_norm_eps": 1e-5,
        "rope_theta": 500_000.0,
        "max_position_embeddings": 131_072,
        "tie_word_embeddings": True,
        "quantization": {"group_size": 64, "bits": bits},
    }
    (folder / "config.json").write_text(json.dumps(written | (config or {})))
    (folder / "tokenizer.json").write_text("{}")
    (folder / "tokenizer_config.json").write_text("{}")
    header: dict[str, object] = {}
    end = 0

    def add(name: str, dtype: str, shape: tuple[int, ...], width: int) -> None:
        nonlocal end
        begin, end = end, end + math.prod(shape) * width
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}

    def add_matrix(name: str, rows: int, columns: int) -> None:
        add(f"{name}.weight", "U32", (rows, columns * bits // 32), 4)
        add(f"{name}.scales", "BF16", (rows, columns // 64), 2)
        add(f"{name}.biases", "BF16", (rows, columns // 64), 2)

    add_matrix("model.embed_tokens", VOCABULARY, hidden)
    for number in range(layers):
        layer = f"model.layers.{number}"
        for name, rows in (("q", heads), ("k", groups), ("v", groups), ("o", heads)):
            add_matrix(f"{layer}.self_attn.{name}_proj", hidden // heads * rows, hidden)
        add_matrix(f"{layer}.mlp.gate_proj", inner, hidden)
        add_matrix(f"{layer}.mlp.up_proj", inner, hidden)
        add_matrix(f"{layer}.mlp.down_proj", hidden, inner)
        for norm in ("input_layernorm", "post_attention_layernorm"):
            add(f"{layer}.{norm}.weight", "BF16", (hidden,), 2)
    add("model.norm.weight", "BF16", (hidden,), 2)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with (folder / "model.safetensors").open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + end)


def write_gguf(store: Path, name: str, size: int) -> None:
    """Write an Ollama store with a GGUF model of `size` bytes."""
    blobs = store / "blobs"
    blobs.mkdir(parents=True)
    digest, config = "b" * 64, "c" * 64
    (blobs / f"sha256-{config}").write_text(
        json.dumps({"model_format": "gguf", "model_family": "llama", "model_type": "3.2B", "file_type": "Q4_K_M"})
    )
    with (blobs / f"sha256-{digest}").open("wb") as file:
        file.write(b"GGUF")
        file.truncate(size)
    manifest = store / "manifests" / "registry.ollama.ai" / "library" / name
    manifest.mkdir(parents=True)
    kind = "application/vnd.ollama.image.model"
    docker = "application/vnd.docker"
    (manifest / "3b").write_text(
        json.dumps(
            {
                "schemaVersion": 2,
                "mediaType": f"{docker}.distribution.manifest.v2+json",
                "config": {
                    "mediaType": f"{docker}.container.image.v1+json",
                    "digest": f"sha256:{config}",
                    "size": (blobs / f"sha256-{config}").stat().st_size,
                },
                "layers": [{"mediaType": kind, "digest": f"sha256:{digest}", "size": size}],
            }
        )
    )


def take(folder: Path, appearance: str, scale: str) -> int:
    """Take the pictures of one appearance and scale."""
    import qasync
    from PySide6.QtGui import QFont, QFontDatabase

    from sotto.ui.app.app import Application
    from sotto.ui.toolkit import theme

    app = Application(["sotto"])
    families = QFontDatabase.families()
    family = next((name for name in ("Inter", "Noto Sans", "DejaVu Sans") if name in families), app.font().family())
    font = QFont(family)
    font.setPointSizeF(10)
    app.setFont(font)
    theme.current()
    stage = Stage(folder, f"{appearance}-{{}}{'' if scale == '1' else '@2x'}.png")
    with asyncio.Runner(loop_factory=lambda: qasync.QEventLoop(app)) as runner:
        runner.run(stage.play())
    return 0


class Registry:
    """A download queue without a network, whose progress the scenes report."""

    def open(self, tell: "Callable[[PullProgress], None]") -> "Registry":
        """Return itself as the queue that the window opens."""
        self.tell = tell
        return self

    def unfinished(self) -> "tuple[PullProgress, ...]":
        """Return no downloads of earlier runs."""
        return ()

    def add(self, name: str) -> None:
        """Ignore the command."""

    pause = resume = cancel = add

    def limit(self, bytes_per_second: int | None) -> None:
        """Ignore the limit."""

    def close(self) -> None:
        """Do nothing."""


class Stage:
    """The window, brought into one state after another."""

    def __init__(self, folder: Path, name: str) -> None:
        """Take pictures into `folder`; `name` is a format string for the name of the scene."""
        from sotto.paths import config_dir, data_dir
        from sotto.ui.app.shell import Shell
        from sotto.ui.conversation.chat_thread import ChatThread
        from sotto.ui.models import downloads
        from sotto.ui.preferences.preferences import PreferenceStore
        from sotto.ui.session.engine_thread import EngineThread
        from sotto.ui.session.session import Session

        self.registry = Registry()
        downloads.open_queue = self.registry.open
        self._folder, self._name = folder, name
        self._go_on = threading.Event()
        self._held: Callable[[object], bool] = lambda event: False
        self.thread = EngineThread(make_loop=self._loop)
        self.keeper = ChatThread(data_dir() / "chats.sqlite3")
        self.preferences = PreferenceStore(config_dir() / "app.json")
        self.session = Session(self.thread, self.preferences)
        self.shell = Shell(self.session, self.keeper, self.preferences)
        self.window = self.shell.window
        self.window.resize(1120, 740)

    def _loop(self, emit: Callable[[object], None]) -> object:
        """Return the engine's loop, which pauses after events that `_held` accepts."""
        from sotto.runner.loop import EngineLoop

        def pass_on(event: object) -> None:
            emit(event)
            if self._held(event):
                self._go_on.wait()

        return EngineLoop(pass_on)

    async def play(self) -> None:
        """Take all pictures."""
        from sotto.engine.contract.events import LoadProgress, TextChunk
        from sotto.engine.contract.requests import SamplingOptions
        from sotto.ui.state.model_state import ChatSettings, Phase
        from sotto.ui.toolkit.async_tasks import AsyncTasks

        session, window = self.session, self.window
        tasks = AsyncTasks(asyncio.get_running_loop())
        session.settings = ChatSettings(sampling=SamplingOptions(temperature=0.0))
        window.show()

        self._held = lambda event: isinstance(event, LoadProgress) and event.done > 0.3 * event.total > 0
        self.shell.begin(tasks)
        await self._until(lambda: session.state.fraction is not None and session.state.pace.shown)
        await self._take("loading")
        self._release()

        await self._until(lambda: session.state.phase is Phase.READY)
        await asyncio.sleep(2.0)  # the greeting
        await self._take("empty")
        await self._take_details()
        await self._take_downloads()

        window.chat.composer.draft.setPlainText("What can you do?")
        window.chat.composer.button.click()
        await self._until(lambda: not window.current.session.busy)
        chunks: list[str] = []

        def has_begun(event: object) -> bool:
            if isinstance(event, TextChunk):
                chunks.append(event.text)
            return len("".join(chunks)) > 60

        self._held = has_begun
        window.chat.composer.draft.setPlainText(QUESTION)
        window.chat.composer.button.click()
        await self._until(lambda: len("".join(chunks)) > 60 or not window.current.session.busy)
        await self._take("streaming")
        self._release()
        await self._until(lambda: not window.current.session.busy)
        await asyncio.sleep(0.5)  # the list of chats
        await self._take("answer")

        transcript = window.chat.transcript
        transcript.messages[-1].again.click()
        await self._until(lambda: not window.current.session.busy)
        await asyncio.sleep(0.5)
        await self._take("versions")
        transcript.messages[-2].edit.click()
        await self._take("editing")
        transcript.messages[-2].end_edit()
        window.chat.toggle_choices()
        await self._take("choices")
        await self._take_presets()
        window.chat.hide_choices()
        await self._take_palette()
        await self._take_settings()

        await self._attach()

        await self._fold()

        await self._take_answer()

        self._drag(
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
        await self._until(window.chat.notice.isVisible)
        await self._take("error")

        await self._quick()
        self.shell.close()
        await tasks.close()
        if not self.thread.close():
            raise SystemExit("The engine did not stop.")
        self.keeper.close()
        self.preferences.close()

    async def _take_presets(self) -> None:
        """Take the settings of a chat with a preset, and an attempt to rename it to an existing name."""
        window = self.window
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
        commands = self.window.commands
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

        self.preferences.change(folders=(str(Path(os.environ["HOME"]) / "models"), "/Volumes/Backup/models"))
        self.window.dialogs.show_settings()
        settings = self.window.dialogs.settings
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
        quick = self.shell.quick
        quick.show()
        await self._take("quick-empty", quick.panel)
        self._held = lambda event: isinstance(event, TextChunk)
        quick.panel.composer.draft.setPlainText("What does 4-bit mean?")
        quick.panel.composer.button.click()
        await self._until(lambda: quick.current.session.answering and bool(quick.panel.transcript.answer.body.markdown))
        await self._take("quick-answering", quick.panel)
        self._release()
        await self._until(lambda: not quick.current.session.busy)
        await self._take("quick-answered", quick.panel)
        quick.hide()
        menu = QMenu()
        names = [model.name for model in self.session.library.models if model.runnable]
        recent = tray.recent_models(self.session.library.models, names)
        tray.fill_menu(menu, tray.menu_entries(self.session.state, recent, "Ctrl+Alt+Space"), tray.escape)
        menu.ensurePolished()
        menu.resize(menu.sizeHint())
        await self._take("tray", menu)

    async def _attach(self) -> None:
        """Take attachments, and contexts that are overfull and nearly full."""
        window, home = self.window, Path(os.environ["HOME"])
        composer, draft = window.chat.composer, window.current.session.draft
        recipe, poem = home / "rice pilaf.md", home / "a rather long name of a poem that nobody ever finished.txt"
        recipe.write_text("# Rice pilaf\n\n" + "Toast the rice in butter, add twice as much stock, and wait.\n" * 12)
        poem.write_text("Roses are red.\n" * 40)
        self._drag(recipe)
        await self._take("drag-document")
        window.overlay.hide()
        window.composing.attach((recipe, poem))
        composer.draft.setPlainText("Which of these would you cook?")
        await self._until(
            lambda: len(draft.attachments) == 2 and all(attachment.tokens for attachment in draft.attachments)
        )
        await self._take("attachments")
        draft.detach(1)
        composer.button.click()
        await self._until(lambda: not window.current.session.busy)
        await asyncio.sleep(0.5)
        await self._take("attached")

        report = home / "report.txt"
        report.write_text("".join(f"On day {day} it rained, and nobody minded.\n" for day in range(400)))
        window.composing.attach((report,))
        composer.draft.setPlainText("When did it rain?")
        await self._until(composer.panel.isVisible)
        await self._take("context-over")
        draft.detach(0)
        await self._until(composer.panel.isHidden)
        use = window.composing.meter.use
        assert use is not None
        composer.draft.setPlainText("word " * round(0.93 * use.limit - use.tokens))
        await self._until(composer.panel.isVisible)
        await self._take("context-tight")
        composer.draft.clear()

    async def _fold(self) -> None:
        """Take chats in folders."""
        from PySide6.QtWidgets import QSplitter

        window, folders = self.window, ("Cooking", "Garden & house", "Work")

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
        self.keeper.do(fill, lambda _: window.chat_library.refresh())
        await self._until(lambda: len(window.sidebar.chats.model.rows) > 7)
        # Make room for the chats by shrinking the list of models.
        lists = window.sidebar.findChild(QSplitter, "lists")
        assert isinstance(lists, QSplitter)
        lists.setSizes([420, 160])
        await self._take("folders")

    async def _take_details(self) -> None:
        """Take the details of models that fit, barely fit, do not fit, and cannot be measured."""
        panel, card, planner = self.window.models.panel, self.window.models.card, self.window.models.planner
        await self._until(lambda: all(planner.measured(row.record) for row in panel.rows if row.record.runnable))
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
        self.window.chat.welcome.finds.toggle.click()
        await self._take("places")
        self.window.chat.welcome.finds.toggle.click()
        disk = Path(os.environ["HOME"]) / "disk"
        disk.rename(disk.with_name("away"))
        (row,) = [row for row in panel.rows if row.record.name.endswith("Llama-3.2-1B-Instruct-4bit")]
        await self._until(lambda: not all(row.record.present for row in panel.rows))
        panel.bring_into_view(panel.rows[-1])
        await self._take("absent")
        disk.with_name("away").rename(disk)
        await self._until(lambda: all(row.record.present for row in panel.rows))
        loaded = next(row for row in panel.rows if row.record.builtin)
        panel.clear_selection()
        panel.bring_into_view(loaded)

    async def _take_downloads(self) -> None:
        """Take the download form, and downloads in each state."""
        from sotto.store.pull.progress import PullProgress, PullState
        from sotto.ui.toolkit import theme

        models, tell = self.window.models, self.registry.tell
        card, downloads = models.downloading.form, models.downloading.downloads
        models.downloading.open()
        await self._take("get")
        card.field.setText("llama3.2:3b")
        await self._take("get-named")
        card.field.setText("llama 3.2: the one with 3b")
        card.get.click()
        await self._take("get-refused")
        card.closed.emit()
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
        card.closed.emit()
        theme.current().set_appearance(os.environ["SOTTO_APPEARANCE"], 1.0)
        downloads.cancel(second)
        await self._take("download-cancelled")
        self.window.chat.notice.hide()
        downloads.cancel(third)
        tell(PullProgress(first, states.DONE, 4_100_000_000, 4_100_000_000))
        await self._take("download-done")
        self.window.chat.notice.hide()

    async def _take_answer(self) -> None:
        """Take an answer with every kind of content."""
        from sotto.chats.chat_records import Role, State, Turn

        transcript = self.window.chat.transcript
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
        answer.body.parts[0].button.click()
        await self._take("thought")

    def _release(self) -> None:
        self._held = lambda event: False
        self._go_on.set()
        self._go_on = threading.Event()

    def _drag(self, path: Path) -> None:
        from sotto.ui.state.drop_contents import DropContents

        self.window.overlay.show_drop(DropContents((path,), ()))

    async def _until(self, condition: Callable[[], bool]) -> None:
        for _ in range(1500):
            if condition():
                return
            await asyncio.sleep(0.02)
        raise SystemExit("The window did not get where the picture is to be taken.")

    async def _take(self, scene: str, widget: "QWidget | None" = None) -> None:
        await asyncio.sleep(0.4)
        (widget or self.window).grab().save(str(self._folder / self._name.format(scene)))


if __name__ == "__main__":
    sys.exit(main())
