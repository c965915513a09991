"""Finds formulas in Markdown, and draws them as SVG.

A formula is hostile input like all text of a model: its length and drawing time are bounded, and what cannot be drawn
stays LaTeX.
"""

import re
import sys
import warnings
from dataclasses import dataclass
from types import FrameType
from typing import Any

LONGEST = 1000
"""Characters of a formula; a longer one stays text."""
# Function calls that drawing a formula may take: about a second of CPU time, of which the longest sensible formulas
# need two thirds. Calls are counted instead of timed, so that the result does not depend on how busy the machine is.
_CALLS = 1_000_000
_LARGEST = 4000.0

# Code and link addresses come first: nothing in them is a formula. An opening dollar must not precede a space, and a
# closing one must not follow a space or precede a letter or digit, so that prices are no formulas.
_FOUND = re.compile(
    r"(?P<fence>^[ \t>]*(?P<mark>`{3,}|~{3,})[^\n]*(?:\n(?!(?:[ \t>]*)(?P=mark))[^\n]*)*\n?[^\n]*)"
    r"|(?P<code>(?<!`)(?P<ticks>`+)(?!`).{0,4000}?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<address>\]\((?:[^()\\\n]|\\.|\([^()\n]{0,200}\)){0,500}\))"
    r"|\\\[(?P<square>(?:[^\\]|\\[^\]]){1,1000}?)\\\]"
    r"|(?P<bare>\\begin\{(?P<name>(?:align|equation|gather|multline|eqnarray|alignat|flalign)\*?)\}"
    r"(?:[^\\]|\\(?!end\{(?P=name)\})[\s\S]){1,1000}?\\end\{(?P=name)\})"
    r"|\\\((?P<round>(?:[^\\]|\\[^)]){1,1000}?)\\\)"
    r"|(?P<escaped>\\.)"
    r"|(?<!\$)\$\$(?!\$)(?P<double>(?:[^$\\]|\\.){1,1000}?)\$\$(?!\$)"
    r"|(?<![\w$])\$(?![\s$])(?P<single>(?:[^$\\\n`]|\\.|\n(?!\s*\n)){1,1000}?)(?<![\s\\])\$(?![\w$])",
    re.DOTALL | re.MULTILINE,
)
_BEGIN, _END = "\ue0f0", "\ue0f1"
_SAFE = re.compile(r"<(?!/?(?:svg|path|rect|line|g|title)\b)", re.IGNORECASE)
# Numbers of equations: nothing refers to them in a chat.
_NUMBERING = re.compile(r"\\(?:label\{[^{}]*\}|nonumber\b|notag\b)")
_TAG = re.compile(r"\\tag\*?\{([^{}]*)\}")
_BOX = re.compile(r'viewBox="(\S+) (\S+) (\S+) (\S+)"')


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula in a text.

    Attributes:
        raw: Its source, delimiters included.
        latex: The LaTeX between the delimiters.
        display: Whether it is set on a line of its own.
    """

    raw: str
    latex: str
    display: bool


@dataclass(frozen=True, slots=True)
class Drawing:
    """A formula as SVG; lengths in pixels.

    Attributes:
        svg: The picture.
        width: Its width.
        ascent: Its height above the baseline.
        descent: Its depth below the baseline.
    """

    svg: str
    width: float
    ascent: float
    descent: float


def mask_formulas(markdown: str) -> tuple[str, list[Formula]]:
    """Return Markdown with a mark for each formula, so that LaTeX is not read as Markdown, and the formulas."""
    if not any(sign in markdown for sign in ("$", "\\(", "\\[", "\\begin{")) or _BEGIN in markdown:
        return markdown, []
    if markdown.startswith(("    ", "\t")):
        return markdown, []
    formulas: list[Formula] = []

    def mark(found: "re.Match[str]") -> str:
        latex = next((found[kind] for kind in ("square", "bare", "round", "double", "single") if found[kind]), "")
        if not any(letter.isalnum() for letter in latex) or len(latex) > LONGEST:
            return found[0]
        formulas.append(formula_of(found[0]))
        return mark_of(len(formulas) - 1)

    return _FOUND.sub(mark, markdown), formulas


def mark_of(number: int) -> str:
    """Return the mark that replaces the formula of this number."""
    return f"{_BEGIN}{number}{_END}"


def formula_of(raw: str) -> Formula:
    """Return the formula with this source."""
    if raw.startswith("\\begin"):
        return Formula(raw, raw, display=True)
    display = raw.startswith(("$$", "\\["))
    edge = 1 if raw.startswith("$") and not display else 2
    return Formula(raw, raw[edge:-edge].strip(), display)


def draw(latex: str, display: bool, pixels: float, color: str) -> Drawing | None:
    """Draw a formula; slow. Returns None for one that cannot be drawn, or would take too long.

    Args:
        latex: The formula.
        display: Whether it is set on a line of its own.
        pixels: Font size of the text around it.
        color: Its colour, as `#rrggbb`.
    """
    try:
        svg = _limited(latex, display, pixels, color)
    except _TooMuchError:
        return None
    except Exception:
        # Hostile LaTeX can raise anything in the library; the formula then stays text.
        return None
    box = _BOX.search(svg)
    if box is None or _SAFE.search(svg):
        return None
    _, top, width, height = map(float, box.groups())
    if not (0 < width <= _LARGEST and 0 < height <= _LARGEST and -height <= top <= 0):
        return None
    return Drawing(svg, width, -top, height + top)


class _TooMuchError(BaseException):
    """A formula takes too many calls."""


def _limited(latex: str, display: bool, pixels: float, color: str) -> str:
    """Return a formula as SVG.

    Raises:
        _TooMuchError: It takes more calls than it may.
    """
    ziamath = _ziamath()
    latex = _TAG.sub(r"\\qquad(\1)", _NUMBERING.sub("", latex))
    if ("&" in latex or "\\\\" in latex) and "\\begin" not in latex:
        latex = rf"\begin{{aligned}}{latex}\end{{aligned}}"
    calls, before = 0, sys.gettrace()

    def watch(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += 1
        if calls > _CALLS:
            raise _TooMuchError

    # The time for some formulas doubles with each bracket. The trace function is called at every call of this thread.
    sys.settrace(watch)
    try:
        return str(ziamath.Latex(latex, size=pixels, color=color, inline=not display).svg())
    finally:
        sys.settrace(before)


def _ziamath() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import ziafont
        import ziamath
    # WORKAROUND: QtSvg cannot draw symbols that are reused, as SVG 2 has them. Check with new versions of Qt.
    ziamath.config.svg2 = ziafont.config.svg2 = False
    return ziamath
