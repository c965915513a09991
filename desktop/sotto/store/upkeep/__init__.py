"""Changing Sotto's own store while other processes may use it: its lock, installing, adopting and pruning."""
