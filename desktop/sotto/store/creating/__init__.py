"""Creating models from others in Sotto's own store, as a Modelfile or a request describes them."""
