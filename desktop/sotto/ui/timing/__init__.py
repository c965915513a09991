"""What runs later or elsewhere: asynchronous tasks, delayed calls and saves, and garbage collection."""
