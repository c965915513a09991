"""Downloading models into Sotto's own store, from any source of models."""
