"""Templates in the language of Go's `text/template`, as models of Ollama bring them, evaluated within bounds."""
