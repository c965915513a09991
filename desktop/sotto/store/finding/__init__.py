"""Finding models to download: those that Sotto suggests, and a search on Hugging Face."""
