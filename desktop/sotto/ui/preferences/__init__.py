"""The user's preferences, the answer options that can be chosen, and presets."""
