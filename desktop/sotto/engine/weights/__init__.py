"""From the tensors of files to the layers of a model."""
