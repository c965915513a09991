"""From tensors in files to the layers of a model."""
