"""Markdown as HTML: tags in it are text, images are links, code is coloured, and formulas are left to the caller."""

import html
import re
from collections.abc import Callable, MutableMapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sotto.ui.markdown.code_lexer import language_name
from sotto.ui.markdown.math_svg import Formula, mark_of, mask_formulas
from sotto.ui.transfer.code_html import code_html

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_MARK = re.compile(mark_of(0).replace("0", r"\d{1,6}", 1))
_TASK = re.compile(r"\[([ xX])\] ")
FormulaWriter = Callable[[Formula], str]


class MarkdownHtml:
    """Writes Markdown as HTML, for a web page or for Qt's rich text."""

    def __init__(self, write_formula: FormulaWriter, *, paper: bool) -> None:
        """Set how formulas are written, and whether the result is for Qt, which knows little of CSS."""
        self._write_formula, self._paper = write_formula, paper

    def of(self, markdown: str) -> str:
        """Return Markdown as HTML; the lines of a paragraph stay lines, as in the window."""
        masked, formulas = mask_formulas(markdown)
        written = str(_writer(paper=self._paper).render(masked))
        marks = {mark_of(number): formula for number, formula in enumerate(formulas)}
        # A mark that a text brings along is none of a formula.
        return _MARK.sub(lambda mark: self._write_formula(marks[mark[0]]) if mark[0] in marks else "", written)


@lru_cache(maxsize=2)
def _writer(*, paper: bool) -> "MarkdownIt":
    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML

    made = MarkdownIt("commonmark", {"html": False, "breaks": True})
    made.enable(["table", "strikethrough"])
    assert isinstance(made.renderer, RendererHTML)
    rules: MutableMapping[str, Any] = made.renderer.rules
    write = _paper_code if paper else _page_code
    for rule in ("fence", "code_block"):
        rules[rule] = lambda tokens, index, *_: write(tokens[index])
    rules["link_open"] = _open_link
    rules["image"] = _link_image
    made.core.ruler.push("tasks", _mark_tasks)
    if paper:
        for tag in ("th", "td"):
            rules[f"{tag}_open"] = _open_paper_cell
        rules["heading_open"] = lambda tokens, index, *_: f'<p class="{tokens[index].tag}">'
        rules["heading_close"] = lambda *_: "</p>\n"
        begin, end = paper_box("quote", "\0").split("\0")
        rules["blockquote_open"] = lambda *_: begin
        rules["blockquote_close"] = lambda *_: end
    return made


def _page_code(token: Any) -> str:
    language, code = _language(token), token.content.rstrip("\n")
    label = f'<span class="language">{html.escape(language_name(language))}</span>' if language else ""
    return f'<div class="code">{label}<pre><code>{code_html(code, language)}</code></pre></div>\n'


def _paper_code(token: Any) -> str:
    return paper_box("code", f"<pre>{code_html(token.content.rstrip(chr(10)), _language(token))}</pre>")


def paper_box(name: str, written: str) -> str:
    """Return a box for Qt, which pads nothing but the cells of tables; `name` is its class."""
    return f'<table class="{name}" width="100%" cellspacing="0" cellpadding="8"><tr><td>{written}</td></tr></table>\n'


def _language(token: Any) -> str:
    return token.info.split(maxsplit=1)[0] if token.info.strip() else ""


def _open_link(tokens: Sequence[Any], index: int, *_: Any) -> str:
    address = html.escape(str(tokens[index].attrGet("href") or ""))
    return f'<a href="{address}" rel="noopener noreferrer">'


def _link_image(tokens: Sequence[Any], index: int, *_: Any) -> str:
    """Return a link to an image, which would be loaded from elsewhere."""
    source, name = str(tokens[index].attrGet("src") or ""), str(tokens[index].content)
    return f'<a href="{html.escape(source)}" rel="noopener noreferrer">{html.escape(name or source)}</a>'


def _open_paper_cell(tokens: Sequence[Any], index: int, *_: Any) -> str:
    """Return the tag of a cell for Qt, which draws no border where a cell has a style of its own."""
    side = str(tokens[index].attrGet("style") or "").removeprefix("text-align:") or "left"
    return f'<{tokens[index].tag} align="{side}">'


def _mark_tasks(state: Any) -> None:
    """Show the boxes of a list of tasks."""
    depth = 0
    for before, token in zip([None, *state.tokens], state.tokens, strict=False):
        depth += token.nesting if token.type in ("list_item_open", "list_item_close") else 0
        is_first = before is not None and before.type == "paragraph_open"
        if depth and is_first and token.type == "inline" and token.children and (task := _TASK.match(token.content)):
            first = token.children[0]
            if first.type == "text" and first.content.startswith(task[0]):
                first.content = f"{'☐' if task[1] == ' ' else '☑'} {first.content[len(task[0]) :]}"
