"""The library of models, the loaded model, and the engine's thread."""
