"""Model definitions that take images, as rows of features in the place of embeddings."""
