"""The engine: loads a model and generates text with it. Knows neither Qt nor HTTP."""
