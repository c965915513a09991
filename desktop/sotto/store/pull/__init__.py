"""Downloading models from a registry into Sotto's own store."""
