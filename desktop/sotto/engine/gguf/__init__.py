"""Tensors of GGUF files in MLX's layouts."""
