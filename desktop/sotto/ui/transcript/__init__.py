"""The transcript: the messages of the current conversation, and the find bar."""
