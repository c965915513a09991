"""Adapters: opening them, and which one the user chose for a model."""
