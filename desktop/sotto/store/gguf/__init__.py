"""Reading GGUF headers, and converting them to the `config.json` and `tokenizer.json` that other models have."""
