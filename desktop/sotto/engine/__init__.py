"""Loads models and generates text with them; knows neither Qt nor HTTP."""
