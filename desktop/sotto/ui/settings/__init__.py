"""The settings window: one page for each thing that people choose about the app and its engine."""
