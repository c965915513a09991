"""The application: start and end, the tray, and requests from later starts."""
