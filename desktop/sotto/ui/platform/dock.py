"""Whether the app has an icon in the Dock, where there is one."""

import sys


class Dock:
    """The app's icon in the Dock of macOS, with which its menus come and go; elsewhere, nothing happens."""

    def __init__(self) -> None:
        """Begin with the icon, which the system shows at the start."""
        self._shown = True

    def show(self, shown: bool) -> None:
        """Show or remove the icon."""
        if sys.platform != "darwin" or shown == self._shown:
            return
        from sotto.ui.platform.macos import show_in_dock

        self._shown = shown
        show_in_dock(shown)
