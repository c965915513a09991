"""Conversations as values and on disk, documents to attach, search, import and export; knows nothing of models."""
