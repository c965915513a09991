"""Formulas in Markdown: where they are, and what they look like as SVG.

A formula is hostile input like any other text of a model: its length and the time for it are bounded, and what cannot
be drawn stays LaTeX.
"""

import re
import sys
import warnings
from dataclasses import dataclass
from types import FrameType
from typing import Any

LONGEST = 1000
"""Characters of a formula; a longer one stays text."""
# Calls of functions that a formula may take to be drawn: about a second of a processor, of which the longest that make
# sense need two thirds. Counted and not timed: what is drawn once is drawn always, however busy the machine is.
_CALLS = 1_000_000
_LARGEST = 4000.0

# Code and addresses first: nothing in them is a formula. A dollar that opens stands before no space, one that closes
# behind none and before no digit, so that prices are none.
_FOUND = re.compile(
    r"(?P<fence>^[ \t>]*(?P<mark>`{3,}|~{3,})[^\n]*(?:\n(?!(?:[ \t>]*)(?P=mark))[^\n]*)*\n?[^\n]*)"
    r"|(?P<code>(?<!`)(?P<ticks>`+)(?!`).{0,4000}?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<address>\]\((?:[^()\\\n]|\\.|\([^()\n]{0,200}\)){0,500}\))"
    r"|\\\[(?P<square>(?:[^\\]|\\[^\]]){1,1000}?)\\\]"
    r"|\\\((?P<round>(?:[^\\]|\\[^)]){1,1000}?)\\\)"
    r"|(?P<escaped>\\.)"
    r"|(?<!\$)\$\$(?!\$)(?P<double>(?:[^$\\]|\\.){1,1000}?)\$\$(?!\$)"
    r"|(?<![\w$])\$(?![\s$])(?P<single>(?:[^$\\\n`]|\\.|\n(?!\s*\n)){1,1000}?)(?<![\s\\])\$(?![\w$])",
    re.DOTALL | re.MULTILINE,
)
_BEGIN, _END = "\ue0f0", "\ue0f1"
_SAFE = re.compile(r"<(?!/?(?:svg|path|rect|line|g|title)\b)", re.IGNORECASE)
_BOX = re.compile(r'viewBox="(\S+) (\S+) (\S+) (\S+)"')


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula in a text.

    Attributes:
        raw: What stands in the text.
        latex: What of it is LaTeX.
        display: Whether it is to stand by itself.
    """

    raw: str
    latex: str
    display: bool


@dataclass(frozen=True, slots=True)
class Drawing:
    """A formula as SVG; lengths in pixels.

    Attributes:
        svg: The picture.
        width: How wide it is.
        ascent: How far it reaches above the line that letters stand on.
        descent: How far it reaches below.
    """

    svg: str
    width: float
    ascent: float
    descent: float


def protected(markdown: str) -> tuple[str, list[Formula]]:
    """Return Markdown with a mark in place of each formula, which its reader would take for other things."""
    if not any(sign in markdown for sign in ("$", "\\(", "\\[")) or _BEGIN in markdown:
        return markdown, []
    if markdown.startswith(("    ", "\t")):
        return markdown, []
    formulas: list[Formula] = []

    def mark(found: "re.Match[str]") -> str:
        latex = next((found[kind] for kind in ("square", "round", "double", "single") if found[kind]), "")
        if not any(letter.isalnum() for letter in latex) or len(latex) > LONGEST:
            return found[0]
        formulas.append(formula_of(found[0]))
        return mark_of(len(formulas) - 1)

    return _FOUND.sub(mark, markdown), formulas


def mark_of(number: int) -> str:
    """Return what stands in protected Markdown in place of a formula."""
    return f"{_BEGIN}{number}{_END}"


def formula_of(raw: str) -> Formula:
    """Return a formula as it was written."""
    display = raw.startswith(("$$", "\\["))
    edge = 1 if raw.startswith("$") and not display else 2
    return Formula(raw, raw[edge:-edge].strip(), display)


def draw(latex: str, display: bool, pixels: float, color: str) -> Drawing | None:
    """Draw a formula, which is slow; None where that cannot be done, or would take too long.

    Args:
        latex: The formula.
        display: Whether it stands by itself.
        pixels: Size of the letters around it.
        color: What to draw it in, `#rrggbb`.
    """
    try:
        svg = _limited(latex, display, pixels, color)
    except _TooMuchError:
        return None
    except Exception:
        # Whatever a formula makes of its reader, the text stays as it is.
        return None
    box = _BOX.search(svg)
    if box is None or _SAFE.search(svg):
        return None
    _, top, width, height = map(float, box.groups())
    if not (0 < width <= _LARGEST and 0 < height <= _LARGEST and -height <= top <= 0):
        return None
    return Drawing(svg, width, -top, height + top)


class _TooMuchError(BaseException):
    """A formula takes too much."""


def _limited(latex: str, display: bool, pixels: float, color: str) -> str:
    """Return a formula as SVG.

    Raises:
        _TooMuchError: It takes more calls than it may.
    """
    ziamath = _ziamath()
    if ("&" in latex or "\\\\" in latex) and "\\begin" not in latex:
        latex = rf"\begin{{aligned}}{latex}\end{{aligned}}"
    calls, before = 0, sys.gettrace()

    def watch(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += 1
        if calls > _CALLS:
            raise _TooMuchError

    # Some formulas take time that doubles with each bracket. Called with every function, on this thread alone.
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
    # Qt's SVG knows no symbols that are used more than once.
    ziamath.config.svg2 = ziafont.config.svg2 = False
    return ziamath
