"""The list of models, the model card, the memory gauge and downloads."""
