"""The look of fifteen states of the app, compared with the one that was approved.

Positions, sizes and texts must be the same; pixels may differ a little. After a change of the look, this approves it:

    SOTTO_WRITE_REFERENCES=1 python3 packaging/start.py test tests/ui/stories/test_pictures.py -m ""

Look at the new pictures under `tests/_reference/states` before you hand them in.
"""

import difflib
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from places import PICTURES, ROOT
from thoroughness import some

APPROVED = PICTURES / "states"
LOOKS = [("light", "1"), ("dark", "1"), ("light", "2"), ("dark", "2")]
WIDTHS = (720, 1280, 1920)
TILE = 40
# The average difference, from 0 to 255, of the pixels in a square of that many pixels of a sheet.
TOLERANCE = 24
# A single font, the same on every machine: it is the one that comes with a dependency.
FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig><dir>{fonts}</dir><cachedir>{cache}</cachedir></fontconfig>
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="the look was approved on Linux"),
]


@pytest.mark.parametrize("look", some(LOOKS, 1), ids="-".join)
def test_the_look_is_the_one_that_was_approved(look, tmp_path):
    appearance, scale = look
    taken = take(tmp_path, appearance, scale)
    for width in WIDTHS:
        name = f"{appearance}-sheet{'' if scale == '1' else '@2x'}-{width}"
        if os.environ.get("SOTTO_WRITE_REFERENCES"):
            APPROVED.mkdir(parents=True, exist_ok=True)
            for ending in ("png", "txt"):
                shutil.copy(taken / f"{name}.{ending}", APPROVED)
        now, approved = (
            (folder / f"{name}.txt").read_text(encoding="utf-8").splitlines() for folder in (taken, APPROVED)
        )
        difference = "\n".join(difflib.unified_diff(approved, now, "approved", "now", lineterm="", n=1))
        assert not difference, f"The look has changed; see {__file__} on how to approve it.\n{difference}"
        place = differing_tile(QImage(str(taken / f"{name}.png")), QImage(str(APPROVED / f"{name}.png")))
        assert place is None, f"{name}.png differs from the approved one near {place}"


def test_a_change_of_colour_is_noticed(tmp_path):
    sheet = QImage(str(APPROVED / "light-sheet-1280.png"))
    changed = sheet.copy()
    assert differing_tile(sheet, changed) is None
    for x in range(100, 160):
        for y in range(80, 120):
            changed.setPixel(x, y, 0xFFFF0000)
    assert differing_tile(sheet, changed) == (80, 80)


def take(folder, appearance, scale):
    """Take the pictures into `folder`, and return it."""
    fonts = Path(find_spec("ziafont").origin).parent / "fonts"
    config = folder / "fonts.conf"
    config.write_text(FONTS.format(fonts=fonts, cache=folder / "cache"), encoding="utf-8")
    command = [ROOT / "packaging" / "screenshots.py", folder, "--states", "--only", appearance, scale]
    done = subprocess.run(
        [sys.executable, *command],
        env={**os.environ, "FONTCONFIG_FILE": str(config), "LC_ALL": "C.UTF-8", "TZ": "UTC"},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


def differing_tile(one, other):
    """Return the corner of a square in which two pictures differ clearly; None if there is none."""
    assert one.size() == other.size()
    for top in range(0, one.height(), TILE):
        for left in range(0, one.width(), TILE):
            if difference(one, other, left, top) > TOLERANCE:
                return left, top
    return None


def difference(one, other, left, top):
    """Return the average difference of the pixels in a square."""
    squares = [
        picture.copy(left, top, TILE, TILE).convertToFormat(QImage.Format.Format_RGB888) for picture in (one, other)
    ]
    # The bits are those of the picture, which must not be gone before they are read.
    colours = [bytes(square.constBits()) for square in squares]
    return sum(abs(a - b) for a, b in zip(*colours, strict=True)) / len(colours[0])
