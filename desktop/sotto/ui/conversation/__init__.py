"""Conversations: what was said, what is under way, and how it reaches the disk."""
