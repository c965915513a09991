"""Runs engines: the loop, which models are loaded, and the thread or process that hosts them."""
