"""One module for each kind of input, each with a `TARGET`."""
