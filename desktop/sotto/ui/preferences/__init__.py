"""What a person has chosen, and presets."""
