"""The list and the page of models, the model card, the memory gauge and downloads."""
