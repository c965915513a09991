"""From a request to tokens: messages, templates, tools, and the limits of the context."""
