"""The models of this machine, the model in use, the engine's thread, and the API that shares them."""
