"""The memory needs of a model, determined before it is loaded."""
