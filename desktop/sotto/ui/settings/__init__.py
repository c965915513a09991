"""The settings window, with a module for each page."""
