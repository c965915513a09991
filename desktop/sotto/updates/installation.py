"""How this Sotto was installed, which decides how a newer one is."""

import os
import platform
import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
_DEBIAN = Path("/opt/sotto")


class Installation(StrEnum):
    """A way to install Sotto. The values are those in the names of the files of a release."""

    DEB = "deb"
    FLATPAK = "flatpak"
    APPIMAGE = "appimage"
    TARBALL = "tarball"
    APP = "app"
    CHECKOUT = "checkout"
    WHEEL = "wheel"

    @property
    def file(self) -> str:
        """The name under which a release lists the file for this installation on this machine."""
        return f"{self.value}-{platform.machine()}"


def installation(
    package: Path = _PACKAGE,
    environment: Mapping[str, str] = os.environ,
    program: Path | None = None,
) -> Installation:
    """Return how Sotto was installed.

    Args:
        package: The folder of the package `sotto`.
        environment: The environment's variables.
        program: The packed program; None if Python itself runs.
    """
    if program is None and getattr(sys, "frozen", False):
        program = Path(sys.executable).resolve()
    if environment.get("FLATPAK_ID"):
        return Installation.FLATPAK
    if any(parent.suffix == ".app" for parent in package.parents):
        return Installation.APP
    if program is not None:
        # The variables are also there in other programs that an AppImage starts.
        mounted = environment.get("APPDIR", "")
        if environment.get("APPIMAGE") and mounted and program.is_relative_to(Path(mounted).resolve()):
            return Installation.APPIMAGE
        return Installation.DEB if program.is_relative_to(_DEBIAN) else Installation.TARBALL
    return Installation.CHECKOUT if (package.parents[1] / "packaging" / "start.py").is_file() else Installation.WHEEL
