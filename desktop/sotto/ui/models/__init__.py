"""The list of models, their cards, the memory gauge and downloads."""
