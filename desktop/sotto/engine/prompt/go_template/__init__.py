"""An interpreter for Go's `text/template`, as Ollama's models use it, with limits of time and memory."""
