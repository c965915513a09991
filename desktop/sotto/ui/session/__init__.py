"""The models there are, the one that is loaded, and the thread of the engine."""
