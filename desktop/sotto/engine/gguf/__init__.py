"""The tensors of GGUF files in MLX's layouts."""
