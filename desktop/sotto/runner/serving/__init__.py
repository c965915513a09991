"""The loopback HTTP between that process and its parent."""
