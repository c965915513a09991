"""Importing models from folders and GGUF files: the plan, the recipes of quantization, and writing the blobs."""
