"""Keys, values and recurrent states: in memory, shared by prefix, and on disk."""
