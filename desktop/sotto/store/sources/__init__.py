"""Readers of the layouts in which programs store models: Ollama, Hugging Face and plain folders."""
