"""The commands that make models from others and upload them."""
