"""Conversations as values and on disk, what is attached to them, search, import and export; knows nothing of models."""
