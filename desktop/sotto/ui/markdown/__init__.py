"""Markdown, code and formulas as rich text."""
