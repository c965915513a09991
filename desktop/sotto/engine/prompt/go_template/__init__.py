"""Go's `text/template`, as Ollama's models use it, evaluated within bounds."""
