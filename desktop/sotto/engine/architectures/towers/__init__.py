"""Vision towers: from the pixels of an image to its features, which stand in the place of embeddings."""
