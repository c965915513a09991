"""Messages about keys of the quick prompt that are not available, on any system; marked for translation."""

from sotto.ui.toolkit.translation import QT_TR_NOOP

BIND = QT_TR_NOOP(
    "Apps cannot register shortcuts on this desktop: bind `sotto --toggle` to {keys} in the settings of your desktop."
)
