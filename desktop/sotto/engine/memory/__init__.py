"""Memory figures, limits and plans."""
