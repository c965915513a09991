"""Running engines: the command loop, which models are loaded, and the thread or process that hosts them."""
