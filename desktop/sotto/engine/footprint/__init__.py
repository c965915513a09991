"""How much memory a model needs, measured before it is loaded."""
