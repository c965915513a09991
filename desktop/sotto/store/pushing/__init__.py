"""Uploading models to a registry, to the host that a model's name begins with and no other."""
