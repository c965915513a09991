"""How much memory a model takes before it is loaded, found by a rehearsal of its graph."""
