"""Reads the headers of GGUF files, and presents them as the files that other models have."""
