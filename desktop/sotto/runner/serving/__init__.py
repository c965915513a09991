"""The HTTP between that process and its parent."""
