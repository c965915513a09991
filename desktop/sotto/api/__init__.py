"""The HTTP API, in the dialects of Ollama, OpenAI, Anthropic and llama.cpp.

A request comes in through `guard`, a dialect (`ollama`, `openai`, `anthropic`) reads it, `desk` lets it in when the
engine can be asked, and `answers` sends what comes of it. The engine is any `sotto.runner.host.Host`.
"""

# Ollama's own is 11434; both can run beside each other.
PORT = 11535
HOST = "127.0.0.1"
