"""Launch at login from inside a Flatpak, which cannot write where the desktop looks: the desktop is asked to do it."""

import asyncio

from sotto.errors import SottoError
from sotto.ui.platform.portal import REPLY_SECONDS, PortalError, connected
from sotto.ui.toolkit.translation import tr

_BACKGROUND = "org.freedesktop.portal.Background"
_COMMAND = ("sotto", "--background")


def ask(wanted: bool) -> None:
    """Ask the desktop to start Sotto at login, or no longer; waits for the person if the desktop asks.

    Raises:
        SottoError: The desktop does not do it.
    """
    try:
        done = asyncio.run(_request(wanted))
    except PortalError:
        done = False
    if not done:
        raise SottoError(tr("The desktop did not change whether Sotto starts at login."))


async def _request(wanted: bool) -> bool:
    options = {
        "reason": ("s", tr("The quick prompt is there at once.")),
        "autostart": ("b", wanted),
        "commandline": ("as", list(_COMMAND)),
    }
    async with connected() as portal:
        results = await portal.request(_BACKGROUND, "RequestBackground", "sa{sv}", ("",), options, REPLY_SECONDS)
    return results.get("autostart") == ("b", wanted)
