"""New versions in the real window: asked once, looked for once a day, told quietly, and never in the way."""

import threading
import time

import pytest
from PySide6.QtWidgets import QLabel

from clipping import assert_unclipped
from signed_feeds import Signer, feed, release, sends, serving
from sotto import __version__
from sotto.ui.app import update_notices
from sotto.ui.settings.updates_page import UpdatesPage
from sotto.ui.state.model_state import Phase
from sotto.ui.toolkit.form_rows import FormRow
from sotto.ui.toolkit.widgets import TextButton
from sotto.ui.updating import update_checker
from sotto.ui.updating.release_advice import advice, download
from sotto.ui.updating.update_checker import DAY, Agreement
from sotto.updates.feed import read_feed
from sotto.updates.feed_source import Source
from sotto.updates.installation import Installation

SIGNER = Signer()


@pytest.fixture
def server():
    """Yield a server whose answer the test can replace, and which counts requests."""
    answers = [sends(SIGNER.sign(feed(time.time())))]
    with serving(lambda request: answers[-1](request)) as (url, requests):
        yield url, requests, answers


@pytest.fixture
def looking(around, server, monkeypatch):
    """Return the app of a build that can look for updates, and does not wait long."""
    around.shell.updates.source = Source(server[0], SIGNER.public)
    monkeypatch.setattr(update_checker, "_PAUSE", 0.05)
    monkeypatch.setattr(update_checker, "_LONGEST_WAIT", 0.05)
    monkeypatch.setattr(update_notices, "_PAUSE", 0.05)
    return around


def notice(around):
    return around.shell.window.panes.pane.notice


def news(page):
    """Return what is new as the page says it, row by row."""
    return [(row.title.text(), row.hint.text()) for row in page.found.findChildren(FormRow) if row.isVisible()]


def button(page):
    (found,) = page.found.findChildren(TextButton)
    return found


def page_of(around, qtbot):
    around.shell.window.dialogs.show_updates()
    page = around.shell.window.dialogs.settings.page(UpdatesPage)
    qtbot.waitUntil(page.isVisible)
    return page


def test_nothing_is_asked_and_nothing_requested_the_first_time(looking, server, qtbot, loop):
    looking.shell.open_window()
    qtbot.wait(300)
    assert notice(looking).text is None
    assert looking.preferences.values.updates == ""
    assert server[1] == []


def test_a_later_start_asks_once_and_never_again(looking, server, qtbot, loop, tasks):
    looking.preferences.change(last_used={"tiny:latest": 1.0})
    looking.shell._update_notices.begin()
    looking.shell.open_window()
    qtbot.waitUntil(lambda: notice(looking).text is not None)
    assert notice(looking).title.text() == "Look for new versions once a day?"
    assert looking.preferences.values.updates == "no"
    notice(looking).dismiss.click()
    looking.shell._update_notices.begin()
    qtbot.wait(200)
    assert notice(looking).text is None
    assert server[1] == []


def test_it_waits_until_an_answer_has_ended(looking, qtbot, loop):
    looking.load(qtbot)
    looking.preferences.change(last_used={"tiny:latest": 1.0})
    looking.script.hold_answer = threading.Event()
    looking.shell.open_window()
    window = looking.shell.window
    window.send("hello")
    qtbot.waitUntil(lambda: looking.session.state.phase is Phase.GENERATING)
    looking.shell._update_notices.begin()
    looking.shell.updates.agree(agreed=True)
    looking.preferences.change(updates="")
    qtbot.wait(200)
    assert notice(looking).text is None
    looking.script.hold_answer.set()
    qtbot.waitUntil(lambda: notice(looking).text is not None)
    assert looking.session.state.phase is Phase.READY


def test_who_agrees_is_told_of_a_version_once(looking, server, qtbot, loop):
    looking.shell.open_window()
    looking.preferences.change(last_used={"tiny:latest": 1.0})
    looking.shell._update_notices.begin()
    qtbot.waitUntil(lambda: notice(looking).text is not None)
    notice(looking).button.click()
    assert looking.shell.updates.agreement is Agreement.YES
    qtbot.waitUntil(lambda: notice(looking).title.text() == "Sotto 9.0.0 is available")
    assert notice(looking).message.text() == "Better."
    assert looking.preferences.values.updates_told == "9.0.0"
    assert not looking.shell.window.dialogs.settings
    notice(looking).button.click()
    page = looking.shell.window.dialogs.settings.page(UpdatesPage)
    qtbot.waitUntil(page.isVisible)
    assert news(page)[0] == ("9.0.0 · Sunday, 31 January 2027", "• Better.")
    # Not a second time on the same day; on the next one, but without telling of the same version again.
    qtbot.wait(300)
    assert len(server[1]) == 1
    looking.preferences.change(updates_checked=time.time() - DAY - 1)
    qtbot.waitUntil(lambda: len(server[1]) == 2 and not looking.shell.updates.checking)
    qtbot.wait(200)
    assert notice(looking).text is None


def test_the_menu_looks_and_shows_what_is_new(looking, server, qtbot, loop):
    hostile = release(changes=["A <b>bold</b> <img src='http://example.org/x'> change", "Another."])
    server[2].append(sends(SIGNER.sign(feed(time.time(), [hostile, release("8.0.0", changes=["Older."])]))))
    looking.shell.open_window()
    window = looking.shell.window
    next(action for action in window.menus.actions() if action.text() == "Check for Updates…").trigger()
    page = window.dialogs.settings.page(UpdatesPage)
    qtbot.waitUntil(lambda: len(news(page)) == 3)
    assert news(page)[:2] == [
        (
            "9.0.0 · Sunday, 31 January 2027",
            "• A <b>bold</b> <img src='http://example.org/x'> change\n• Another.",
        ),
        ("8.0.0 · Sunday, 31 January 2027", "• Older."),
    ]
    assert {label.textFormat().name for label in page.findChildren(QLabel)} == {"PlainText"}
    assert page.state.hint.text() == "Version 9.0.0 is available."
    assert "git pull" in news(page)[2][1]
    assert not page.daily.isChecked()
    assert looking.preferences.values.updates == ""
    # A link asks first, as elsewhere.
    button(page).click()
    assert notice(looking).title.text() == "Open this link in your browser?"
    assert notice(looking).message.text() == "https://example.org/9.0.0"


def test_text_of_twice_the_size_is_not_clipped(looking, server, dressed, qtbot, loop):
    dressed.set_appearance("light", 2.0)
    changes = ["A change that is told in a sentence of many words, as some are, and which fills more than a line.", "x"]
    server[2].append(sends(SIGNER.sign(feed(time.time(), [release(changes=changes)] * 3))))
    looking.shell.open_window()
    page = page_of(looking, qtbot)
    page.check.click()
    qtbot.waitUntil(lambda: bool(news(page)))
    window = looking.shell.window.dialogs.settings
    window.resize(window.minimumSize())
    qtbot.waitUntil(lambda: assert_unclipped(window))
    assert page.widget().width() <= page.viewport().width()


def test_the_newest_version_says_so_and_older_ones_are_not_offered(looking, server, qtbot, loop):
    listed = [release(__version__), release("0.0.1")]
    server[2].append(sends(SIGNER.sign(feed(time.time(), listed))))
    looking.shell.open_window()
    page = page_of(looking, qtbot)
    assert page.state.hint.text() == "Not looked for yet."
    page.check.click()
    qtbot.waitUntil(lambda: page.state.hint.text() == "This is the newest version.")
    assert not page.found.isVisible()


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (Signer(b"\x02" * 32).sign(feed(time.time())), "signature of the list of versions is wrong"),
        (SIGNER.sign(feed(time.time())).replace(b"9.0.0", b"9.0.1"), "signature of the list of versions is wrong"),
        (b"<html>", "does not begin with a signature"),
        (SIGNER.sign(feed(time.time(), signed="2020-01-01T00:00:00Z")), "older than the one that was read before"),
    ],
)
def test_a_list_that_cannot_be_trusted_changes_nothing(looking, server, qtbot, loop, content, why):
    before = time.time() - 3600
    looking.preferences.change(updates_signed=before)
    server[2].append(sends(content))
    looking.shell.open_window()
    page = page_of(looking, qtbot)
    page.check.click()
    qtbot.waitUntil(lambda: page.state.error.isVisible())
    assert why in page.state.error.text()
    assert not page.found.isVisible()
    assert looking.preferences.values.updates_signed == before


def test_a_day_without_a_network_is_not_reported(looking, server, qtbot, loop):
    server[2].append(sends(b"", 500))
    looking.shell.open_window()
    looking.shell.updates.agree(agreed=True)
    qtbot.waitUntil(lambda: len(server[1]) == 1 and not looking.shell.updates.checking)
    qtbot.wait(200)
    assert notice(looking).text is None
    assert len(server[1]) == 1
    assert "status 500" in page_of(looking, qtbot).state.error.text()


def test_a_replayed_list_is_recognised_after_a_restart(looking, server, qtbot, loop):
    looking.shell.open_window()
    page = page_of(looking, qtbot)
    page.check.click()
    qtbot.waitUntil(lambda: bool(news(page)))
    kept = looking.preferences.values.updates_signed
    assert kept > 0
    server[2].append(sends(SIGNER.sign(feed(kept))))
    page.check.click()
    qtbot.waitUntil(lambda: page.state.error.isVisible())
    assert "older than the one" in page.state.error.text()
    assert looking.preferences.values.updates_signed == kept


def test_a_build_without_a_key_says_so_and_asks_nothing(around, qtbot, loop):
    around.preferences.change(last_used={"tiny:latest": 1.0}, updates="yes")
    around.shell.updates.source = None
    around.shell.open_window()
    page = page_of(around, qtbot)
    assert page.state.hint.text().startswith("This build cannot look for new versions")
    assert not page.check.isEnabled()
    assert not page.daily.isVisible()


def test_closing_the_app_does_not_wait_for_a_slow_server(looking, server, qtbot, loop, tasks):
    held = threading.Event()
    server[2].append(lambda request: held.wait(20))
    looking.shell.open_window()
    looking.shell.updates.check()
    qtbot.waitUntil(lambda: bool(server[1]))
    begun = time.monotonic()
    closing = loop.create_task(tasks.close())
    qtbot.waitUntil(closing.done)
    assert time.monotonic() - begun < 5
    held.set()


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (Installation.DEB, "sudo apt install ./sotto_9.0.0_….deb"),
        (Installation.FLATPAK, "flatpak update app.sotto.sotto"),
        (Installation.CHECKOUT, "git pull"),
        (Installation.WHEEL, "install the new wheel"),
        (Installation.APPIMAGE, "Download the new AppImage"),
        (Installation.TARBALL, "put its folder in the place of this one"),
        (Installation.APP, "drag it over this one"),
    ],
)
def test_each_installation_is_told_its_own_way(kind, said, qapp):
    files = {kind.file: "https://example.org/file"}
    (found,) = read_feed(feed(time.time(), [release(files=files)]), time.time(), 0).releases
    assert said in advice(found, kind, "app.sotto.sotto")
    by_system = kind in (Installation.FLATPAK, Installation.CHECKOUT)
    assert download(found, kind) == ("https://example.org/9.0.0" if by_system else "https://example.org/file")
