"""The page of models: opened from everywhere, sorted, filtered and operated, with the numbers that other parts show."""

import time
from dataclasses import dataclass, replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QContextMenuEvent, QFontMetrics
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from clicks import double_click, point_at
from clipping import assert_whole
from planned import GB, NEEDS
from scripted_loop import record
from sotto.paths import data_dir
from sotto.store.pull.progress import PullProgress, PullState
from sotto.store.records import ModelRecord, Place, Source
from sotto.ui.models.model_table import ModelTable
from sotto.ui.preferences.preferences import MODEL_COLUMNS, PreferenceStore
from sotto.ui.session.engine_thread import EngineThread
from sotto.ui.state import wording
from sotto.ui.state.memory_estimate import Fit, MemorySample
from sotto.ui.state.model_state import Phase
from sotto.ui.toolkit import theme
from sotto.ui.window.main_window import MainWindow
from stores import Store, folder
from window_checks import nameless

NAMES = ["cannot:1b", "huge:70b", "middle:8b", "small:1b", "tiny"]


@dataclass
class Machine:
    """The stage with models that fit, do not fit and cannot run, and the page of models."""

    stage: object
    small: ModelRecord
    middle: ModelRecord
    huge: ModelRecord
    cannot: ModelRecord

    @property
    def window(self):
        return self.stage.window

    @property
    def page(self):
        return self.window.models.page

    def open(self):
        self.window.models.open_page()
        return self.page


@pytest.fixture
def machine(ready, qtbot, loop, tmp_path):
    """Return the stage on a machine with 16 GB."""

    def made(name, size, **known):
        """Return a model with a sparse file of its size."""
        path = tmp_path / "models" / name.partition(":")[0] / "model.gguf"
        path.parent.mkdir(parents=True)
        with path.open("wb") as file:
            file.truncate(size)
        return record(name, size=size, path=path, **known)

    small = made("someone/small:1b", GB, parameters=10**9, context_length=8192)
    huge = made("huge:70b", 40 * GB, parameters=70 * 10**9, context_length=None)
    cannot = made("cannot:1b", 2 * GB, runnable=False, reason="It has no template.", parameters=None, quantization="")
    middle = made(
        "middle:8b",
        4 * GB,
        parameters=8 * 10**9,
        quantization="Q8_0",
        context_length=131_072,
        source=Source.LMSTUDIO,
    )
    # A link takes up no space of its own.
    link = tmp_path / "cache" / "model.gguf"
    link.parent.mkdir()
    link.hardlink_to(middle.path)
    middle = replace(middle, also=(Place("copy", Source.HUGGINGFACE, link),))

    def fill():
        ready.window.resize(1800, 900)
        ready.shelf.records += [small, middle, huge, cannot]
        del ready.shelf.records[1]
        weights = {small.name: GB, middle.name: 4 * GB, huge.name: 40 * GB}
        ready.script.needs = {name: replace(NEEDS, weight_bytes=size) for name, size in weights.items()}
        ready.session.library.rescan()
        planner = ready.window.models.planner
        qtbot.waitUntil(lambda: all(planner.measured(each) is not None for each in (small, middle, huge)))
        ready.window.sidebar.gauge.sample_timer.stop()
        planner.set_sample(MemorySample(16 * GB, 12 * GB))
        qtbot.waitUntil(lambda: planner.projection(huge).fit is Fit.NO)

    loop.starts.append(fill)
    return Machine(ready, small, middle, huge, cannot)


def cell(page, record, column):
    """Return the text of a cell."""
    return page.model.index(page.model.row_of(record), MODEL_COLUMNS.index(column)).data()


def order(page):
    return [page.model.index(row, 0).data() for row in range(page.model.rowCount())]


def click_header(page, column):
    header = page.table.horizontalHeader()
    place = QPoint(header.sectionViewportPosition(MODEL_COLUMNS.index(column)) + 10, header.height() // 2)
    QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=place)


def row_place(page, record):
    """Return the middle of the row of a model, in the viewport."""
    return page.table.visualRect(page.model.index(page.model.row_of(record), 0)).center()


def test_the_page_is_reached_and_left_in_every_way(machine, qtbot, loop):
    ready, window, chat = machine.stage, machine.window, machine.window.chat
    picker, draft = window.models.picker, chat.composer.draft

    def choose_palette():
        window.commands.open()
        window.commands.palette.field.setText("manage models")
        qtbot.keyClick(window.commands.palette.field, Qt.Key.Key_Return)

    def choose_picker():
        qtbot.mouseClick(chat.header.title, Qt.MouseButton.LeftButton)
        picker.manage.click()
        assert picker.isHidden()

    def choose_menu():
        next(action for action in window.findChildren(QAction) if action.text() == "Manage Models…").trigger()

    def press_keys():
        qtbot.keyClick(window, Qt.Key.Key_M, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)

    def open_chat():
        view = window.sidebar.chats.view
        view.setCurrentIndex(view.model().index(1))
        qtbot.keyClick(view, Qt.Key.Key_Return)

    window.send("Hi")
    qtbot.waitUntil(lambda: len(window.sidebar.chats.model.rows) == 2 and not ready.chat_session.busy)
    ways_in = (window.sidebar.models.manage.click, choose_picker, choose_menu, press_keys, choose_palette)
    ways_out = (
        lambda: qtbot.keyClick(machine.page.table, Qt.Key.Key_Escape),
        lambda: machine.page.back.click(),
        open_chat,
        window.current.new_chat,
        lambda: qtbot.keyClick(machine.page.filter, Qt.Key.Key_Escape),
    )
    for enter, leave in zip(ways_in, ways_out, strict=True):
        enter()
        page = machine.page
        qtbot.waitUntil(page.isVisible)
        assert not chat.isVisible()
        assert page.table.hasFocus()
        # At first, the model in use is selected.
        assert page.table.current.name == "tiny:latest"
        leave()
        qtbot.waitUntil(chat.isVisible)
        assert not page.isVisible()
        assert draft.hasFocus()
    # What is done in the chat brings it back.
    window.models.open_page()
    qtbot.keyClick(window, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert chat.find_bar.isVisible()


def test_the_table_is_sorted_and_filtered(machine, qtbot, loop, preferences):
    now = time.time()
    preferences.change(last_used={machine.small.name: now - 7200, machine.middle.name: now - 86_400 * 3})
    ready, page = machine.stage, machine.open()
    table, model = page.table, page.model
    qtbot.waitUntil(lambda: not any(table.isColumnHidden(number) for number in range(len(MODEL_COLUMNS))))
    assert order(page) == NAMES
    rows = {
        each: [cell(page, each, column) for column in MODEL_COLUMNS]
        for each in (machine.small, machine.middle, machine.cannot)
    }
    assert rows[machine.small] == [
        "small:1b",
        "1B",
        "4-bit",
        "Fits · 5.0 GB",
        "8,192",
        "Ollama",
        "2 hours ago",
        "1.0 GB",
    ]
    assert rows[machine.middle][1:3] + rows[machine.middle][4:] == [
        *("8B", "Q8_0", "131,072", "LM Studio, Hugging Face", "3 days ago", "4.0 GB"),
    ]
    assert rows[machine.cannot] == ["cannot:1b", "", "", "Cannot run here", "4,096", "Ollama", "", "2.0 GB"]
    # What is not known comes last in both directions; numbers begin with the largest.
    descending, ascending = {}, {}
    for column in MODEL_COLUMNS:
        for found in (ascending, descending) if column in ("bits", "fit", "source") else (descending, ascending):
            click_header(page, column)
            found[column] = order(page)
    assert ascending["parameters"] == ["tiny", "small:1b", "middle:8b", "huge:70b", "cannot:1b"]
    assert descending["parameters"] == ["huge:70b", "middle:8b", "small:1b", "tiny", "cannot:1b"]
    assert ascending["bits"][3:] == ["middle:8b", "cannot:1b"]
    assert descending["bits"][0] == "middle:8b"
    assert ascending["fit"] == ["tiny", "small:1b", "middle:8b", "huge:70b", "cannot:1b"]
    assert ascending["context"] == ["cannot:1b", "tiny", "small:1b", "middle:8b", "huge:70b"]
    assert ascending["source"][0] == "middle:8b"
    assert descending["used"][:2] == ["small:1b", "middle:8b"]
    assert ascending["used"][:2] == ["middle:8b", "small:1b"]
    assert descending["disk"] == ["huge:70b", "middle:8b", "cannot:1b", "small:1b", "tiny"]
    assert descending["name"] == NAMES[::-1]
    # The order is remembered, and also chosen from a menu, for those who do not use a mouse.
    menu = {action.text(): action for action in page.order_menu().actions()}
    assert {*page.model.titles.values(), "Ascending", "Descending"} <= set(menu)
    menu["Fit"].trigger()
    assert preferences.values.models_sort == "fit"
    header = model.headerData(MODEL_COLUMNS.index("fit"), Qt.Orientation.Horizontal, Qt.ItemDataRole.AccessibleTextRole)
    assert header == "Fit, sorted up"
    others = ModelTable(ready.window.models.notes, ready.window.models.planner, ready.session.state_of, preferences)
    others.show_models(ready.session.library.models)
    assert [each.name for each in others.records] == [each.name for each in model.records]

    # Typing in the table filters it; the selection stays on its model.
    table.select(machine.middle)
    table.setFocus()
    qtbot.keyClicks(table, "m")
    assert page.filter.hasFocus()
    qtbot.keyClicks(page.filter, "iddle studio")
    assert order(page) == ["middle:8b"]
    assert page.summary.text() == "1 of 5 models · 4.0 GB on disk"
    qtbot.keyClick(page.filter, Qt.Key.Key_Down)
    assert table.hasFocus()
    assert table.current == machine.middle
    page.filter.setText("no such model")
    assert page.empty.text() == "No model is called “no such model”."
    assert page.summary.text() == "0 of 5 models"
    qtbot.keyClick(page.filter, Qt.Key.Key_Escape)
    assert len(order(page)) == 5
    assert table.current == machine.middle
    # A row that appears moves no selection.
    ready.shelf.records.append(record("another:1b"))
    ready.session.library.rescan()
    qtbot.waitUntil(lambda: len(order(page)) == 6)
    assert table.current == machine.middle


def test_models_are_operated_by_mouse_and_keyboard(machine, qtbot, loop):
    ready, window, page = machine.stage, machine.window, machine.open()
    table = page.table
    qtbot.waitUntil(page.card.isVisible)

    def loaded(name):
        return ready.session.state.phase is Phase.READY and ready.session.state.record.name == name

    # A double-click, which belongs to the row that was pressed first.
    viewport, left = table.viewport(), Qt.MouseButton.LeftButton
    QTest.mouseClick(viewport, left, pos=row_place(page, machine.small))
    assert page.card.name.text() == "someone/small:1b"
    QTest.mouseDClick(viewport, left, pos=row_place(page, machine.middle))
    QTest.mouseRelease(viewport, left, pos=row_place(page, machine.middle))
    qtbot.waitUntil(lambda: loaded(machine.small.name))
    qtbot.waitUntil(lambda: cell(page, machine.small, "fit").startswith("Loaded · "))
    assert page.card.load.text() == "Eject"
    # Enter, and the card by Space.
    table.select(machine.middle)
    table.setFocus()
    qtbot.keyClick(table, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: loaded(machine.middle.name))
    qtbot.keyClick(table, Qt.Key.Key_Space)
    assert page.card.isAncestorOf(QApplication.focusWidget())
    page.card.load.click()
    qtbot.waitUntil(lambda: ready.session.state.phase is Phase.FOUND)
    # What does not fit is confirmed in the card.
    table.select(machine.huge)
    table.setFocus()
    qtbot.keyClick(table, Qt.Key.Key_Return)
    assert page.card.load.hasFocus()
    assert page.card.load.text() == "Load anyway"
    # The menu, at the pointer and by key.
    for reason in (QContextMenuEvent.Reason.Mouse, QContextMenuEvent.Reason.Keyboard):
        table.select(machine.middle)
        place = row_place(page, machine.middle)
        QApplication.sendEvent(viewport, QContextMenuEvent(reason, place, viewport.mapToGlobal(place)))
        menu = QApplication.activePopupWidget()
        entries = [action.text() for action in menu.actions()]
        assert entries[:2] == ["Load", "Details"]
        assert {"Show Folder", "Verify Files", "Favourite", "Keep Loaded"} <= set(entries)
        menu.actions()[entries.index("Favourite")].trigger()
        menu.close()
    # A download appears on the page, too, as a whole.
    window.models.downloading.open()
    qtbot.keyClicks(window.models.downloading.form.field, "llama3.2:3b")
    qtbot.keyClick(window.models.downloading.form.field, Qt.Key.Key_Return)
    progress = PullProgress("llama3.2:3b", PullState.DOWNLOADING, GB, 4 * GB, 30_000_000, 100)
    ready.queue.report(progress)
    qtbot.waitUntil(lambda: [each.progress for each in page.downloads.rows] == [progress])
    (download,) = page.downloads.rows
    qtbot.waitUntil(lambda: download.height() >= download.sizeHint().height())
    qtbot.waitUntil(lambda: download.visibleRegion().boundingRect() == download.rect())
    assert page.isVisible()
    # What the page reports is seen on it, and with the chat again.
    window.models.panel.verify_wanted.emit(machine.middle)
    qtbot.waitUntil(lambda: page.notice.title.text() == "No damage found")
    assert page.notice.isVisible()
    page.back.click()
    assert window.chat.notice.title.text() == "No damage found"
    assert window.chat.notice.isVisible()
    assert page.notice.isHidden()


def test_the_gauge_the_row_the_card_and_the_table_say_the_same(machine, qtbot, loop):
    ready, window, page = machine.stage, machine.window, machine.page
    planner = window.models.planner
    gauge, row = window.sidebar.gauge, next(row for row in window.sidebar.rows if row.record == machine.middle)
    floating, docked = window.models.card, page.card

    def said(card):
        """Return what each part says about machine.middle: whether it fits, the memory, and the size on disk."""
        together = card.numbers["together"].text().partition(" of ")[0]
        ghosts = wording.size(sum(segment.nbytes for segment in gauge.segments if segment.ghost))
        fit, _, memory = cell(page, machine.middle, "fit").partition(" · ")
        fits = {card.verdict.text(), row.fit.value, fit}
        return (
            fits,
            {together, memory, ghosts},
            {card.facts.text().partition(" · ")[0], cell(page, machine.middle, "disk")},
        )

    def sample(available):
        with qtbot.waitSignal(planner.planned):
            planner.set_sample(MemorySample(16 * GB, round(available * GB)))

    for available, fit in ((11, Fit.FITS), (7.5, Fit.TIGHT), (3, Fit.NO)):
        sample(available)
        for card, show in ((floating, window.panes.show_chat), (docked, window.models.open_page)):
            show()
            window.models.show_details(machine.middle)
            qtbot.waitUntil(card.isVisible)
            page.model.refresh()
            fits, memory, disk = said(card)
            assert fits == {fit.value}
            assert len(memory) == len(disk) == 1, (available, memory, disk)
            # They still do when free memory changes while the card is open, and its context stays.
            context = card.tokens.text()
            sample(available - 0.6)
            page.model.refresh()
            fits, memory, disk = said(card)
            assert len(fits) == len(memory) == len(disk) == 1, (available, fits, memory, disk)
            assert card.tokens.text() == context
            sample(available)
    # The slider changes all of them.
    docked.slider.setValue(0)
    qtbot.waitUntil(lambda: said(docked)[1] == {docked.numbers["together"].text().partition(" of ")[0]})
    assert docked.tokens.text() == "1,024 tokens"
    docked.load.click()
    qtbot.waitUntil(lambda: ready.session.state.phase is Phase.READY and ready.session.state.actual > 0)
    qtbot.waitUntil(lambda: cell(page, machine.middle, "fit") == f"Loaded · {docked.numbers['actual'].text()}")
    assert docked.numbers["actual"].text() in row.accessibleDescription()


@pytest.mark.parametrize("direction", list(Qt.LayoutDirection)[:2])
def test_the_page_has_room_in_every_window(machine, qtbot, loop, preferences, directed, direction):
    directed(direction)
    window, page = machine.window, machine.open()
    for width, height, zoom in ((720, 480, 1.0), (1280, 800, 1.0), (1920, 1080, 1.0), (720, 480, 2.0)):
        preferences.change(zoom=zoom)
        window.resize(width, height)
        qtbot.waitUntil(lambda w=width: page.width() == w or window.sidebar.isVisible())
        qtbot.waitUntil(lambda: assert_whole(window))
        assert nameless(window) == []
        shown = [column for number, column in enumerate(MODEL_COLUMNS) if not page.table.isColumnHidden(number)]
        assert {"name", "fit"} <= set(shown)
        assert (len(shown) == len(MODEL_COLUMNS)) == (width == 1920)
        # The columns fill the table, and none is cut off.
        assert (
            sum(page.table.columnWidth(MODEL_COLUMNS.index(column)) for column in shown)
            == page.table.viewport().width()
        )
    # With large text, the card is shown in place of the table.
    assert not page.card.isVisible()
    page.table.setFocus()
    qtbot.keyClick(page.table, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: page.card.width() == page.width())
    assert not page.table.isVisible()
    qtbot.waitUntil(lambda: assert_whole(page))
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
    assert page.table.hasFocus()
    assert page.isVisible()
    # The card is closed for good where there is room for it.
    preferences.change(zoom=1.0)
    window.resize(1280, 800)
    qtbot.waitUntil(page.card.isVisible)
    page.details.click()
    assert not page.card.isVisible()
    assert not preferences.values.models_card


def widths(page):
    """Return the widths of the columns that are shown."""
    table = page.table
    return {
        column: table.columnWidth(number)
        for number, column in enumerate(MODEL_COLUMNS)
        if not table.isColumnHidden(number)
    }


def border_of(page, column):
    """Return where in the header a column begins: on its right where reading begins there."""
    header, number = page.table.horizontalHeader(), MODEL_COLUMNS.index(column)
    left = header.sectionViewportPosition(number)
    return QPoint(left + (header.sectionSize(number) if header.isRightToLeft() else 0), header.height() // 2)


def drag_border(page, column, by):
    """Drag the border in front of a column with the mouse."""
    viewport, start = page.table.horizontalHeader().viewport(), border_of(page, column)
    window = page.window()
    first, middle, last = (viewport.mapTo(window, start + QPoint(round(share * by), 0)) for share in (0, 0.4, 1))
    point_at(viewport, start)
    QTest.mousePress(window.windowHandle(), Qt.MouseButton.LeftButton, pos=first)
    for place in (middle, last):
        QTest.mouseMove(window.windowHandle(), place)
    QTest.mouseRelease(window.windowHandle(), Qt.MouseButton.LeftButton, pos=last)
    QApplication.processEvents()


@pytest.mark.parametrize("direction", list(Qt.LayoutDirection)[:2])
def test_columns_are_resized_with_the_mouse_and_remembered(
    machine, qtbot, loop, tasks, preferences, directed, destroyed, direction
):
    directed(direction)
    page = machine.open()
    qtbot.waitUntil(lambda: len(widths(page)) == len(MODEL_COLUMNS))
    before, sorted_before = widths(page), order(page)
    towards_name = 1 if direction is Qt.LayoutDirection.RightToLeft else -1
    place = border_of(page, "source")
    viewport = page.table.horizontalHeader().viewport()
    for where, shape in ((30, Qt.CursorShape.ArrowCursor), (0, Qt.CursorShape.SplitHCursor)):
        point_at(viewport, place + QPoint(where, 0))
        assert viewport.cursor().shape() is shape
    drag_border(page, "source", 40 * towards_name)
    # The border follows the pointer, and the name gives what the column gets.
    assert border_of(page, "source") == place + QPoint(40 * towards_name, 0)
    after = {**before, "source": before["source"] + 40, "name": before["name"] - 40}
    assert widths(page) == after
    # A title is never cut off, nor the name, and no column goes.
    drag_border(page, "context", -300 * towards_name)
    assert 30 < widths(page)["context"] <= before["context"]
    drag_border(page, "fit", 600 * towards_name)
    assert widths(page).keys() == before.keys()
    assert widths(page)["name"] == theme.current().scaled(220)
    assert sum(widths(page).values()) == page.table.viewport().width()
    # A double-click fits the column to what it contains.
    double_click(page.table.horizontalHeader().viewport(), border_of(page, "fit"))
    texts = [cell(page, each, "fit") for each in page.model.records]
    widest = max(map(QFontMetrics(page.table.look.font).horizontalAdvance, texts))
    assert widest < widths(page)["fit"] < widest + 60
    # The rows are sorted as before, and the names still sort them.
    assert order(page) == sorted_before
    assert preferences.values.models_sort == "name"
    click_header(page, "name")
    assert preferences.values.models_sort == "-name"

    # The next start shows the same widths, and larger text makes them larger.
    chosen = widths(page)
    machine.window.panes.show_chat()
    preferences.close()
    again = PreferenceStore(preferences.path)
    assert again.values.models_widths.keys() == {"source", "context", "fit"}
    window = MainWindow(machine.stage.session, machine.stage.keeper, again)
    window.resize(machine.window.size())
    window.show()
    window.begin(tasks)
    window.models.open_page()
    other = window.models.page
    qtbot.waitUntil(lambda: other.table.viewport().width() == page.table.viewport().width())
    assert widths(other) == chosen
    theme.current().set_appearance("light", 1.2)
    assert widths(other)["source"] > 1.1 * chosen["source"]
    theme.current().set_appearance("light", 1.0)
    window.hide()
    window.sessions.close()
    window.models.close()
    qtbot.waitUntil(lambda: not tasks.running)
    destroyed(window, again)


def test_only_the_rows_in_view_are_asked_for_many_models(machine, qtbot, loop, monkeypatch):
    ready = machine.stage
    many = [record(f"owner-{n % 7}/model-{n:03}", size=GB + n, parameters=n * 10**6 + 1) for n in range(500)]
    ready.shelf.records += many
    ready.session.library.rescan()
    qtbot.waitUntil(lambda: len(ready.window.sidebar.rows) > 500)
    asked = set()
    row = ModelTable.row
    monkeypatch.setattr(ModelTable, "row", lambda self, each: asked.add(each.name) or row(self, each))
    page = machine.open()
    qtbot.waitUntil(lambda: len(asked) > 5)
    click_header(page, "disk")
    click_header(page, "disk")
    page.table.viewport().repaint()
    assert len(asked) < 120
    page.filter.setText("owner-3 model-1")
    assert len(order(page)) == len([each for each in many if "owner-3/model-1" in each.name])
    page.filter.clear()
    page.table.select(many[250])
    assert page.table.visualRect(page.table.currentIndex()).intersects(page.table.viewport().rect())


@pytest.fixture
def stocked(real_window, own_home, tmp_path, monkeypatch):
    """Return the real window and the folders of the files of its models, with one of Sotto's own."""
    own, other, plain = Store(data_dir() / "models"), Store(tmp_path / "ollama"), tmp_path / "folders"
    own.model("mine")
    other.model("shared")
    other.model("second", fill=3)
    folder(plain / "plain", fill=7)
    monkeypatch.setenv("OLLAMA_MODELS", str(other.root))
    monkeypatch.setenv("SOTTO_FOLDERS", str(plain))
    return real_window(EngineThread()), (own.root / "blobs", other.root / "blobs", plain)


def test_disk_use_is_counted_and_given_back(stocked, qtbot, loop):
    window, folders = stocked
    window.models.open_page()
    page, model = window.models.page, window.models.page.model
    builtin = next(each for each in model.records if each.builtin)

    def on_disk():
        files = [path.stat() for each in folders for path in each.rglob("*") if path.is_file()]
        return sum({status.st_ino: status.st_size for status in files}.values()) + builtin.size

    def total():
        return f"{len(model.records)} models · {wording.size(on_disk())} on disk"

    qtbot.waitUntil(lambda: page.summary.text() == total())
    mine = next(each for each in model.records if each.own)
    # The same model in two stores takes up twice the space.
    assert model.disk_bytes(mine) == 2 * mine.size
    page.table.select(mine)
    menu = {action.text(): action for action in window.models.panel.menu_of(mine).actions()}
    menu["Delete"].trigger()
    qtbot.waitUntil(lambda: page.notice.title.text() == "mine was deleted")
    qtbot.waitUntil(
        lambda: [model.disk_bytes(each) for each in model.records if each.name == "shared:latest"] == [mine.size]
    )
    page.notice.button.click()
    qtbot.waitUntil(lambda: any(each.own for each in model.records))
    qtbot.waitUntil(lambda: page.summary.text() == total())
