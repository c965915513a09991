"""Images as people give them: their kinds, and decoding them in a process of its own."""
