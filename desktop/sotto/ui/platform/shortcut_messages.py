"""Messages about keys of the quick prompt that are not available, on any system."""

BIND = (
    "Programs cannot have keys of their own here: bind `sotto --toggle` to {keys} in the settings of your desktop, "
    "which does the same."
)
