"""The messages of the conversation in view."""
