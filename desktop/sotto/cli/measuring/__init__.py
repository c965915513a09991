"""Measuring models: how fast they run, and what their quantization costs."""
