"""The layouts in which programs keep models on disk."""
