"""The settings window, with one module per page."""
