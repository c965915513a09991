"""Chats as web pages and as PDF, whatever is in them."""

import io
import threading
from html.parser import HTMLParser

import pypdf
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QBuffer, QIODevice, QThreadPool
from PySide6.QtGui import QPdfWriter
from PySide6.QtWidgets import QApplication

from sotto.chats.chat_records import Attachment, Chat, Role, State, Turn
from sotto.ui.transfer import chat_page, paper
from sotto.ui.transfer.chat_page import web_page
from sotto.ui.transfer.code_html import code_html
from sotto.ui.transfer.markdown_html import MarkdownHtml
from sotto.ui.transfer.paper import pdf_of, print_chat, usual_layout
from thoroughness import examples

EVIL = '<script>alert(1)</script> " onload="x\' & <img src=http://example.org/x.png>'
CHAT = Chat(1, EVIL, 1.7e9, 1.7e9, system=EVIL)


def turns(*texts, model="tiny", **more):
    """Return questions and answers, one after the other."""
    return tuple(
        Turn(number, number - 1 or None, (Role.USER, Role.ASSISTANT)[1 - number % 2], text, State.COMPLETE, 1.7e9,
             model if number % 2 == 0 else "", **more)
        for number, text in enumerate(texts, 1)
    )  # fmt: skip


class Tags(HTMLParser):
    """Checks that what is opened is closed, and collects tags and attributes."""

    def __init__(self, page):
        super().__init__()
        self.open, self.seen = [], []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in ("meta", "img", "br", "hr"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def check(page):
    """Check that a page can neither run nor load anything."""
    for tag, attributes in Tags(page).seen:
        assert tag not in ("script", "link", "iframe", "object", "embed", "form", "base", "svg")
        assert not any(name.startswith("on") for name in attributes)
        assert attributes.get("src", "data:image/svg+xml;base64,").startswith("data:image/svg+xml;base64,")
        assert attributes.get("href", "http:").partition(":")[0] not in ("javascript", "data", "vbscript", "file")


def on_pool(work):
    """Run `work` where the app does, and return its result."""
    found, done = [], threading.Event()

    def run():
        try:
            found.append(work())
        finally:
            done.set()

    QThreadPool.globalInstance().start(run)
    assert done.wait(60)
    return found[0]


def pages(pdf):
    return [" ".join(page.extract_text().split()) for page in pypdf.PdfReader(io.BytesIO(pdf)).pages]


def test_nothing_hostile_leaves_its_place(qapp):
    attachment = Attachment(EVIL, EVIL, 9, 0, len(EVIL))
    question, answer = turns(EVIL, f"<think>\n{EVIL}\n</think>\n\n{EVIL} ${EVIL}$\n```{EVIL}\n{EVIL}\n```", model=EVIL)
    question = Turn(1, None, Role.USER, EVIL, State.COMPLETE, 0.0, attachments=(attachment,))
    page = web_page(CHAT, (question, answer))
    check(page)
    assert "&lt;script&gt;" in page
    text = " ".join(pages(on_pool(lambda: pdf_of(CHAT, (question, answer), QApplication.font().family()))))
    assert "<script>alert(1)</script>" in text
    assert "Attached:" in text


@pytest.mark.parametrize("paper_too", [False, True])
@examples(60)
@given(st.text(alphabet=st.sampled_from("ab <>&\"'`*_#-+|[]()!$\\\n\t0.:/\ue0f0\ue0f1~={}^"), max_size=120))
def test_any_markdown_is_well_formed_and_harmless(paper_too, text):
    check(MarkdownHtml(lambda formula: "<i>f</i>", paper=paper_too).of(text))


def test_code_keeps_every_character():
    code = "def f(a):\n\treturn '<&>'  # \u2028 end\n\n" + "x" * 2000
    for language in ("python", "nonsense", ""):
        plain = Tags(f"<pre>{code_html(code, language)}</pre>")
        collected = []
        plain.handle_data = collected.append
        plain.feed(f"<pre>{code_html(code, language)}</pre>")
        assert "".join(collected) == code


def test_only_so_many_formulas_are_drawn(monkeypatch):
    monkeypatch.setattr(chat_page, "MOST_FORMULAS", 2)
    page = web_page(CHAT, turns("a", "$x$ and $y$ and $z$ and $\\undefined{$"))
    assert (page.count("<img class"), page.count('<code class="latex">$z$')) == (2, 1)


def test_a_long_chat_takes_pages_with_numbers_and_loses_no_line(qapp):
    lines = [f"line_{number} = {number}" for number in range(300)]
    long = "A" * 400
    texts = ("Show me.", "```python\n{}\n```\n\n{}\n\n> quoted\n\n- item".format("\n".join(lines), long))
    family = QApplication.font().family()
    pdf = on_pool(lambda: pdf_of(CHAT, turns(*texts), family))
    read = pages(pdf)
    assert len(read) >= 4
    assert [page.rpartition(" ")[0].endswith(f"{number} /") for number, page in enumerate(read, 1)] == [True] * len(
        read
    )
    together = "".join("".join(read).split())
    assert all(f"line_{number}={number}" in together for number in range(300))
    assert together.count("A") >= 400
    # Some of the pages.
    count = len(read)

    def some(first, last):
        buffer = QBuffer()
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        writer = QPdfWriter(buffer)
        writer.setPageLayout(usual_layout())
        print_chat(CHAT, turns(*texts), family, writer, pages=(first, last))
        del writer
        return bytes(buffer.data().data())

    assert [page.rpartition(" / ")[0].rpartition(" ")[2] for page in pages(on_pool(lambda: some(2, 3)))] == ["2", "3"]
    assert len(pages(on_pool(lambda: some(count, count + 50)))) == 1


def test_stopping_ends_early(qapp, monkeypatch):
    made = []
    monkeypatch.setattr(paper, "picture_of", made.append)
    many = turns("q", "$x$ " * 50)
    pdf = on_pool(lambda: pdf_of(CHAT, many, QApplication.font().family(), lambda: True))
    assert pdf.startswith(b"%PDF-")
    assert made == []
