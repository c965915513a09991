"""Figures, limits and plans of memory."""
