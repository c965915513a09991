"""Prompts: requests become tokens by chat templates, with tools, constraints and the limits of the context."""
