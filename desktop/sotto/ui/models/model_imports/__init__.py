"""Importing models: the sheet that asks how, imports under way, and their rows."""
