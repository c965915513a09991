"""The application: starting and quitting, the tray, and requests from later starts."""
