"""Take pictures of the real window: `python packaging/screenshots.py FOLDER`.

The window runs over the real engine with the built-in model, off the screen, in a home of its own with a few sample
models, whose weights are empty files of the right length. Nothing is drawn by hand: a load and an answer are merely
held for as long as a picture takes. With `--readme` the pictures of the README are written to packaging/screenshots.
"""

import argparse
import asyncio
import json
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

ROOT = Path(__file__).resolve().parents[1]
QUESTION = "How do I load a bigger model?"
# What the built-in model is too small to say: shown as if it had.
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
    """Take every picture, each appearance and scale in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the pictures go")
    parser.add_argument("--readme", action="store_true", help="write the README's pictures to packaging/screenshots")
    parser.add_argument("--one", nargs=2, metavar=("APPEARANCE", "SCALE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.one:
        return take(options.folder, *options.one)
    for appearance in ("light", "dark"):
        for scale in ("1", "2"):
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
    """Put sample models into `home`; return the environment variables that lead to them."""
    cache = home / "hub"
    for name, size, bits in (
        ("mlx-community/Llama-3.2-3B-Instruct-4bit", 1_807_496_278, 4),
        ("mlx-community/Llama-3.1-8B-Instruct-8bit", 8_532_000_000, 8),
    ):
        commit = "0123456789abcdef0123456789abcdef01234567"
        folder = cache / f"models--{name.replace('/', '--')}"
        snapshot = folder / "snapshots" / commit
        snapshot.mkdir(parents=True)
        (folder / "refs").mkdir()
        (folder / "refs" / "main").write_text(commit)
        write_model(snapshot, size, bits)
    write_model(home / ".lmstudio" / "models" / "lmstudio-community" / "Meta-Llama-3-8B-MLX-4bit", 4_517_000_000, 4)
    write_gguf(home / "ollama", "llama3.2", 2_019_377_376)
    return {"HF_HUB_CACHE": str(cache), "OLLAMA_MODELS": str(home / "ollama")}


def write_model(folder: Path, size: int, bits: int) -> None:
    """Write a folder that looks like a model of `size` bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    config = {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        "hidden_size": 3072,
        "num_hidden_layers": 28,
        "num_attention_heads": 24,
        "num_key_value_heads": 8,
        "intermediate_size": 8192,
        "vocab_size": 128_256,
        "rms_norm_eps": 1e-5,
        "rope_theta": 500_000.0,
        "max_position_embeddings": 131_072,
        "quantization": {"group_size": 64, "bits": bits},
    }
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").write_text("{}")
    (folder / "tokenizer_config.json").write_text("{}")
    # Packed values, then a 16-bit scale and a 16-bit bias for every 64 of them.
    groups = size * 8 // (64 * bits + 32)
    layer, parts, end = "model.embed_tokens", {}, 0
    for name, dtype, columns, width in (
        ("weight", "U32", groups * 2 * bits, 4),
        ("scales", "BF16", groups, 2),
        ("biases", "BF16", groups, 2),
    ):
        begin, end = end, end + columns * width
        parts[f"{layer}.{name}"] = {"dtype": dtype, "shape": [1, columns], "data_offsets": [begin, end]}
    header = json.dumps(parts).encode()
    header += b" " * (-len(header) % 8)
    with (folder / "model.safetensors").open("wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        file.truncate(8 + len(header) + end)


def write_gguf(store: Path, name: str, size: int) -> None:
    """Write a store of Ollama's with a GGUF model."""
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

    from sotto.ui import theme
    from sotto.ui.app import Application

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


class Stage:
    """The window, brought into one state after the other."""

    def __init__(self, folder: Path, name: str) -> None:
        """Take pictures into `folder`; `name` has a place for the scene."""
        from sotto.paths import config_dir, data_dir
        from sotto.ui.chat_keeper import ChatKeeper
        from sotto.ui.engine_thread import EngineThread
        from sotto.ui.preferences import PreferenceKeeper
        from sotto.ui.session import Session
        from sotto.ui.shell import Shell

        self._folder, self._name = folder, name
        self._go_on = threading.Event()
        self._held: Callable[[object], bool] = lambda event: False
        self.thread = EngineThread(make_loop=self._loop)
        self.session = Session(self.thread)
        self.keeper = ChatKeeper(data_dir() / "chats.sqlite3")
        self.preferences = PreferenceKeeper(config_dir() / "app.json")
        self.shell = Shell(self.session, self.keeper, self.preferences)
        self.window = self.shell.window
        self.window.resize(1120, 740)

    def _loop(self, emit: Callable[[object], None]) -> object:
        """Return the engine's own loop, which waits where a picture is to be taken."""
        from sotto.runner.loop import EngineLoop

        def pass_on(event: object) -> None:
            emit(event)
            if self._held(event):
                self._go_on.wait()

        return EngineLoop(pass_on)

    async def play(self) -> None:
        """Take all pictures."""
        from sotto.engine.types import LoadProgress, SamplingOptions, TextChunk
        from sotto.ui.flows import Flows
        from sotto.ui.states import ChatSettings, Phase

        session, window = self.session, self.window
        flows = Flows(asyncio.get_running_loop())
        session.settings = ChatSettings(sampling=SamplingOptions(temperature=0.0))
        window.show()

        self._held = lambda event: isinstance(event, LoadProgress) and event.done > 0.3 * event.total > 0
        self.shell.begin(flows)
        await self._until(lambda: session.state.fraction is not None and session.state.fraction > 0)
        await self._take("loading")
        self._release()

        await self._until(lambda: session.state.phase is Phase.READY)
        await asyncio.sleep(2.0)  # the greeting
        await self._take("empty")

        window.chat.composer.draft.setPlainText("What can you do?")
        window.chat.composer.button.click()
        await self._until(lambda: not window.dialogue.busy)
        said: list[str] = []

        def some(event: object) -> bool:
            if isinstance(event, TextChunk):
                said.append(event.text)
            return len("".join(said)) > 60

        self._held = some
        window.chat.composer.draft.setPlainText(QUESTION)
        window.chat.composer.button.click()
        await self._until(lambda: len("".join(said)) > 60 or not window.dialogue.busy)
        await self._take("streaming")
        self._release()
        await self._until(lambda: not window.dialogue.busy)
        await asyncio.sleep(0.5)  # the list of chats
        await self._take("answer")

        transcript = window.chat.transcript
        transcript.messages[-1].again.click()
        await self._until(lambda: not window.dialogue.busy)
        await asyncio.sleep(0.5)
        await self._take("versions")
        transcript.messages[-2].edit.click()
        await self._take("editing")
        transcript.messages[-2].end_edit()
        window.chat.toggle_choices()
        await self._take("choices")
        window.chat.hide_choices()

        await self._take_answer()

        self._drag(
            Path(os.environ["HOME"]) / ".lmstudio" / "models" / "lmstudio-community" / "Meta-Llama-3-8B-MLX-4bit"
        )
        await self._take("drag-over")
        window.overlay.hide()

        broken = Path(os.environ["HOME"]) / "Llama-3.2-1B-Instruct-4bit"
        write_model(broken, 695_000_000, 4)
        with (broken / "model.safetensors").open("r+b") as file:
            file.truncate(412_000_000)
        from sotto.ui.drops import Dropped

        session.open(Dropped((broken,), ()))
        await self._until(window.chat.notice.isVisible)
        await self._take("error")

        await self._quick()
        self.shell.close()
        await flows.close()
        if not self.thread.close():
            raise SystemExit("The engine did not stop.")
        self.keeper.close()

    async def _quick(self) -> None:
        """Take the pictures of the quick prompt and of the tray's menu."""
        from PySide6.QtGui import QGuiApplication
        from PySide6.QtWidgets import QMenu

        from sotto.engine.types import TextChunk
        from sotto.ui import tray

        QGuiApplication.clipboard().setText("Text from elsewhere")
        quick = self.shell.quick
        quick.show()
        await self._take("quick-empty", quick.panel)
        self._held = lambda event: isinstance(event, TextChunk)
        quick.panel.composer.draft.setPlainText("What does 4-bit mean?")
        quick.panel.composer.button.click()
        await self._until(lambda: quick.dialogue.answering and bool(quick.panel.transcript.answer.body.markdown))
        await self._take("quick-answering", quick.panel)
        self._release()
        await self._until(lambda: not quick.dialogue.busy)
        await self._take("quick-answered", quick.panel)
        quick.hide()
        menu = QMenu()
        names = [model.name for model in self.session.models if model.runnable]
        recent = tray.recent(self.session.models, names)
        tray.fill(menu, tray.entries(self.session.state, recent, "Ctrl+Alt+Space"), lambda entry: None)
        menu.ensurePolished()
        menu.resize(menu.sizeHint())
        await self._take("tray", menu)

    async def _take_answer(self) -> None:
        """Take pictures of an answer with all that there is in answers."""
        from sotto.chats.records import Role, State, Turn

        transcript = self.window.chat.transcript
        transcript.clear()
        transcript.add_question(Turn(1, None, Role.USER, "How are quadratic equations solved?", State.COMPLETE, 0.0))
        answer = transcript.add_answer("sotto")
        answer.append(THOUGHT)
        await self._take("thinking")
        await asyncio.sleep(2.0)  # so that the thought has a number
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
        from sotto.ui.drops import Dropped

        self.window.overlay.promise(Dropped((path,), ()))

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
