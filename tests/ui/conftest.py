"""Fixtures for the application, its event loop, and windows that are torn down cleanly."""

import gc
from dataclasses import dataclass, field

import pytest
import qasync
import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, Qt, QThread, QTimer
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from scripted_loop import Script, ScriptedLoop, record
from scripted_queue import ScriptedQueue
from sotto.store.discovery import Listing
from sotto.store.watching import WatchedFolders
from sotto.ui.app.app import Application
from sotto.ui.app.shell import Shell
from sotto.ui.conversation.chat_thread import ChatThread
from sotto.ui.preferences.preferences import PreferenceStore
from sotto.ui.quick.quick_panel import QuickPanel
from sotto.ui.session.engine_thread import EngineThread
from sotto.ui.session.model_library import ModelLibrary
from sotto.ui.session.session import Session
from sotto.ui.state.memory_estimate import MemorySample
from sotto.ui.state.model_state import Phase
from sotto.ui.timing.async_tasks import AsyncTasks
from sotto.ui.toolkit import theme
from sotto.ui.window.main_window import MainWindow

# Have pytest rewrite the assertions in these helpers, so that failures show values as they do in tests.
pytest.register_assert_rewrite("clipping", "window_checks")


@pytest.fixture(scope="session")
def qapp_cls():
    return Application


@pytest.fixture(autouse=True)
def own_home(monkeypatch, tmp_path_factory):
    """Return an empty home folder, so that the tests never see the stores of the person who runs them."""
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
def no_button_left():
    """Fail if a test leaves a mouse button pressed: no later window would become active."""
    yield
    assert QGuiApplication.mouseButtons() == Qt.MouseButton.NoButton


@pytest.fixture(autouse=True)
def no_thread_left():
    """Fail a test that leaves a QThread running."""
    gc.disable()  # as in the app: Qt objects must be destroyed only on Qt's own thread
    yield
    gc.collect()
    gc.enable()
    running = [
        obj for obj in gc.get_objects() if isinstance(obj, QThread) and shiboken6.isValid(obj) and obj.isRunning()
    ]
    assert not running


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Run a test that uses the `loop` fixture inside that loop, from a plain callback.

    Tasks then continue to run while the test waits.
    """
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
        # Close them inside the loop: when pytest-qt processes events later, they would not find a running loop.
        for tasks in loop.tasks:
            await tasks.close()
        loop.stop()

    QTimer.singleShot(0, body)
    loop.run_forever()
    if raised:
        raise raised[0]
    return True


class PatientBot(QtBot):
    """Has longer default timeouts, because a moment can become seconds on a machine that runs many tests."""

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
    """Yield the theme, and restore it afterwards."""
    look = theme.current()
    look.set_appearance("light", 1.0)
    yield look
    look.set_appearance("light", 1.0)


@pytest.fixture
def preferences(qapp, tmp_path):
    """Yield preferences with nothing chosen yet; the application's appearance follows them."""
    made = PreferenceStore(tmp_path / "config" / "app.json")
    made.changed.connect(lambda values: theme.current().set_appearance(values.appearance or "light", values.zoom))
    yield made
    made.close()
    destroy(made)


def destroy(*objects):
    """Delete Qt objects on Qt's thread, even if something still refers to them."""
    for obj in objects:
        obj.deleteLater()
        QCoreApplication.sendPostedEvents(obj, QEvent.Type.DeferredDelete)


@pytest.fixture
def destroyed():
    """Return the `destroy` function."""
    return destroy


@dataclass
class Shelf:
    """Stands in for the model stores: it holds the models that the test puts into it."""

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

    def devices(self, roots):
        return {}

    def verify(self, record, cancelled):
        self.verified.append(record)
        return self.damage


@pytest.fixture
def queue(monkeypatch):
    """Replace the download queue with a scripted one."""
    made = ScriptedQueue()
    monkeypatch.setattr("sotto.ui.models.downloads.open_queue", made.open)
    return made


@dataclass
class Stage:
    """A window with a scripted engine and a scripted download queue."""

    window: MainWindow
    session: Session
    keeper: ChatThread
    thread: EngineThread
    script: Script
    shelf: Shelf
    queue: ScriptedQueue

    @property
    def chat_session(self):
        """Return the conversation in view."""
        return self.window.current.session


@pytest.fixture
def stage(qtbot, loop, tasks, dressed, preferences, queue, tmp_path):
    """Yield a window over a scripted engine, with models that need not exist."""
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
    window.finding.close()
    for hold in (script.hold_load, script.hold_prefill, script.hold_answer):
        if hold is not None:
            hold.set()
    assert thread.close()
    keeper.close()
    destroy(window, session, thread, keeper)


@pytest.fixture
def same_machine(monkeypatch):
    """Report the same amount of memory on every machine."""
    sample = MemorySample(16 << 30, 12 << 30, 1 << 30)
    monkeypatch.setattr("sotto.ui.state.memory_estimate.sample_memory", lambda: sample)


@pytest.fixture
def directed(qapp):
    """Yield a function that sets the layout direction, and restore it afterwards."""
    yield qapp.setLayoutDirection
    qapp.setLayoutDirection(Qt.LayoutDirection.LeftToRight)


@pytest.fixture
def real_window(qtbot, loop, tasks, dressed, preferences, tmp_path):
    """Yield a function that shows the window over a given host of the real engine.

    The built-in model is loaded before the test begins.
    """
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
        window.finding.close()
        session.library.close()
        assert thread.close(30_000)
        keeper.close()
        destroy(window, session, thread, keeper)


@dataclass
class Around:
    """The app with a scripted engine; none of its windows are shown yet."""

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
def around(qapp, loop, tasks, dressed, preferences, queue, tmp_path):
    """Yield the app around a window over a scripted engine."""
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
    widgets = [widget for widget in qapp.topLevelWidgets() if isinstance(widget, MainWindow | QuickPanel)]
    destroy(*widgets, shell, session, thread, keeper)


@pytest.fixture
def ready(stage, qtbot, loop):
    """Return the stage with its first model loaded before the test begins."""

    def load():
        qtbot.waitUntil(lambda: bool(stage.session.library.models))
        stage.session.load(stage.session.library.models[0])
        qtbot.waitUntil(lambda: stage.session.state.phase is Phase.READY)

    loop.starts.append(load)
    return stage
