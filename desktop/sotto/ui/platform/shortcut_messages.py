"""What is said about keys of the quick prompt that cannot be had, whoever gives keys on a system."""

BIND = (
    "Programs cannot have keys of their own here: bind `sotto --toggle` to {keys} in the settings of your desktop, "
    "which does the same."
)
