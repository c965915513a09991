"""The application: its start and end, the tray, and what later starts of it ask for."""
