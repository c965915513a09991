"""Conversations as values and on disk, documents to attach, search and export; knows nothing of models."""
