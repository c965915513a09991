"""The loop that owns an engine on one thread and turns requests into events."""
