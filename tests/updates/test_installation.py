"""How Sotto was installed, as each way looks at run time."""

from pathlib import Path

import pytest

from sotto.updates.installation import Installation, installation


@pytest.mark.parametrize(
    ("package", "environment", "program", "kind"),
    [
        ("/opt/sotto/_internal/sotto", {}, "/opt/sotto/sotto", Installation.DEB),
        ("/opt/sotto/bin/_internal/sotto", {}, "/opt/sotto/bin/sotto", Installation.DEB),
        ("/home/a/sotto-0.1.0/_internal/sotto", {}, "/home/a/sotto-0.1.0/sotto", Installation.TARBALL),
        ("/opt/sotto-mine/_internal/sotto", {}, "/opt/sotto-mine/sotto", Installation.TARBALL),
        (
            "/tmp/.mount_a/usr/_internal/sotto",
            {"APPIMAGE": "/home/a/Sotto.AppImage", "APPDIR": "/tmp/.mount_a"},
            "/tmp/.mount_a/usr/sotto",
            Installation.APPIMAGE,
        ),
        # Started in a terminal that is an AppImage.
        (
            "/opt/sotto/_internal/sotto",
            {"APPIMAGE": "/home/a/Terminal.AppImage", "APPDIR": "/tmp/.mount_t"},
            "/opt/sotto/sotto",
            Installation.DEB,
        ),
        ("/app/sotto/_internal/sotto", {"FLATPAK_ID": "app.sotto.sotto"}, "/app/sotto/sotto", Installation.FLATPAK),
        ("/Applications/Sotto.app/Contents/Resources/app/sotto", {}, None, Installation.APP),
        ("/usr/lib/python3/site-packages/sotto", {}, None, Installation.WHEEL),
    ],
)
def test_each_way_is_recognised(
    package: str, environment: dict[str, str], program: str | None, kind: Installation
) -> None:
    assert installation(Path(package), environment, Path(program) if program else None) is kind


def test_the_tests_run_in_a_checkout() -> None:
    assert installation(environment={}) is Installation.CHECKOUT
