"""Conversion of the tensors of GGUF files to MLX's layouts."""
