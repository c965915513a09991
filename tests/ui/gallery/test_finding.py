"""The page to find models, used with mouse and keyboard, over a real server that answers as Hugging Face's API does."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from clicks import double_click
from clipping import assert_whole
from hub_search import gguf_model, mlx_model, serving
from planned import GB
from scripted_loop import record
from sotto.store.finding.suggestions import suggestions
from sotto.store.pull.progress import PullProgress, PullState
from sotto.store.records import Source
from sotto.ui.gallery import offer_words
from sotto.ui.gallery.offers import Offer, Section
from sotto.ui.state.memory_estimate import Fit, MemorySample
from sotto.ui.toolkit import theme
from window_checks import nameless


@pytest.fixture
def hub(monkeypatch):
    odd = mlx_model("someone/Qwen3-odd", config={"model_type": "strange"}, gated="manual", downloads=5)
    with serving(gguf_model(downloads=900), mlx_model(downloads=50), odd) as made:
        monkeypatch.setenv("HF_ENDPOINT", made.address)
        yield made


@pytest.fixture
def finding(same_machine, stage, hub, qtbot, loop):
    """Return the stage on a machine with 16 GiB, of which the engine has told how it computes."""

    def measure():
        stage.window.resize(1120, 760)
        stage.window.sidebar.gauge.sample_timer.stop()
        planner = stage.window.models.planner
        qtbot.waitUntil(lambda: planner.measured(record()) is not None)
        qtbot.waitUntil(lambda: planner.memory.sample is not None)

    loop.starts.append(measure)
    return stage


def page_of(stage, qtbot):
    """Open the page with its shortcut, and wait until it shows how everything fits."""
    qtbot.keyClick(stage.window, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    page = stage.window.finding.page
    qtbot.waitUntil(lambda: bool(offers(page)) and page.field.hasFocus())
    return page


def offers(page, section=Section.SUGGESTED):
    found = (entry for entry in page.list.offers.entries if isinstance(entry, Offer))
    return [offer for offer in found if offer.section is section]


def headings(page):
    return [entry for entry in page.list.offers.entries if isinstance(entry, str)]


def search(page, qtbot, text):
    """Type, and wait until something was found."""
    qtbot.keyClicks(page.field, text)
    qtbot.waitUntil(lambda: bool(offers(page, Section.FOUND)))


def place(page, offer):
    return page.list.visualRect(page.list.offers.index(page.list.offers.row_of(offer))).center()


def added(stage):
    return [name for what, name in stage.queue.commands if what == "add"]


# Suggestions


def test_a_new_user_gets_there_with_one_click_and_sees_what_suits_the_machine(finding, qtbot, loop, hub):
    welcome = finding.window.chat.welcome
    qtbot.mouseClick(welcome.finds.get, Qt.MouseButton.LeftButton)
    page = finding.window.finding.page
    assert page.isVisible()
    assert page.field.hasFocus()
    qtbot.waitUntil(lambda: bool(offers(page)))
    assert headings(page) == ["Suggestions"]
    assert len(offers(page)) == len(suggestions())
    (recommended,) = [offer for offer in offers(page) if offer.recommended]
    assert recommended.title == "Qwen3 4B"
    assert recommended.chosen.projection.fit is Fit.FITS
    # It is selected, and its card is shown.
    assert page.list.current == recommended
    assert page.card.title.text() == "Qwen3 4B"
    assert page.card.recommended.isVisible()
    assert [(row.title.text(), row.fit.text()) for row in page.card.rows] == [
        ("4-bit · 2.3 GB", "Fits with 12,288 tokens"),
        ("Q4_K_M · 2.5 GB", "Fits with 12,288 tokens"),
        ("8-bit · 4.3 GB", "Fits with 8,192 tokens"),
    ]
    facts = offer_words.facts(recommended)
    assert facts == [("Made by", "Alibaba"), ("Parameters", "4B"), ("Licence", "Apache-2.0")]
    # Nothing was sent, and the page says what would be, and to whom.
    assert hub.requests == []
    assert page.status.text() == f"What you type here is sent to {hub.address.partition('://')[2]}."


def test_every_button_leads_to_the_page(finding, qtbot, loop):
    window = finding.window
    window.choose_model()
    for get in (window.models.panel.get, window.models.picker.get, window.models.page.get):
        window.panes.show_chat()
        get.click()
        assert window.panes.pane is window.finding.page


def test_fits_follow_the_memory(finding, qtbot, loop):
    page = page_of(finding, qtbot)

    def fit_of(title):
        return next(offer.chosen.projection.fit for offer in offers(page) if offer.title == title)

    assert fit_of("Qwen3 8B") is Fit.FITS
    assert fit_of("Llama 3.1 70B") is Fit.NO
    finding.window.models.planner.set_sample(MemorySample(8 * GB, 3 * GB))
    qtbot.waitUntil(lambda: fit_of("Qwen3 8B") is Fit.NO)
    assert not any(offer.title == "Qwen3 4B" for offer in offers(page) if offer.recommended)
    finding.window.models.planner.set_sample(MemorySample(8 * GB, GB // 4))
    qtbot.waitUntil(lambda: not any(offer.recommended for offer in offers(page)))


def test_everything_that_models_are_good_at_has_words():
    assert {key for suggestion in suggestions() for key in suggestion.good_at} == offer_words.GOOD_AT.keys()


def test_licences_are_named():
    assert offer_words.licence("Apache-2.0") == "Apache-2.0"
    assert offer_words.licence("LicenseRef-Llama-3.2") == "Llama 3.2 licence"


# The search


def test_a_search_by_keyboard_ends_in_a_download(finding, qtbot, loop, hub):
    page = page_of(finding, qtbot)
    qtbot.keyClicks(page.field, "qwen3 4b")
    # What comes along is found at once, and what was typed on the way was not sent.
    assert [offer.title for offer in offers(page)] == ["Qwen3 4B"]
    assert page.status.text().endswith("Searching…")
    qtbot.waitUntil(lambda: bool(offers(page, Section.FOUND)))
    assert hub.searches() == ["qwen3 4b"] * 2
    found = [offer.title for offer in offers(page, Section.FOUND)]
    assert found == ["Qwen3-4B-GGUF", "Qwen3-4B-4bit"]
    assert headings(page) == ["Suggestions", f"On {hub.address.partition('://')[2]}"]
    qtbot.keyClick(page.field, Qt.Key.Key_Down)
    assert page.list.hasFocus()
    qtbot.keyClick(page.list, Qt.Key.Key_Down)
    # The heading between them is skipped.
    assert page.list.current.title == "Qwen3-4B-GGUF"
    qtbot.waitUntil(lambda: page.list.current.source.complete)
    assert [row.title.text() for row in page.card.rows] == [
        "UD-Q2_K_XL · 1.5 GB",
        "Q4_K_M · 2.5 GB",
        "Q8_0 · 4.3 GB",
        "BF16 · 8.1 GB",
    ]
    qtbot.keyClick(page.list, Qt.Key.Key_Return)
    # Their shapes are not known, so the usual version is the first choice.
    focused = QApplication.focusWidget()
    assert focused is page.card.rows[1].get
    qtbot.keyClick(focused, Qt.Key.Key_Down)
    assert page.card.rows[2].get.hasFocus()
    qtbot.keyClick(page.card.rows[2].get, Qt.Key.Key_Up)
    qtbot.keyClick(focused, Qt.Key.Key_Return)
    assert added(finding) == ["hf.co/unsloth/Qwen3-4B-GGUF:Q4_K_M"]
    assert page.card.rows[1].state.text() == "Downloading"
    assert page.card.rows[1].get.isHidden()
    assert page.list.hasFocus()


def test_a_model_of_known_shapes_tells_which_version_fits(finding, qtbot, loop, hub):
    page = page_of(finding, qtbot)
    search(page, qtbot, "4bit")
    page.list.select(offers(page, Section.FOUND)[0])
    qtbot.waitUntil(lambda: page.list.current.source.complete)
    (row,) = page.card.rows
    assert row.fit.text().startswith("Fits with ")
    assert ("Licence", "apache-2.0") in offer_words.facts(page.list.current)


def test_a_button_that_is_pressed_stays_while_the_fits_change(finding, qtbot, loop, hub):
    page = page_of(finding, qtbot)
    row = page.card.rows[0]
    fit = row.fit.text()
    qtbot.mousePress(row.get, Qt.MouseButton.LeftButton)
    finding.window.models.planner.set_sample(MemorySample(8 * GB, GB // 4))
    qtbot.waitUntil(lambda: page.card.rows[0].fit.text() != fit)
    assert page.card.rows[0] is row
    assert row.get.hasFocus()
    qtbot.mouseRelease(row.get, Qt.MouseButton.LeftButton)
    assert added(finding) == [f"{row.offered.version.name}:latest"]


def test_typing_on_replaces_the_search(finding, qtbot, loop, hub):
    page = page_of(finding, qtbot)
    hub.held.clear()
    qtbot.keyClicks(page.field, "qwen")
    qtbot.waitUntil(lambda: len(hub.requests) == 2)
    qtbot.keyClicks(page.field, "3-odd")
    qtbot.waitUntil(lambda: len(hub.requests) == 4)
    hub.held.set()
    qtbot.waitUntil(lambda: bool(offers(page, Section.FOUND)))
    assert [offer.title for offer in offers(page, Section.FOUND)] == ["Qwen3-odd"]
    # Without words, there are only suggestions again, and nothing more is sent.
    qtbot.keyClick(page.field, Qt.Key.Key_Escape)
    assert page.field.text() == ""
    assert headings(page) == ["Suggestions"]
    assert hub.searches() == ["qwen"] * 2 + ["qwen3-odd"] * 2


def test_a_failure_is_said_in_a_line_and_the_suggestions_stay(finding, qtbot, loop, hub):
    page = page_of(finding, qtbot)
    hub.answers = [lambda handler: handler.reply(429, b"")] * 2
    qtbot.keyClicks(page.field, "qwen3")
    qtbot.waitUntil(lambda: "busy or failing (status 429)" in page.status.text())
    assert offers(page)
    assert not finding.window.chat.notice.isVisible()
    qtbot.keyClicks(page.field, " 4b")
    qtbot.waitUntil(lambda: bool(offers(page, Section.FOUND)))
    assert "busy" not in page.status.text()


def test_nothing_found_is_said(finding, qtbot, loop, hub):
    page = page_of(finding, qtbot)
    qtbot.keyClicks(page.field, "no such thing")
    qtbot.waitUntil(lambda: page.status.text().endswith("Nothing was found there."))
    assert page.list.current is None
    assert not page.card.isVisible()


def test_a_model_that_cannot_run_says_so_and_cannot_be_downloaded(finding, qtbot, loop, hub):
    page = page_of(finding, qtbot)
    search(page, qtbot, "odd")
    (odd,) = offers(page, Section.FOUND)
    page.list.select(odd)
    assert "no definition for models of type 'strange'" in page.card.refusal.text()
    assert not page.card.rows[0].get.isEnabled()
    assert "Its owner must allow the download first." in page.card.note.text()
    assert "Cannot run here" in offer_words.accessible_name(odd)
    # Its page opens only after a question.
    page.card.web.click()
    notice = page.notice
    assert notice.isVisible()
    assert notice.message.text().endswith("/someone/Qwen3-odd")


def test_a_model_that_cannot_be_looked_at_says_why(finding, qtbot, loop, hub):
    page = page_of(finding, qtbot)
    search(page, qtbot, "qwen3")
    hub.answers = [lambda handler: handler.reply(404, b"")]
    page.list.select(offers(page, Section.FOUND)[0])
    qtbot.waitUntil(lambda: "answers 404" in page.card.note.text())
    assert len(hub.requests) == 3


def test_texts_from_the_network_are_shown_as_they_are(finding, qtbot, loop, hub):
    hub.models.append(mlx_model("a/Qwen3-b", tags=["mlx", "license:<img src='http://127.0.0.1/x'>"], downloads=10**6))
    page = page_of(finding, qtbot)
    search(page, qtbot, "qwen3-b")
    page.list.select(offers(page, Section.FOUND)[0])
    labels = [page.card.facts.itemAt(number).widget() for number in range(page.card.facts.count())]
    assert "<img src='http://127.0.0.1/x'>" in [label.text() for label in labels]
    assert all(label.textFormat() is Qt.TextFormat.PlainText for label in labels)
    assert not [path for path in hub.requests if path == "/x"]


# Names


def test_a_whole_name_is_offered_and_not_sent_anywhere(finding, qtbot, loop, hub):
    page = page_of(finding, qtbot)
    qtbot.keyClicks(page.field, "llama3.2:1b")
    assert headings(page)[0] == "By name"
    qtbot.keyClick(page.field, Qt.Key.Key_Return)
    page.list.select(offers(page, Section.NAMED)[0])
    assert page.card.note.text() == "From Ollama’s library, at registry.ollama.ai."
    qtbot.keyClick(page.list, Qt.Key.Key_Return)
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Space)
    assert added(finding) == ["llama3.2:1b"]
    qtbot.wait(500)
    assert [words for words in hub.searches() if ":" in words] == []


# Mouse, focus and keys


def test_a_version_is_chosen_with_the_mouse(finding, qtbot, loop):
    page = page_of(finding, qtbot)
    gemma = next(offer for offer in offers(page) if offer.title == "Gemma 3 1B")
    qtbot.mouseClick(page.list.viewport(), Qt.MouseButton.LeftButton, pos=place(page, gemma))
    assert page.card.title.text() == "Gemma 3 1B"
    row = next(row for row in page.card.rows if row.offered.version.name == "gemma3:1b")
    qtbot.mouseClick(row.get, Qt.MouseButton.LeftButton)
    assert added(finding) == ["gemma3:1b"]
    qtbot.waitUntil(lambda: row.state.text() == "Downloading")
    # A double click goes to the button that gets the best version.
    double_click(page.list.viewport(), place(page, next(offer for offer in offers(page) if offer.title == "Qwen3 4B")))
    assert QApplication.focusWidget() is next(row.get for row in page.card.rows if row.best)


def test_what_is_here_needs_not_be_downloaded(finding, qtbot, loop):
    page = page_of(finding, qtbot)
    finding.shelf.records.append(record("qwen3:4b", source=Source.SOTTO))
    finding.session.library.rescan()
    states = lambda: {row.offered.version.name: row.state.text() for row in page.card.rows}  # noqa: E731
    qtbot.waitUntil(lambda: states()["qwen3:4b"] == "You have it")
    assert states()["hf.co/mlx-community/Qwen3-4B-4bit"] == ""
    finding.window.models.downloading.downloads.add("hf.co/mlx-community/Qwen3-4B-4bit")
    name = added(finding)[0]
    finding.queue.report(PullProgress(name, PullState.DOWNLOADING, 1, 2))
    qtbot.waitUntil(lambda: states()["hf.co/mlx-community/Qwen3-4B-4bit"] == "Downloading")


def test_escape_goes_back_step_by_step(finding, qtbot, loop):
    page = page_of(finding, qtbot)
    qtbot.keyClicks(page.field, "gemma")
    qtbot.keyClick(page.field, Qt.Key.Key_Return)
    assert page.list.hasFocus()
    qtbot.keyClick(page.list, Qt.Key.Key_Space)
    assert page.card.isAncestorOf(QApplication.focusWidget())
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
    assert page.list.hasFocus()
    qtbot.keyClick(page.list, Qt.Key.Key_Escape)
    assert (page.field.text(), page.field.hasFocus()) == ("", True)
    qtbot.keyClick(page.field, Qt.Key.Key_Escape)
    assert finding.window.panes.pane is finding.window.chat


def test_letters_typed_in_the_list_search_and_up_leads_back_to_the_field(finding, qtbot, loop):
    page = page_of(finding, qtbot)
    qtbot.keyClick(page.field, Qt.Key.Key_Down)
    qtbot.keyClicks(page.list, "g")
    assert (page.field.text(), page.field.hasFocus()) == ("g", True)
    page.field.clear()
    page.list.setFocus()
    page.list.select(offers(page)[0])
    qtbot.keyClick(page.list, Qt.Key.Key_Up)
    assert page.field.hasFocus()


def test_in_a_narrow_window_the_card_takes_the_place_of_the_list(finding, qtbot, loop):
    page = page_of(finding, qtbot)
    theme.current().set_appearance("light", 1.3)
    finding.window.resize(720, 480)
    qtbot.waitUntil(lambda: page.width() <= 720)
    assert page.list.isVisible()
    assert not page.card.isVisible()
    qtbot.mouseClick(page.list.viewport(), Qt.MouseButton.LeftButton, pos=place(page, page.list.current))
    assert page.card.isVisible()
    assert not page.list.isVisible()
    assert page.card.width() == page.width()
    qtbot.mouseClick(page.card.close_button, Qt.MouseButton.LeftButton)
    assert page.list.isVisible()
    assert page.list.hasFocus()
    qtbot.keyClick(page.list, Qt.Key.Key_Return)
    assert page.card.isVisible()
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
    assert not page.card.isVisible()
    assert finding.window.panes.pane is page


def test_screen_readers_are_told_everything(finding, qtbot, loop, hub):
    page = page_of(finding, qtbot)
    search(page, qtbot, "qwen3")
    assert nameless(page) == []
    listed = QAccessible.queryAccessibleInterface(page.list)
    names = [listed.child(index).text(QAccessible.Text.Name) for index in range(listed.childCount())]
    good_at = "Everyday questions, Many languages, Thinks first, Uses tools"
    assert f"Qwen3 4B, Suits this machine best, 4.3 GB, Fits, {good_at}" in names
    assert "Qwen3-4B-GGUF, unsloth, GGUF, 900 downloads" in names
    assert page.card.rows[0].get.accessibleName() == "Get hf.co/mlx-community/Qwen3-4B-4bit"


def test_nothing_is_cut_off(finding, qtbot, loop):
    page = page_of(finding, qtbot)
    for width in (1120, 800, 720):
        finding.window.resize(width, 600)
        qtbot.waitUntil(lambda width=width: finding.window.width() == width)
        QTest.qWait(20)
        if page.card.isVisible():
            for row in page.card.rows:
                assert_whole(row.title)
                assert_whole(row.fit)
                assert row.get.width() >= row.get.sizeHint().width()
