"""Images in chats: attached, shown, sent, edited and kept across a restart, and models that do not see them."""

import base64
import hashlib
import json
import math
import re

import pytest
from pypdf import PdfReader
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMimeData, Qt, QUrl
from PySide6.QtGui import QColor, QGuiApplication, QImage, QImageWriter
from PySide6.QtWidgets import QApplication

from drags import data_of, drop_on, enter
from scripted_loop import record
from sotto.engine.contract.message_content import ImagePart, TextPart
from sotto.ui.conversation.chat_thread import ChatThread
from sotto.ui.conversation.pictures import thumbnails
from sotto.ui.state.model_state import Phase
from sotto.ui.transcript.picture_viewer import PictureViewer
from sotto.ui.transfer.chat_exporting import Form
from sotto.ui.window.main_window import MainWindow

SEEING = ("completion", "vision")


def picture(color="teal", width=64, height=48, kind=b"png"):
    """Return the file of an image of one colour."""
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(QColor(color))
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, QByteArray(kind)).write(image)
    return bytes(buffer.data().data())


def saved(path, color="teal", **size):
    path.write_bytes(picture(color, **size))
    return path


@pytest.fixture
def seeing(stage, qtbot, loop):
    """Return the stage with a model that sees, and one that does not."""
    stage.shelf.records = [record(capabilities=SEEING), record("blind:1b", capabilities=("completion",))]

    def load():
        qtbot.waitUntil(lambda: bool(stage.session.library.models))
        use(stage, qtbot, "tiny:latest")

    loop.starts.append(load)
    return stage


def use(stage, qtbot, name):
    stage.session.load(stage.session.library.named(name))
    qtbot.waitUntil(lambda: stage.session.state.phase is Phase.READY and stage.session.state.record.name == name)


def attach(stage, qtbot, *paths):
    stage.window.composing.attach(paths)
    names = [path.name for path in paths]
    qtbot.waitUntil(lambda: attached(stage)[-len(names) :] == names, timeout=20_000)


def attached(stage):
    return [attachment.name for attachment in stage.chat_session.draft.attachments]


def chips(stage):
    return stage.window.chat.composer.attachments.chips


def answered(stage, qtbot):
    qtbot.waitUntil(lambda: not stage.chat_session.busy and len(stage.chat_session.turns) % 2 == 0)


def ask(stage, qtbot, text):
    before = len(stage.script.requests)
    stage.window.send(text)
    qtbot.waitUntil(lambda: len(stage.script.requests) > before)
    answered(stage, qtbot)
    return stage.script.requests[-1]


def test_an_image_is_attached_shown_with_its_tokens_and_sent_in_its_place(seeing, qtbot, loop, tmp_path):
    path, notes = saved(tmp_path / "photo.png"), tmp_path / "notes.txt"
    notes.write_text("A note.")
    assert enter(seeing.window, data_of(QUrl.fromLocalFile(str(path))))
    assert seeing.window.overlay.title.text() == "Drop to attach this file to your message"
    drop_on(seeing.window, data_of(QUrl.fromLocalFile(str(path))))
    qtbot.waitUntil(lambda: attached(seeing) == ["photo.png"], timeout=20_000)
    (chip,) = chips(seeing)
    qtbot.waitUntil(lambda: "256 tokens" in chip.line.text())
    assert chip.picture.accessibleName() == "Image photo.png"
    assert thumbnails.current().pixmap(chip.picture.digest).toImage().pixelColor(5, 5) == QColor("teal")
    attach(seeing, qtbot, notes)
    request = ask(seeing, qtbot, "What is it?")
    assert request.messages[-1].content == (
        ImagePart(path.read_bytes()),
        TextPart("notes.txt:\n```\nA note.\n```\n\nWhat is it?"),
    )
    question = seeing.window.chat.transcript.messages[0]
    assert [shown.digest for shown in question.attachments.pictures] == [hashlib.sha256(path.read_bytes()).hexdigest()]
    # The next question has it again, read from the disk.
    assert ask(seeing, qtbot, "And now?").messages[0].images == (ImagePart(path.read_bytes()),)


def test_an_image_is_pasted_or_dropped_from_another_program(seeing, qtbot, loop):
    clipboard, draft = QApplication.clipboard(), seeing.window.chat.composer.draft
    image = QImage(32, 32, QImage.Format.Format_RGB32)
    image.fill(QColor("orange"))
    clipboard.setImage(image)
    draft.setFocus()
    qtbot.keyClick(draft, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: attached(seeing) == ["Pasted image"], timeout=20_000)
    # Where there is a file, it is taken as it is.
    data, content = QMimeData(), picture("navy")
    data.setData("image/png", QByteArray(content))
    data.setImageData(image)
    assert enter(seeing.window, data)
    assert seeing.window.overlay.title.text() == "Drop to attach this image to your message"
    drop_on(seeing.window, data)
    qtbot.waitUntil(lambda: len(attached(seeing)) == 2, timeout=20_000)
    assert seeing.chat_session.draft.attachments[1].image == hashlib.sha256(content).hexdigest()
    # The same image once more is not attached twice.
    drop_on(seeing.window, data)
    qtbot.waitUntil(seeing.window.chat.notice.isVisible, timeout=20_000)
    assert "already attached" in seeing.window.chat.notice.message.text()
    chips(seeing)[0].remove.click()
    assert len(chips(seeing)) == 1


def test_a_hostile_image_is_refused_in_a_sentence(seeing, qtbot, loop, tmp_path):
    path = tmp_path / "photo.png"
    path.write_bytes(picture()[:60])
    seeing.window.composing.attach((path,))
    notice = seeing.window.chat.notice
    qtbot.waitUntil(notice.isVisible, timeout=20_000)
    assert notice.message.text().startswith("photo.png cannot be read: it is damaged or cut off")
    assert attached(seeing) == []


def test_a_model_that_does_not_see_is_named_and_another_one_offered(seeing, qtbot, loop, tmp_path):
    use(seeing, qtbot, "blind:1b")
    composer = seeing.window.chat.composer
    attach(seeing, qtbot, saved(tmp_path / "photo.png"))
    panel = composer.sight_panel
    qtbot.waitUntil(panel.isVisible)
    assert panel.title.text() == "blind:1b does not see images"
    assert [button.text() for button in panel.buttons] == ["Use tiny", "Send without image"]
    # Enter does not send what the model would not see.
    composer.draft.setPlainText("What is it?")
    qtbot.keyClick(composer.draft, Qt.Key.Key_Return)
    assert seeing.chat_session.turns == []
    panel.buttons[0].click()
    qtbot.waitUntil(lambda: seeing.session.state.loaded and seeing.session.state.record.name == "tiny:latest")
    assert panel.isHidden()
    qtbot.keyClick(composer.draft, Qt.Key.Key_Return)
    answered(seeing, qtbot)
    assert len(seeing.script.requests[-1].messages[-1].images) == 1
    # In the same chat, a model that does not see is told of the image.
    use(seeing, qtbot, "blind:1b")
    request = ask(seeing, qtbot, "And now?")
    assert request.messages[0].content == "(Here is an image, photo.png, which cannot be shown to you.)\n\nWhat is it?"


def test_it_is_said_why_a_model_with_a_tower_does_not_see(seeing, qtbot, loop, tmp_path):
    why = "Images are not shown to it: the towers of big models are not supported yet."
    seeing.shelf.records = [*seeing.shelf.records, record("big:8b", vision_reason=why)]
    seeing.session.library.rescan()
    qtbot.waitUntil(lambda: seeing.session.library.named("big:8b") is not None)
    use(seeing, qtbot, "big:8b")
    attach(seeing, qtbot, saved(tmp_path / "photo.png"))
    panel = seeing.window.chat.composer.sight_panel
    qtbot.waitUntil(panel.isVisible)
    assert panel.message.text() == f"{why} Switch to a model that sees them, or send without."


def test_a_draft_is_sent_without_its_images(seeing, qtbot, loop, tmp_path):
    use(seeing, qtbot, "blind:1b")
    attach(seeing, qtbot, saved(tmp_path / "photo.png"))
    seeing.window.chat.composer.draft.setPlainText("Hello")
    seeing.window.chat.composer.sight_panel.buttons[1].click()
    qtbot.waitUntil(lambda: bool(seeing.script.requests))
    answered(seeing, qtbot)
    assert seeing.script.requests[-1].messages[-1].content == "Hello"
    assert seeing.chat_session.turns[0].attachments == ()


def test_an_image_is_seen_whole_zoomed_copied_and_saved(seeing, qtbot, loop, tmp_path, qapp):
    path = saved(tmp_path / "photo.png", width=900, height=30)
    attach(seeing, qtbot, path)
    chip = chips(seeing)[0].picture
    chip.setFocus()
    qtbot.keyClick(chip, Qt.Key.Key_Return)
    viewer = next(widget for widget in qapp.topLevelWidgets() if isinstance(widget, PictureViewer))
    qtbot.waitUntil(lambda: not viewer.image.isNull(), timeout=20_000)
    assert (viewer.image.width(), viewer.image.height()) == (900, 30)
    assert viewer.image.pixelColor(450, 15) == QColor("teal")
    assert "900 × 30" in viewer.line.text()
    assert viewer.canvas.width() <= viewer.area.maximumViewportSize().width()
    fitting = viewer.scale
    qtbot.keyClick(viewer, Qt.Key.Key_Plus)
    assert viewer.scale == pytest.approx(fitting * 1.25)
    viewer.fit.click()
    assert viewer.scale == pytest.approx(fitting)
    viewer.copy.click()
    assert QGuiApplication.clipboard().image().size() == viewer.image.size()
    viewer._save(tmp_path / "copy.png")
    copy = tmp_path / "copy.png"
    qtbot.waitUntil(lambda: copy.exists() and copy.read_bytes() == path.read_bytes())
    qtbot.keyClick(viewer, Qt.Key.Key_Escape)
    assert not viewer.isVisible()


def test_editing_and_answering_again_keep_images_and_an_edit_can_remove_one(seeing, qtbot, loop, tmp_path):
    attach(seeing, qtbot, saved(tmp_path / "a.png", "red"), saved(tmp_path / "b.png", "blue"))
    ask(seeing, qtbot, "What?")
    seeing.chat_session.regenerate(seeing.chat_session.turns[1].id)
    qtbot.waitUntil(lambda: len(seeing.script.requests) == 2)
    answered(seeing, qtbot)
    assert len(seeing.script.requests[-1].messages[-1].images) == 2
    question = seeing.window.chat.transcript.messages[0]
    qtbot.waitUntil(lambda: question.turn_id > 0)
    question.begin_edit()
    assert question.attachments.isHidden()
    assert len(question.editor.bar.chips) == 2
    question.editor.bar.chips[0].remove.click()
    question.editor.save.click()
    qtbot.waitUntil(lambda: len(seeing.script.requests) == 3)
    answered(seeing, qtbot)
    assert seeing.script.requests[-1].messages[-1].images == (ImagePart(picture("blue")),)
    qtbot.waitUntil(lambda: len(seeing.chat_session.turns[0].versions) == 2)


def test_images_of_drafts_and_questions_are_there_after_a_restart(
    seeing, qtbot, loop, preferences, tmp_path, destroyed
):
    first, second = saved(tmp_path / "a.png", "red"), saved(tmp_path / "b.png", "blue")
    attach(seeing, qtbot, first)
    ask(seeing, qtbot, "What?")
    attach(seeing, qtbot, second)
    chat = seeing.chat_session.chat
    seeing.keeper.wait(10)
    first.unlink()
    keeper = ChatThread(tmp_path / "data" / "chats.sqlite3")
    window = MainWindow(seeing.session, keeper, preferences)
    window.current.open(chat)
    qtbot.waitUntil(lambda: len(window.current.session.turns) == 2)
    session = window.current.session
    assert [each.name for each in session.draft.attachments] == ["b.png"]
    found = []
    session.read_with_draft(found.append)
    qtbot.waitUntil(lambda: bool(found))
    assert [message.images for message in found[0]] == [
        (ImagePart(picture("red")),),
        (),
        (ImagePart(picture("blue")),),
    ]
    window.sessions.close()
    keeper.close()
    destroyed(window, keeper)


def test_a_missing_image_is_told_to_the_model_and_shown_as_such(seeing, qtbot, loop, tmp_path):
    attach(seeing, qtbot, saved(tmp_path / "photo.png"))
    ask(seeing, qtbot, "What?")
    seeing.keeper.wait(10)
    digest = seeing.chat_session.turns[0].attachments[0].image
    (tmp_path / "data" / "images" / digest[:2] / digest).unlink()
    seeing.keeper.images.load((), lambda images: None)
    request = ask(seeing, qtbot, "And now?")
    assert request.messages[0].content == "(Here is an image, photo.png, which cannot be shown to you.)\n\nWhat?"


def test_an_answer_can_be_stopped_while_its_images_are_read(seeing, qtbot, loop, tmp_path):
    attach(seeing, qtbot, saved(tmp_path / "photo.png"))
    seeing.keeper.images.load((), lambda images: None)
    kept = []
    seeing.keeper.images.load = lambda digests, then: kept.append(then) if digests else then({})
    seeing.window.send("What?")
    qtbot.waitUntil(lambda: seeing.chat_session.answering)
    seeing.chat_session.stop()
    assert not seeing.chat_session.busy
    for then in kept:
        then({})
    assert seeing.script.requests == []


def test_models_that_see_are_marked(seeing, qtbot, loop):
    from sotto.ui.models.model_description import marks

    by_name = {model.name: marks(model, favourite=False, pinned=False) for model in seeing.session.library.models}
    assert [icon for icon, _, _ in by_name["tiny:latest"]] == ["eye"]
    assert by_name["blind:1b"] == ()
    rows = [row for row in seeing.window.models.panel.rows if "sees images" in row.accessibleName()]
    assert [row.record.name for row in rows] == ["tiny:latest"]


def exported(stage, qtbot, form, path):
    exporting = stage.window.chat_files.exporting
    with qtbot.waitSignal(exporting.exported, timeout=30_000):
        exporting.export(stage.chat_session.chat, form, path)
    return path


def test_exports_have_images_in_their_forms(seeing, qtbot, loop, tmp_path):
    attach(seeing, qtbot, saved(tmp_path / "my photo.png", "teal", width=2000, height=400))
    ask(seeing, qtbot, "What?")
    seeing.keeper.wait(10)
    content = (tmp_path / "my photo.png").read_bytes()
    markdown = exported(seeing, qtbot, Form.MARKDOWN, tmp_path / "Chat.md").read_text()
    assert "![my photo.png](Chat%20images/my%20photo.png)\n\nWhat?" in markdown
    assert (tmp_path / "Chat images" / "my photo.png").read_bytes() == content
    page = exported(seeing, qtbot, Form.HTML, tmp_path / "chat.html").read_text()
    shown = re.search(r'<img class="picture" alt="my photo.png" src="data:image/png;base64,([^"]+)">', page)
    small = QImage.fromData(base64.b64decode(shown[1]))
    assert (small.width(), small.height()) == (720, 144)
    assert small.pixelColor(300, 70) == QColor("teal")
    image, chats = json.loads(exported(seeing, qtbot, Form.JSON, tmp_path / "chat.json").read_text())
    assert base64.b64decode(image["data"]) == content
    assert chats["chats"][0]["messages"][0]["attachments"][0]["name"] == "my photo.png"
    pdf = exported(seeing, qtbot, Form.PDF, tmp_path / "chat.pdf")
    (drawn,) = PdfReader(pdf).pages[0].images
    assert drawn.image.size[0] >= 300


def test_an_image_that_does_not_fit_is_offered_smaller_with_its_tokens(seeing, qtbot, loop, tmp_path):
    # The engine counts a token for each square of 16 pixels.
    seeing.script.image_tokens = lambda part: math.ceil(part_size(part).width() * part_size(part).height() / 256)
    attach(seeing, qtbot, saved(tmp_path / "large.png", "teal", width=1600, height=1200))
    seeing.window.chat.composer.draft.setPlainText("What?")
    panel = seeing.window.chat.composer.panel
    qtbot.waitUntil(lambda: any("large.png" in button.text() for button in panel.buttons), timeout=20_000)
    (button,) = [button for button in panel.buttons if "large.png" in button.text()]
    tokens = int(re.search(r"\((\d,\d+) tokens instead of 7,500\)", button.text())[1].replace(",", ""))
    assert 1500 < tokens < 3072
    button.click()
    qtbot.waitUntil(lambda: seeing.chat_session.draft.attachments[0].tokens == tokens)
    qtbot.waitUntil(panel.isHidden)
    sent = ask(seeing, qtbot, "What?").messages[-1].images[0]
    assert part_size(sent).width() < 1600
    assert seeing.chat_session.turns[0].attachments[0].name == "large.png"


def part_size(part):
    return QImage.fromData(part.data).size()
