"""An engine in a process of its own: its start, its life and its last words."""
