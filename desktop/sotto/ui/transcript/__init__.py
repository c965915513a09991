"""The messages of a chat on the screen, and what follows a conversation there."""
