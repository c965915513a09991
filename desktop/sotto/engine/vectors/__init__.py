"""Embeddings: hidden states and pooling."""
