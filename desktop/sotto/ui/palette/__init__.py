"""The command palette: every command by a few letters of its name."""
