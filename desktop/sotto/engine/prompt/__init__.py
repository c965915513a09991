"""From a request to tokens: messages, templates, tools, the limits of the context."""
