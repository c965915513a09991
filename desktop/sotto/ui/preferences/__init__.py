"""What a person chose, and presets of it."""
