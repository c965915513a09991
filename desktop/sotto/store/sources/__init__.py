"""How programs lay out models on disk: Ollama, Hugging Face, plain folders."""
