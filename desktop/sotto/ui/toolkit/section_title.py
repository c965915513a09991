"""The title of a section that can be folded."""

from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import IconButton


class SectionTitle(IconButton):
    """A title with a chevron; a click asks to fold the section, or to unfold it."""

    def __init__(self, title: str) -> None:
        """Show `title`, unfolded."""
        super().__init__("down", title, title, role="section")
        self._title, self.folded = title, False
        self._show()

    def set_title(self, title: str) -> None:
        """Replace the title."""
        self._title = title
        self._show()

    def set_folded(self, folded: bool) -> None:
        """Show whether the section is folded."""
        self.folded = folded
        self._show()

    def repaint_icon(self) -> None:
        """Draw the chevron smaller than other icons."""
        super().repaint_icon()
        self.setIconSize(self.iconSize() * 3 / 4)

    def _show(self) -> None:
        self.setText(f" {self._title}")
        icon = "right" if self.folded else "down"
        name, tip = tr("{title}, expanded"), tr("Collapse")
        if self.folded:
            name, tip = tr("{title}, collapsed"), tr("Expand")
        self.set_icon(icon, name.format(title=self._title), tip)
