"""The application, its event loop, and windows that are taken down well."""

import gc
import os
from dataclasses import dataclass, field

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import qasync
import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, Qt, QThread, QTimer
from pytestqt.qtbot import QtBot

from scripted_loop import Script, ScriptedLoop, record
from scripted_queue import ScriptedQueue
from sotto.store.discovery import Listing
from sotto.store.watching import WatchedFolders
from sotto.ui.app.app import Application
from sotto.ui.app.shell import Shell
from sotto.ui.conversation.chat_thread import ChatThread
from sotto.ui.preferences.preferences import PreferenceStore
from sotto.ui.session.engine_thread import EngineThread
from sotto.ui.session.model_library import ModelLibrary
from sotto.ui.session.session import Session
from sotto.ui.state.memory_estimate import MemorySample
from sotto.ui.state.model_state import Phase
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.async_tasks import AsyncTasks
from sotto.ui.window.main_window import MainWindow

# Assertions of these helpers show their values, as those of tests do.
pytest.register_assert_rewrite("clipping", "window_checks")


@pytest.fixture(scope="session")
def qapp_cls():
    return Application


@pytest.fixture(autouse=True)
def own_home(monkeypatch, tmp_path_factory):
    """Keep every store of the person who runs the tests out of them."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    for name in (
        "OLLAMA_MODELS",
        "HF_HUB_CACHE",
        "HF_HOME",
        "XDG_CACHE_HOME",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "XDG_STATE_HOME",
        "SOTTO_FOLDERS",
        "WAYLAND_DISPLAY",
        "DBUS_SESSION_BUS_ADDRESS",
    ):
        monkeypatch.delenv(name, raising=False)
    return home


@pytest.fixture(autouse=True)
def no_thread_left():
    """Fail a test that leaves a thread of Qt's running."""
    gc.disable()  # as in the app: objects of Qt may be destroyed on Qt's own thread alone
    yield
    gc.collect()
    gc.enable()
    running = [
        one for one in gc.get_objects() if isinstance(one, QThread) and shiboken6.isValid(one) and one.isRunning()
    ]
    assert not running


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Run a test that has the `loop` inside it, from a plain callback, so that tasks go on while the test waits."""
    loop = pyfuncitem.funcargs.get("loop")
    if loop is None:
        return None
    raised = []
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}

    def body():
        try:
            for start in loop.starts:
                start()
            pyfuncitem.obj(**arguments)
        except BaseException as error:
            raised.append(error)
        finally:
            loop.create_task(end())

    async def end():
        # Outside the loop that runs, what pytest-qt sets going would find no running loop.
        for tasks in loop.tasks:
            await tasks.close()
        loop.stop()

    QTimer.singleShot(0, body)
    loop.run_forever()
    if raised:
        raise raised[0]
    return True


class PatientBot(QtBot):
    """Waits longer where nobody says how long: what takes a moment takes seconds on a machine that runs many tests."""

    def waitUntil(self, callback, *, timeout=30_000):
        super().waitUntil(callback, timeout=timeout)

    def waitSignal(self, signal, *, timeout=30_000, **more):
        return super().waitSignal(signal, timeout=timeout, **more)


@pytest.fixture
def qtbot(qapp, request):
    return PatientBot(request)


@pytest.fixture
def loop(qapp):
    made = qasync.QEventLoop(qapp)
    made.starts, made.tasks = [], []
    yield made
    made.close()


@pytest.fixture
def tasks(loop):
    made = AsyncTasks(loop)
    loop.tasks.append(made)
    return made


@pytest.fixture
def dressed(qapp):
    """The theme, put back afterwards."""
    look = theme.current()
    look.set_appearance("light", 1.0)
    yield look
    look.set_appearance("light", 1.0)


@pytest.fixture
def preferences(qapp, tmp_path):
    """What a person chose: nothing yet. The application looks as it says."""
    made = PreferenceStore(tmp_path / "config" / "app.json")
    made.changed.connect(lambda values: theme.current().set_appearance(values.appearance or "light", values.zoom))
    yield made
    made.close()
    destroy(made)


def destroy(*objects):
    """Delete objects of Qt on Qt's thread, whoever still refers to them."""
    for one in objects:
        one.deleteLater()
        QCoreApplication.sendPostedEvents(one, QEvent.Type.DeferredDelete)


@pytest.fixture
def destroyed():
    """Hand over `destroy`."""
    return destroy


@dataclass
class Shelf:
    """Models that are where the test says they are."""

    records: list = field(default_factory=list)
    at: dict = field(default_factory=dict)
    problem: Exception | None = None
    opened: list = field(default_factory=list)
    verified: list = field(default_factory=list)
    damage: str = ""
    folders_asked: tuple = ()

    def find(self, folders=()):
        self.folders_asked = tuple(folders)
        return Listing(tuple(self.records), (), ())

    def open(self, path):
        self.opened.append(path)
        found = self.at.get(path)
        if isinstance(found, Exception):
            raise found
        assert found is not None, path
        return found

    def folders(self, roots):
        return WatchedFolders()

    def presence(self, roots):
        return None

    def verify(self, record, cancelled):
        self.verified.append(record)
        return self.damage


@pytest.fixture
def queue(monkeypatch):
    """Let downloads go as the test says."""
    made = ScriptedQueue()
    monkeypatch.setattr("sotto.ui.models.downloads.open_queue", made.open)
    return made


@dataclass
class Stage:
    """A window whose engine plays a script, and whose downloads do."""

    window: MainWindow
    session: Session
    keeper: ChatThread
    thread: EngineThread
    script: Script
    shelf: Shelf
    queue: ScriptedQueue

    @property
    def chat_session(self):
        """The conversation in view."""
        return self.window.current.session


@pytest.fixture
def stage(qtbot, loop, tasks, dressed, preferences, queue, tmp_path):
    """Make a window over a scripted engine, with models that need not exist."""
    script, shelf = Script(), Shelf([record(), record("other:latest")])
    thread = EngineThread(make_loop=lambda emit: ScriptedLoop(emit, script))
    session = Session(thread, preferences, ModelLibrary(preferences, shelf))
    keeper = ChatThread(tmp_path / "data" / "chats.sqlite3")
    window = MainWindow(session, keeper, preferences)
    qtbot.addWidget(window)
    window.show()
    loop.starts.append(lambda: window.begin(tasks))
    yield Stage(window, session, keeper, thread, script, shelf, queue)
    window.hide()
    window.sessions.close()
    window.models.close()
    for hold in (script.hold_load, script.hold_prefill, script.hold_answer):
        if hold is not None:
            hold.set()
    assert thread.close()
    keeper.close()
    destroy(window, session, thread, keeper)


@pytest.fixture
def same_machine(monkeypatch):
    """Let every machine have the same memory."""
    sample = MemorySample(16 << 30, 12 << 30, 1 << 30)
    monkeypatch.setattr("sotto.ui.state.memory_estimate.sample_memory", lambda: sample)


@pytest.fixture
def directed(qapp):
    """Choose which way text runs; put back afterwards."""
    yield qapp.setLayoutDirection
    qapp.setLayoutDirection(Qt.LayoutDirection.LeftToRight)


@pytest.fixture
def real_window(qtbot, loop, tasks, dressed, preferences, tmp_path):
    """Return what shows the window over a host of the real engine; the built-in model is loaded when a test begins."""
    shown = []

    def show(thread):
        session, keeper = Session(thread, preferences), ChatThread(tmp_path / "chats.sqlite3")
        window = MainWindow(session, keeper, preferences)
        qtbot.addWidget(window)
        window.show()

        def begin():
            window.begin(tasks)
            qtbot.waitUntil(lambda: session.state.phase is Phase.READY, timeout=30_000)

        loop.starts.append(begin)
        shown.append((window, session, thread, keeper))
        return window

    yield show
    for window, session, thread, keeper in shown:
        window.hide()
        window.sessions.close()
        window.models.close()
        session.library.close()
        assert thread.close(30_000)
        keeper.close()
        destroy(window, session, thread, keeper)


@dataclass
class Around:
    """The app around a window whose engine plays a script; nothing is to be seen yet."""

    shell: Shell
    session: Session
    keeper: ChatThread
    preferences: PreferenceStore
    script: Script
    shelf: Shelf
    queue: ScriptedQueue

    @property
    def panel(self):
        return self.shell.quick.panel

    def load(self, qtbot):
        """Load the first model."""
        qtbot.waitUntil(lambda: bool(self.session.library.models))
        self.session.load(self.session.library.models[0])
        qtbot.waitUntil(lambda: self.session.state.phase is Phase.READY)


@pytest.fixture
def around(loop, tasks, dressed, preferences, queue, tmp_path):
    """Make the app around a window over a scripted engine."""
    script, shelf = Script(), Shelf([record(), record("other:latest")])
    thread = EngineThread(make_loop=lambda emit: ScriptedLoop(emit, script))
    session = Session(thread, preferences, ModelLibrary(preferences, shelf))
    keeper = ChatThread(tmp_path / "data" / "chats.sqlite3")
    shell = Shell(session, keeper, preferences)
    loop.starts.append(lambda: shell.begin(tasks))
    yield Around(shell, session, keeper, preferences, script, shelf, queue)
    shell.close()
    for hold in (script.hold_load, script.hold_prefill, script.hold_answer):
        if hold is not None:
            hold.set()
    assert thread.close()
    keeper.close()
    widgets = [one for one in (shell._window, shell.quick._panel) if one is not None]
    destroy(*widgets, shell, session, thread, keeper)


@pytest.fixture
def ready(stage, qtbot, loop):
    """The stage, with its first model loaded."""

    def load():
        qtbot.waitUntil(lambda: bool(stage.session.library.models))
        stage.session.load(stage.session.library.models[0])
        qtbot.waitUntil(lambda: stage.session.state.phase is Phase.READY)

    loop.starts.append(load)
    return stage
