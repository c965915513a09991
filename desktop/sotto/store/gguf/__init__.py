"""GGUF files: their headers, and what these stand for in the files that other models have."""
