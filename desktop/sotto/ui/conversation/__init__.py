"""One conversation each: what was said, what is under way, and how it is kept."""
