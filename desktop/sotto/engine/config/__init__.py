"""Checking and normalising `config.json` and the small files beside it."""
