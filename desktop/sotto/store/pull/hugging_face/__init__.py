"""Hugging Face as a source of models: its API, its repositories, and manifests for what is in them."""
