"""How a person gets a new version, which depends on how this one was installed."""

from sotto.ui.toolkit.translation import QT_TR_NOOP, tr
from sotto.updates.feed import Release
from sotto.updates.installation import Installation

_ADVICE = {
    Installation.DEB: QT_TR_NOOP(
        "Sotto belongs to your system’s packages: install the new one with the software centre, or with "
        "“sudo apt install ./sotto_{version}_….deb”."
    ),
    Installation.FLATPAK: QT_TR_NOOP("Update Sotto in the software centre, or with “flatpak update {program}”."),
    Installation.CHECKOUT: QT_TR_NOOP("This Sotto is a checkout of its sources: “git pull” brings the new version."),
    Installation.WHEEL: QT_TR_NOOP("This Sotto is a Python package: install the new wheel in the same environment."),
    Installation.APPIMAGE: QT_TR_NOOP("Download the new AppImage, and put it in the place of this one."),
    Installation.TARBALL: QT_TR_NOOP(
        "Download the new version, quit Sotto, and put its folder in the place of this one."
    ),
    Installation.APP: QT_TR_NOOP("Download the new version, quit Sotto, and drag it over this one."),
}
# What the system installs is not downloaded with a browser.
_BY_THE_SYSTEM = (Installation.FLATPAK, Installation.CHECKOUT)


def advice(release: Release, kind: Installation, program: str = "app.sotto.sotto") -> str:
    """Return what a person does to get a version.

    Args:
        release: The version.
        kind: How this one was installed.
        program: Its name among the Flatpaks.
    """
    return tr(_ADVICE[kind]).format(version=release.version, program=program)


def download(release: Release, kind: Installation) -> str:
    """Return the address to open in the browser: of the file for this installation, or of the page."""
    return release.page if kind in _BY_THE_SYSTEM else release.files.get(kind.file, release.page)
