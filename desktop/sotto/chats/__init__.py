"""Conversations as values and on disk. Standard library only."""
