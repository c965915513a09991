"""Model definitions, and the caches that their layers need."""
