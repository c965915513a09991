"""The HTTP API, in the dialects of Ollama, OpenAI, Anthropic and llama.cpp.

`guard` admits or refuses a request, a dialect (`ollama`, `openai`, `anthropic`, `llamacpp`) parses it, `desk` waits for
the model and passes the request to the engine, and `answers` sends the result. The engine is any
`sotto.runner.host.Host`.
"""

# Ollama listens on 11434, so that both can run side by side.
PORT = 11535
HOST = "127.0.0.1"
