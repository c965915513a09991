"""The user's preferences, the answer options and languages that can be chosen, and presets."""
