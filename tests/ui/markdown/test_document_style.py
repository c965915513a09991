"""The sizes in which Markdown is drawn."""

import pytest

from sotto.ui.markdown.view import MarkdownText

TEXT = "Text with `code`.\n\n# One `code`\n\n## Two\n\n### Three\n\n#### Four\n\n> Quoted `code`\n\n- item [link](https://x.y)\n"


@pytest.fixture(params=["light", "dark"])
def text(request, qtbot, dressed):
    widget = MarkdownText()
    qtbot.addWidget(widget)
    widget.resize(600, 400)
    widget.append_markdown(TEXT)
    widget.finish()
    # Applied to a text that has been dressed already, too.
    dressed.set_appearance(request.param, 1.0)
    widget.show()
    return widget


def sizes(widget):
    """Return the sizes in which each block is drawn, in points."""
    found, block = {}, widget.document().begin()
    while block.isValid():
        drawn, fragments = set(), block.begin()
        while not fragments.atEnd():
            # The font that Qt has resolved: a size that is set in the format can be overridden.
            drawn.add(round(fragments.fragment().charFormat().font().pointSizeF(), 2))
            fragments += 1
        found[block.text().split()[0]] = drawn
        block = block.next()
    return found


def test_headings_are_larger_than_text_and_code_is_as_large(text):
    drawn = sizes(text)
    (body,) = drawn["Text"]
    assert drawn["Quoted"] == drawn["item"] == drawn["Four"] == {body}
    for word, factor in (("One", 1.5), ("Two", 1.25), ("Three", 1.1)):
        (size,) = drawn[word]
        assert size == pytest.approx(body * factor, rel=0.01), word


def test_rules_are_thin_and_have_the_colour_of_edges(qtbot, dressed):
    widget = MarkdownText()
    qtbot.addWidget(widget)
    widget.resize(300, 200)
    widget.append_markdown("above\n\n---\n\nbelow")
    widget.finish()
    widget.show()
    picture = widget.grab().toImage()
    column = [picture.pixelColor(picture.width() // 2, y).name() for y in range(picture.height())]
    assert column.count(dressed.tokens.edge) == 1
