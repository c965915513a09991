"""Embeddings: hidden states and how they are pooled."""
