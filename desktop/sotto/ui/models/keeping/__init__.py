"""Renaming and copying models of Sotto's own, and keeping copies of other programs' models."""
