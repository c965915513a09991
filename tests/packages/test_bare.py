"""The tarball on a system without any library of Qt: a double-click says why there is no window."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from bare_debian import Debian

LIBRARIES = {
    "libglib-2.0.so.0",
    "libGL.so.1",
    "libEGL.so.1",
    "libdbus-1.so.3",
    "libfontconfig.so.1",
    "libxkbcommon.so.0",
}


@pytest.fixture
def placed(base: Debian, portable: Path) -> Iterator[str]:
    """Return the path of the program on the Debian."""
    place = base.root / "srv" / "my programs ä"
    shutil.copytree(portable, place / "sotto", symlinks=True)
    yield f"/{place.relative_to(base.root)}/sotto/sotto"
    shutil.rmtree(place)


def test_a_double_click_shows_which_packages_are_missing(base: Debian, placed: str) -> None:
    script = f"""
mkdir -p /srv/bin
printf '#!/bin/sh\\necho "$@" > /srv/shown\\n' > /srv/bin/zenity
chmod +x /srv/bin/zenity
status=0
HOME=/tmp/home DISPLAY=:9 PATH=/srv/bin:$PATH "{placed}" < /dev/null > /dev/null 2> /srv/said || status=$?
cat /srv/said /srv/shown
rm -rf /srv/bin /srv/said /srv/shown /tmp/home
exit $((status - 1))
"""
    said, shown = base.run("sh", "-ec", script).splitlines()
    assert said.removeprefix("sotto: ") in shown
    for name in LIBRARIES:
        assert name in said
    assert "sudo apt-get install --no-install-recommends" in said


def test_without_a_screen_it_answers_in_the_terminal(base: Debian, placed: str) -> None:
    said = base.run("sh", "-ec", f'HOME=/tmp/home "{placed}" < /dev/null; rm -rf /tmp/home')
    assert len(said) > 10
