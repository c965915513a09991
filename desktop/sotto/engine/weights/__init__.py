"""Tensors from files into the layers of a model."""
